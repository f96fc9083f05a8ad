//! Parser of the layout of FMIS records in `advanced.xml`: the meaning of each cell of a line.
//!
//! ```xml
//! <Advanced><SegmentFormat>
//!   <Column><Name>ID</Name></Column> ...
//!   <EquipmentSection><Number>1</Number>
//!     <DDI><Code>6</Code><Name>TARGETRATE</Name><Unit>kg/ha</Unit></DDI> ...
//!   </EquipmentSection>
//! </SegmentFormat></Advanced>
//! ```
//!
//! There is no public specification. So names match in any letter case and with any prefix, as children or as
//! attributes. A layout without columns has the seven columns of every known file. A quantity without a name is named
//! by its number.

use std::collections::{HashMap, HashSet};

use super::Fmis;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::member::Member;
use crate::archive::xml::element::Element;
use headland_base::error::{Error, Result};

/// Largest size of a layout in bytes.
const MAX_BYTES: u64 = 8 << 20;

/// Most cells of a line.
const MAX_CELLS: usize = 16_384;

/// Largest product of the numbers of sections and of their quantities.
const MAX_PAIRS: usize = 1 << 20;

/// The columns before those of sections, if the layout names none (field notes, Job data archives).
const LEADING: [&str; 7] = ["ID", "TIMESTAMP", "LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"];

/// The quantity in cells of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// Its name, unique in the layout.
    pub name: String,
    /// Its unit, if stated.
    pub unit: Option<String>,
    /// Its number in the data dictionary of ISO 11783-11 (DDI), if stated.
    pub ddi: Option<String>,
}

/// The meaning of one cell of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A value of the whole machine: an index of [`Layout::step_quantities`].
    Step(usize),
    /// A value of one section: indexes of [`Layout::sections`] and [`Layout::section_quantities`].
    Section(usize, usize),
}

/// The meaning of each cell of a line.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The cells of a line in their order.
    pub slots: Vec<Slot>,
    /// Quantities of the whole machine.
    pub step_quantities: Vec<Quantity>,
    /// Quantities of each section.
    pub section_quantities: Vec<Quantity>,
    /// The numbers of the sections.
    pub sections: Vec<i64>,
}

impl Layout {
    /// Reads the layout of a product.
    pub fn read(fmis: &Fmis, diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        let root = Element::read(&fmis.layout, MAX_BYTES)?;
        let fail = |why: String| Err::<Self, Error>(fmis.layout.fault(why));
        let formats = root.find_all("SegmentFormat");
        let number = fmis.number().map(|number| number.to_string());
        let product_of = |format: &Element| {
            ["ProductNumber", "Product"].iter().find_map(|name| format.value(name)).map(str::to_owned)
        };
        let format = match &*formats {
            [] => return fail("there is no `SegmentFormat`, so the layout of the records is unknown".to_owned()),
            [single] => single,
            several => {
                let mut matching = several.iter().filter(|format| number.is_some() && product_of(format) == number);
                let (Some(found), None) = (matching.next(), matching.next()) else {
                    return fail(format!(
                        "cannot choose one of {} layouts (`SegmentFormat`): not exactly one matches `{}`",
                        several.len(),
                        fmis.tab.file_name()
                    ));
                };
                found
            }
        };
        let mut layout = Self::default();
        let mut columns: HashMap<Quantity, Vec<usize>> = HashMap::new();
        if format.child("Column").is_none() {
            for name in LEADING {
                layout.add_step(Quantity { name: name.to_owned(), unit: None, ddi: None });
            }
        }
        for part in format.children() {
            if part.is_named("Column") {
                let quantity = quantity(part, layout.slots.len());
                layout.add_step(quantity);
            } else if part.is_named("EquipmentSection") {
                layout.add_section(part, &mut columns, &fmis.layout, diagnostics);
            }
            if layout.slots.len().max(layout.sections.len()) > MAX_CELLS {
                return fail(format!(
                    "the layout is too large: it describes more than {MAX_CELLS} cells or sections per record"
                ));
            }
            if layout.sections.len().saturating_mul(layout.section_quantities.len()) > MAX_PAIRS {
                return fail(format!("the layout is too large: sections times quantities exceed {MAX_PAIRS}"));
            }
        }
        layout.make_names_unique(&fmis.layout, diagnostics);
        Ok(layout)
    }

