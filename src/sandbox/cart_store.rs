//! What the service remembers of grain carts: generated files as names alone, uploads with the names of their files.

use rusqlite::{OptionalExtension as _, Row, params};

use super::locked::locked;
use super::store::{NewUpload, SqlResult, Store};

/// Which files a list holds.
const SELECTED: &str = "customer = ? AND id NOT IN (SELECT CAST(value AS INTEGER) FROM json_each(?))";

/// A grain cart file in the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredCart {
    pub(super) id: String,
    pub(super) name: String,
}

impl Store {
    /// Makes sure that the generated files of a customer are in the list.
    pub(super) fn add_generated_carts(&self, customer: u32, carts: impl Iterator<Item = StoredCart>) -> SqlResult<()> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction.prepare("INSERT OR IGNORE INTO cart (id, customer, name) VALUES (?, ?, ?)")?;
            for cart in carts {
                insert.execute(params![cart.id.parse::<i64>().unwrap_or(i64::MAX), customer, cart.name])?;
            }
        }
        transaction.commit()
    }

    /// Keeps an upload under an id above all that there are (field notes, Values).
    pub(super) fn add_cart(&self, customer: u32, upload: NewUpload<'_>) -> SqlResult<String> {
        locked(&self.0).query_row(
            "INSERT INTO cart (id, customer, name, file) SELECT coalesce(max(id), 0) + 1, ?, ?, ? FROM cart \
             RETURNING id",
            params![customer, upload.name, upload.file],
            |row| Ok(row.get::<_, i64>(0)?.to_string()),
        )
    }

    /// A page of the files of a customer in the order of their ids, without those of `hidden`, a JSON array; `place` gets the total and says what to skip and
    /// how many to give.
    pub(super) fn carts<P>(
        &self,
        customer: u32,
        hidden: &str,
        paginate: impl FnOnce(u64) -> (P, u64, u64),
    ) -> SqlResult<(u64, P, Vec<StoredCart>)> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let total: i64 = transaction.query_row(
            &format!("SELECT count(*) FROM cart WHERE {SELECTED}"),
            params![customer, hidden],
            |row| row.get(0),
        )?;
        let (bounds, skip, count) = paginate(total.unsigned_abs());
        let (skip, count) = (i64::try_from(skip).unwrap_or(i64::MAX), i64::try_from(count).unwrap_or(i64::MAX));
        let mut page = transaction
            .prepare_cached(&format!("SELECT id, name FROM cart WHERE {SELECTED} ORDER BY id LIMIT ? OFFSET ?"))?;
        let carts = page.query_map(params![customer, hidden, count, skip], stored_cart)?.collect::<SqlResult<_>>()?;
        Ok((total.unsigned_abs(), bounds, carts))
    }

    /// One file of a customer.
    pub(super) fn cart(&self, customer: u32, id: &str) -> SqlResult<Option<StoredCart>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        locked(&self.0)
            .prepare_cached("SELECT id, name FROM cart WHERE customer = ? AND id = ?")?
            .query_row(params![customer, id], stored_cart)
            .optional()
    }

    /// The file of an upload; `None` for a generated one.
    pub(super) fn cart_file(&self, id: &str) -> SqlResult<Option<String>> {
        let id = id.parse::<i64>().unwrap_or(i64::MAX);
        locked(&self.0)
            .query_row("SELECT file FROM cart WHERE id = ?", [id], |row| row.get(0))
            .optional()
            .map(Option::flatten)
    }
}

fn stored_cart(row: &Row<'_>) -> SqlResult<StoredCart> {
    Ok(StoredCart { id: row.get::<_, i64>(0)?.to_string(), name: row.get(1)? })
}
