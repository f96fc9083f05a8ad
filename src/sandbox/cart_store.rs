//! Database records of grain cart files. Uploaded files also have the name of their stored file.

use rusqlite::{OptionalExtension as _, Row, params};

use super::database::{Database, NewUpload, SqlResult};
use super::locked::locked;
use super::paging::{PageBounds, PageRequest};

/// A grain cart file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredCart {
    pub(super) id: String,
    pub(super) name: String,
}

impl Database {
    /// Inserts the generated files of a customer that are missing.
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

    /// Inserts an upload and returns its id, which is above all existing ids (field notes, Values).
    pub(super) fn add_cart(&self, customer: u32, upload: NewUpload<'_>) -> SqlResult<String> {
        locked(&self.0).query_row(
            "INSERT INTO cart (id, customer, name, file) SELECT coalesce(max(id), 0) + 1, ?, ?, ? FROM cart \
             RETURNING id",
            params![customer, upload.name, upload.file],
            |row| Ok(row.get::<_, i64>(0)?.to_string()),
        )
    }

    /// Returns a page of the customer's files in the order of their ids, without the ids in `hidden`, a JSON array.
    pub(super) fn carts(
        &self,
        customer: u32,
        hidden: &str,
        asked: PageRequest,
    ) -> SqlResult<(PageBounds, Vec<StoredCart>)> {
        let selected = "cart WHERE customer = ? AND id NOT IN (SELECT CAST(value AS INTEGER) FROM json_each(?))";
        self.page(("id, name", selected, "id"), params![customer, hidden], asked, stored_cart)
    }

    /// Finds a file of a customer by id.
    pub(super) fn cart(&self, customer: u32, id: &str) -> SqlResult<Option<StoredCart>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        locked(&self.0)
            .prepare_cached("SELECT id, name FROM cart WHERE customer = ? AND id = ?")?
            .query_row(params![customer, id], stored_cart)
            .optional()
    }

    /// Returns the stored file name of an upload; `None` for a generated file.
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
