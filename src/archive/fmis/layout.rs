//! The layout of FMIS records: what each cell of a line is, from `advanced.xml` alone.
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
//! No specification of it is public. So names are found in any case and with any prefix, as children or as attributes; a
//! layout without columns has the seven that every file begins with; a quantity without a name is called by its number.

use std::collections::{HashMap, HashSet};

use super::Fmis;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::member::Member;
use crate::archive::xml::element::Element;
use crate::error::{Error, Result};

/// A layout is a list of columns; more than this is none.
const MOST_BYTES: u64 = 8 << 20;

/// The most cells of a line.
const MOST_CELLS: usize = 16_384;

/// The most sections times quantities of sections: each may have each.
const MOST_PAIRS: usize = 1 << 20;

/// The columns of a line before those of its sections, where the layout names none (field notes, Job data archives).
const LEADING: [&str; 7] = ["ID", "TIMESTAMP", "LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"];

/// What cells of a line hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// Its name, the only one of that name in the layout.
    pub name: String,
    /// Its unit, where that is stated.
    pub unit: Option<String>,
    /// Its number in the dictionary of ISO 11783-11, where that is stated.
    pub ddi: Option<String>,
}

/// What one cell of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Something of the whole machine: the place in [`Layout::of_step`].
    Step(usize),
    /// Something of one section: the places in [`Layout::sections`] and in [`Layout::of_section`].
    Section(usize, usize),
}

/// What each cell of a line is.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The cells of a line in their order.
    pub slots: Vec<Slot>,
    /// What a line says of the whole machine.
    pub of_step: Vec<Quantity>,
    /// What it says of each section.
    pub of_section: Vec<Quantity>,
    /// The numbers of the sections.
    pub sections: Vec<i64>,
}

impl Layout {
    /// Reads the layout of a product.
    pub fn read(fmis: &Fmis, notes: &mut Vec<Diagnostic>) -> Result<Self> {
        let root = Element::read(&fmis.layout, MOST_BYTES)?;
        let fail = |why: String| Err::<Self, Error>(fmis.layout.fault(why));
        let formats = root.all("SegmentFormat");
        let number = fmis.number().map(|number| number.to_string());
        let said = |format: &Element| {
            ["ProductNumber", "Product"].iter().find_map(|name| format.value(name)).map(str::to_owned)
        };
        let format = match &*formats {
            [] => return fail("there is no `SegmentFormat`, so the layout of the records is unknown".to_owned()),
            [single] => single,
            several => {
                let mut own = several.iter().filter(|format| number.is_some() && said(format) == number);
                let (Some(found), None) = (own.next(), own.next()) else {
                    return fail(format!(
                        "it has {} layouts (`SegmentFormat`), and not one alone says that it is that of `{}`",
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
            if part.is("Column") {
                let quantity = quantity(part, layout.slots.len());
                layout.add_step(quantity);
            } else if part.is("EquipmentSection") {
                layout.add_section(part, &mut columns, &fmis.layout, notes);
            }
            if layout.slots.len().max(layout.sections.len()) > MOST_CELLS {
                return fail(format!("it describes more than {MOST_CELLS} cells or sections of a record"));
            }
            if layout.sections.len().saturating_mul(layout.of_section.len()) > MOST_PAIRS {
                return fail(format!("its sections times their quantities are more than {MOST_PAIRS}"));
            }
        }
        layout.name_apart(&fmis.layout, notes);
        Ok(layout)
    }

    fn add_step(&mut self, quantity: Quantity) {
        self.slots.push(Slot::Step(self.of_step.len()));
        self.of_step.push(quantity);
    }

    /// Adds a section; `columns` are the places of each quantity among those of sections.
    fn add_section(
        &mut self,
        section: &Element,
        columns: &mut HashMap<Quantity, Vec<usize>>,
        member: &Member,
        notes: &mut Vec<Diagnostic>,
    ) {
        let at = self.sections.len();
        let stated = ["Number", "SectionNumber", "ID"].iter().find_map(|name| section.value(name)?.parse().ok());
        let place = i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1);
        let number = stated.unwrap_or(place);
        let mut tell =
            |message: String| notes.push(Diagnostic::new(Code::SectionNumber, message).in_member(member.name()));
        if stated.is_none() {
            tell(format!("the section at place {place} has no number, and got that of its place"));
        }
        if self.sections.contains(&number) {
            tell(format!("the section at place {place} has the number {number}, as one before it has"));
        }
        self.sections.push(number);
        let mut met: HashMap<Quantity, usize> = HashMap::new();
        for ddi in section.children().iter().filter(|child| child.is("DDI")) {
            let found = quantity(ddi, self.slots.len());
            // The same quantity of another section is the same column; twice in one section, they are two.
            let before = met.entry(found.clone()).or_default();
            let places = columns.entry(found.clone()).or_default();
            let column = places.get(*before).copied().unwrap_or(self.of_section.len());
            if column == self.of_section.len() {
                self.of_section.push(found);
                places.push(column);
            }
            *before = before.saturating_add(1);
            self.slots.push(Slot::Section(at, column));
        }
    }

    /// Gives every column a name of its own: what a line says of a section keeps the name, and what it says of the whole
    /// machine under the same name is marked as that of the step.
    fn name_apart(&mut self, member: &Member, notes: &mut Vec<Diagnostic>) {
        let mut taken: HashSet<String> = HashSet::from(["SECTION".to_owned()]);
        // The next number of each name that is taken, since a layout may have thousands of one name.
        let mut next: HashMap<String, u32> = HashMap::new();
        let sections = self.of_section.iter_mut().map(|quantity| (quantity, ""));
        for (quantity, prefix) in sections.chain(self.of_step.iter_mut().map(|quantity| (quantity, "STEP_"))) {
            if taken.contains(&quantity.name.to_ascii_uppercase()) {
                let stem = format!("{prefix}{}", quantity.name);
                let number = next.entry(stem.to_ascii_uppercase()).or_insert(1);
                let mut free = stem.clone();
                while taken.contains(&free.to_ascii_uppercase()) {
                    *number = number.saturating_add(1);
                    free = format!("{stem}_{number}");
                }
                let message = format!("a second column `{}` was called `{free}`", quantity.name);
                notes.push(Diagnostic::new(Code::RenamedColumn, message).in_member(member.name()));
                quantity.name = free;
            }
            taken.insert(quantity.name.to_ascii_uppercase());
        }
    }
}

/// What an element describes; one without a name is called by its number, or by its place.
fn quantity(element: &Element, place: usize) -> Quantity {
    let owned = |name: &str| element.value(name).map(str::to_owned);
    let text = Some(element.text()).filter(|text| !text.is_empty()).map(str::to_owned);
    let is_ddi = element.is("DDI");
    let ddi = ["Code", "DDI", "Number"].iter().find_map(|name| owned(name));
    let ddi = if is_ddi { ddi.or_else(|| text.clone()) } else { None };
    let name = ["Name", "Designator"].iter().find_map(|name| owned(name)).or_else(|| text.filter(|_| !is_ddi));
    let name = name.or_else(|| ddi.as_ref().map(|ddi| format!("DDI_{ddi}")));
    let unit = ["Unit", "Units"].iter().find_map(|name| owned(name));
    Quantity { name: name.unwrap_or_else(|| format!("field_{}", place.saturating_add(1))), unit, ddi }
}
