//! Generated dispatch records of a new state: enough for several pages of each list.

use std::ops::RangeInclusive;

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::completions::KNOWN_TYPES;
use super::dispatch_records::{Kind, NewRecord, insert};
use super::legacy::{OPERATORS, order};
use super::operations::{PRE_RELEASED, RELEASED, id_of, operation};
use super::payload::{Object, merge_fields, new_id};
use crate::database::{Database, SqlResult};
use crate::keys::CUSTOMERS;

/// Section of active batches.
pub(super) const ACTIVE: &str = "active";

/// Section of used batches.
const CLOSED: &str = "closed";

const ACCOUNTS: [&str; 2] = ["Home farm", "River farm"];
const EQUIPMENT: [&str; 5] = ["Sprayer 1", "Sprayer 2", "Planter 1", "Spreader 1", "Spare sprayer"];
const PRODUCT_TYPES: [(&str, &str); 3] = [("Herbicide", "l/ha"), ("Fertilizer", "kg/ha"), ("Seed", "seeds/ha")];
const FIELDS: [&str; 6] = ["North 40", "South 40", "Creek", "Hill", "Long strip", "Corner"];

/// Number of operations per piece of equipment; the last has none.
const OPERATIONS: [usize; 5] = [120, 35, 20, 10, 0];

/// Number of products per account. The first account has more than a page of a legacy list.
const PRODUCTS: [usize; 2] = [130, 40];

const BATCHES: [(&str, usize); 2] = [(ACTIVE, 60), (CLOSED, 15)];
const BLENDS: usize = 70;

/// Number of work orders per operator.
const ORDERS: [usize; 2] = [95, 20];

/// Adds the records of all customers, unless the state already had them.
pub(crate) fn fill(store: &Database, seed: u64) -> SqlResult<()> {
    store.fill_once(seed, |connection| (0..CUSTOMERS).try_for_each(|customer| SeedData { connection, customer }.fill()))
}

struct SeedData<'a> {
    connection: &'a Connection,
    customer: u32,
}

impl SeedData<'_> {
    fn fill(&self) -> SqlResult<()> {
        let accounts = self.add_all(Kind::Account, &ACCOUNTS, |name, _| json!({"name": name}))?;
        let account = |index: usize| one_of(&accounts, index);
        let equipment = self.add_all(
            Kind::Equipment,
            &EQUIPMENT,
            |name, index| json!({"name": name, "accountId": account(index)}),
        )?;
        for (account, count) in accounts.iter().zip(PRODUCTS) {
            self.add_products(account, count)?;
        }
        for (equipment, count) in equipment.iter().zip(OPERATIONS) {
            for number in self.numbers(count) {
                self.add_operation(equipment, &account(number), number)?;
            }
        }
        for (section, count) in BATCHES {
            for number in self.numbers(count) {
                let record = json!({
                    "name": format!("Batch {number}"), "active": section == ACTIVE, "accountId": account(number),
                    "equipmentId": one_of(&equipment, number), "volume": number, "volumeUnit": "m3",
                });
                self.add(Kind::Batch, section, record)?;
            }
        }
        for number in self.numbers(BLENDS) {
            let products = json!([{"name": format!("Herbicide {number}"), "rate": 2}, {"name": "Water", "rate": 90}]);
            let record = json!({"name": format!("Blend {number}"), "accountId": account(number), "products": products});
            self.add(Kind::Blend, "", record)?;
        }
        for (operator, count) in OPERATORS.into_iter().zip(ORDERS) {
            for number in self.numbers(count) {
                let field = one_of(&FIELDS, number);
                let given = json!({"name": format!("Order {number}"), "field": field, "accountId": account(number)});
                self.insert(Kind::Order, operator, |id| order(id, operator, into_object(given)))?;
            }
        }
        Ok(())
    }

    /// Adds a record per name and returns the ids.
    fn add_all(&self, kind: Kind, names: &[&str], make: impl Fn(&str, usize) -> Value) -> SqlResult<Vec<String>> {
        names.iter().zip(0..).map(|(name, index)| self.add(kind, "", make(name, index))).collect()
    }

    /// Returns the numbers 1 to `count`. Other customers than the first have a tenth of them, so that tests can
    /// distinguish customers.
    fn numbers(&self, count: usize) -> RangeInclusive<usize> {
        1..=if self.customer == 0 { count } else { count.div_ceil(10) }
    }

    fn add_products(&self, account: &str, count: usize) -> SqlResult<()> {
        for number in self.numbers(count) {
            let (kind, unit) = one_of(&PRODUCT_TYPES, number);
            let name = format!("{kind} {number}");
            let record = json!({"name": name, "type": kind, "rateUnit": unit, "accountId": account});
            self.add(Kind::Product, account, record)?;
        }
        Ok(())
    }

    /// Adds an operation that is assigned to equipment. Every third operation is not released.
    fn add_operation(&self, equipment: &str, account: &str, number: usize) -> SqlResult<()> {
        let field = one_of(&FIELDS, number);
        let given = json!({
            "name": format!("{field}, pass {number}"), "operation": one_of(&KNOWN_TYPES, number),
            "accountId": account, "target": {"field": field, "rate": 90, "rateUnit": "l/ha"},
            "mix": {"products": [{"name": format!("Herbicide {number}"), "rate": 2, "rateUnit": "l/ha"}]},
        });
        let status = if number.is_multiple_of(3) { PRE_RELEASED } else { RELEASED };
        self.insert(Kind::Operation, "", |id| {
            let mut record = operation(id, status, into_object(given));
            let assignment = json!([{"id": new_id(), "equipmentId": equipment, "fieldOperationId": id}]);
            record.insert("assignments".to_owned(), assignment);
            record
        })
        .map(|_| ())
    }

    /// Adds a record and returns its id.
    fn add(&self, kind: Kind, section: &str, given: Value) -> SqlResult<String> {
        self.insert(kind, section, |id| merge_fields([("id", json!(id))], into_object(given)))
    }

    fn insert(&self, kind: Kind, section: &str, make: impl FnOnce(&str) -> Object) -> SqlResult<String> {
        let new = NewRecord { customer: self.customer, kind, section };
        insert(self.connection, &new, make).map(|record| id_of(&record))
    }
}

fn into_object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Returns the choices in turn.
fn one_of<T: Clone + Default>(choices: &[T], number: usize) -> T {
    choices.get(number % choices.len().max(1)).cloned().unwrap_or_default()
}