    fn add_step(&mut self, quantity: Quantity) {
        self.slots.push(Slot::Step(self.step_quantities.len()));
        self.step_quantities.push(quantity);
    }

    /// Adds a section. `columns` lists the indexes of each quantity in `section_quantities`.
    fn add_section(
        &mut self,
        section: &Element,
        columns: &mut HashMap<Quantity, Vec<usize>>,
        member: &Member,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let index = self.sections.len();
        let stated = ["Number", "SectionNumber", "ID"].iter().find_map(|name| section.value(name)?.parse().ok());
        let position = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
        let number = stated.unwrap_or(position);
        let mut report =
            |message: String| diagnostics.push(Diagnostic::new(Code::SectionNumber, message).in_member(member.name()));
        if stated.is_none() {
            report(format!("the section at position {position} has no number and was numbered by its position"));
        }
        if self.sections.contains(&number) {
            report(format!("the section at position {position} has the number {number} of an earlier section"));
        }
        self.sections.push(number);
        let mut counts: HashMap<Quantity, usize> = HashMap::new();
        for ddi in section.children().iter().filter(|child| child.is_named("DDI")) {
            let found = quantity(ddi, self.slots.len());
            // Sections share the column of a quantity. A quantity that a section repeats has another column.
            let repeats = counts.entry(found.clone()).or_default();
            let indexes = columns.entry(found.clone()).or_default();
            let column = indexes.get(*repeats).copied().unwrap_or(self.section_quantities.len());
            if column == self.section_quantities.len() {
                self.section_quantities.push(found);
                indexes.push(column);
            }
            *repeats = repeats.saturating_add(1);
            self.slots.push(Slot::Section(index, column));
        }
    }

    /// Makes column names unique. A quantity of a section keeps its name; one of the step with the same name gets a
    /// prefix.
    fn make_names_unique(&mut self, member: &Member, diagnostics: &mut Vec<Diagnostic>) {
        let mut used: HashSet<String> = HashSet::from(["SECTION".to_owned()]);
        // The last number of each repeated name, since a layout may repeat one name thousands of times.
        let mut next: HashMap<String, u32> = HashMap::new();
        let sections = self.section_quantities.iter_mut().map(|quantity| (quantity, ""));
        for (quantity, prefix) in sections.chain(self.step_quantities.iter_mut().map(|quantity| (quantity, "STEP_"))) {
            if used.contains(&quantity.name.to_ascii_uppercase()) {
                let stem = format!("{prefix}{}", quantity.name);
                let number = next.entry(stem.to_ascii_uppercase()).or_insert(1);
                let mut unique = stem.clone();
                while used.contains(&unique.to_ascii_uppercase()) {
                    *number = number.saturating_add(1);
                    unique = format!("{stem}_{number}");
                }
                let message = format!("a second column `{}` was renamed to `{unique}`", quantity.name);
                diagnostics.push(Diagnostic::new(Code::RenamedColumn, message).in_member(member.name()));
                quantity.name = unique;
            }
            used.insert(quantity.name.to_ascii_uppercase());
        }
    }
}

/// The quantity of an element. Without a name, it is named by its number, or else by its position.
fn quantity(element: &Element, position: usize) -> Quantity {
    let owned = |name: &str| element.value(name).map(str::to_owned);
    let text = Some(element.text()).filter(|text| !text.is_empty()).map(str::to_owned);
    let is_ddi = element.is_named("DDI");
    let ddi = ["Code", "DDI", "Number"].iter().find_map(|name| owned(name));
    let ddi = if is_ddi { ddi.or_else(|| text.clone()) } else { None };
    let name = ["Name", "Designator"].iter().find_map(|name| owned(name)).or_else(|| text.filter(|_| !is_ddi));
    let name = name.or_else(|| ddi.as_ref().map(|ddi| format!("DDI_{ddi}")));
    let unit = ["Unit", "Units"].iter().find_map(|name| owned(name));
    Quantity { name: name.unwrap_or_else(|| format!("field_{}", position.saturating_add(1))), unit, ddi }
}
