//! The report of a comparison: ground and product by class and by cause.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray};
use arrow_schema::DataType;

use super::causes;
use super::choose_targets::Targets;
use super::classes::Class;
use super::classes::Compared;
use super::part::{Part, products};
use super::rate_target::RateUnit;
use crate::columns::added::field;
use crate::columns::cell_values::nullable;
use crate::columns::derived::HECTARE;
use headland_base::error::Result;
use headland_reader::layer::Layer;

/// Sums of the rows of a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    rows: i64,
    ground: f64,
    /// Ground with a rate and a target above 0, and that off the target.
    rated: f64,
    off_rate: f64,
    asked: f64,
    applied: f64,
    /// Both, of rows that have both.
    compared: [f64; 2],
}

impl Sums {
    fn add(&mut self, part: &Part, k: usize, class: Option<Class>, rates: [f64; 2]) {
        let known = |rate: f64| if rate.is_nan() { 0.0 } else { rate };
        let per_m2 = part.area(k) / HECTARE;
        let [target, applied] = rates;
        // Without the boom nothing is applied.
        let applied = if part.is_working(k) { applied } else { 0.0 };
        let ground = known(part.ground(k));
        self.rows += 1;
        self.ground += ground;
        self.asked += known(target) * per_m2;
        self.applied += known(applied) * per_m2;
        if !target.is_nan() && !applied.is_nan() {
            self.compared[0] += target * per_m2;
            self.compared[1] += applied * per_m2;
        }
        self.rated += if class.is_some_and(Class::is_rated) { ground } else { 0.0 };
        self.off_rate += if class.is_some_and(Class::is_off_rate) { ground } else { 0.0 };
    }
}

struct Line {
    target: String,
    product: String,
    by: &'static str,
    name: &'static str,
    sums: Sums,
    /// Ground of all classes, or ground off the target, that the share is of.
    whole: f64,
}

/// One line for all rows, for each class and for each cause, by target and product.
pub(super) fn report(
    layer: &Layer,
    unit: &RateUnit,
    parts: &[Part],
    targets: &Targets,
    compared: &[Compared],
    applied: &[f64],
) -> Result<Layer> {
    let mut lines = Vec::new();
    for (target, found) in targets.all.iter().zip(compared) {
        for product in products(parts) {
            let own = || parts.iter().filter(|part| part.product == product);
            let sum = |is_in: &dyn Fn(&Part, usize, Option<Class>) -> bool| {
                let mut sums = Sums::default();
                for part in own() {
                    for (k, row) in part.rows().iter().copied().enumerate().filter(|(k, _)| part.counts(*k)) {
                        let class = found.class[row];
                        if class.is_some() && is_in(part, k, class) {
                            sums.add(part, k, class, [target.rates[row], applied[row]]);
                        }
                    }
                }
                sums
            };
            let line = |by, name, sums, whole| {
                let (target, product) = (target.name.clone(), product.to_owned());
                Line { target, product, by, name, sums, whole }
            };
            let all = sum(&|_, _, _| true);
            lines.push(line("all", "all", all, all.ground));
            for class in Class::ALL {
                let sums = sum(&|_, _, own| own == Some(*class));
                if sums.rows > 0 || class.is_rated() {
                    lines.push(line("class", class.as_str(), sums, all.ground));
                }
            }
            for (name, bit) in causes::ALL {
                let sums = sum(&|part, k, class| class.is_some_and(Class::is_rated) && part.causes(k) & bit != 0);
                lines.push(line("cause", name, sums, all.off_rate));
            }
            let sums = sum(&|part, k, class| class.is_some_and(Class::is_rated) && part.causes(k) == 0);
            lines.push(line("cause", "none", sums, all.off_rate));
        }
    }
    table(layer, unit, &lines)
}

fn table(layer: &Layer, unit: &RateUnit, lines: &[Line]) -> Result<Layer> {
    let texts = |pick: &dyn Fn(&Line) -> Option<String>| -> ArrayRef {
        Arc::new(lines.iter().map(pick).collect::<LargeStringArray>())
    };
    let numbers = |pick: &dyn Fn(&Line) -> f64| nullable(lines.iter().map(pick));
    let text = |name| field(name, DataType::LargeUtf8, "");
    let number = |name, unit: &str| field(name, DataType::Float64, unit);
    let rows: Int64Array = lines.iter().map(|line| Some(line.sums.rows)).collect();
    // The ground of a cause that is off the target is a share of all such ground; that of a class a share of all.
    let share = |line: &Line| if line.by == "cause" { line.sums.off_rate } else { line.sums.ground } / line.whole;
    let columns = vec![
        (text("target"), texts(&|line| Some(line.target.clone()))),
        (text("product"), texts(&|line| Some(line.product.clone()).filter(|name| !name.is_empty()))),
        (text("by"), texts(&|line| Some(line.by.to_owned()))),
        (text("name"), texts(&|line| Some(line.name.to_owned()))),
        (field("rows", DataType::Int64, ""), Arc::new(rows) as ArrayRef),
        (number("ha", "ha"), numbers(&|line| line.sums.ground / HECTARE)),
        (number("share", "1"), numbers(&share)),
        (number("asked", unit.amount), numbers(&|line| line.sums.asked)),
        (number("applied", unit.amount), numbers(&|line| line.sums.applied)),
        (
            number("difference", "1"),
            numbers(&|line| (line.sums.compared[1] - line.sums.compared[0]) / line.sums.compared[0]),
        ),
        (number("off_rate", "1"), numbers(&|line| line.sums.off_rate / line.sums.rated)),
    ];
    Layer::from_columns(layer.name(), layer.source(), columns)
}
