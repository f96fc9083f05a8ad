//! Plans a send: reads what is queued for a field computer, and sends nothing.

use super::arguments::Arguments;
use super::command::{explain_missing, is_map, sent_maps};
use super::map_sending::{has_name, row};
use super::record;
use super::setup::Client;
use headland_api::field_computers::STATES;
use headland_base::error::Result;
use headland_wire::Value;

/// The map of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedMap {
    /// A map that is uploaded, by its id.
    Id(String),
    /// A file, by its name.
    File(String),
}

/// The effect of a send.
#[derive(Clone, Debug)]
pub struct SendPlan {
    /// The file name of the map, if it is known.
    pub file_name: Option<String>,
    /// The detail of the field computer.
    pub computer: Value,
    /// The maps that are queued for it.
    pub queued: Vec<Value>,
    /// Why the service would refuse the map.
    pub conflicts: Vec<String>,
    /// What legacy devices do, which the service does not identify.
    pub notes: Vec<String>,
}

/// Plans a send with two calls: the detail of the field computer and its queue.
///
/// The file name of an id is that of an upload of this client or of the queue. Only if neither knows it and maps are
/// queued that may have it, a third call reads it.
pub(super) async fn plan(client: &Client, map: &PlannedMap, computer: &str) -> Result<SendPlan> {
    let detail = row("field_computers.get")?;
    let arguments = Arguments::new(detail, &[("id", computer.to_owned())])?;
    let device = record::detail(client, detail, &arguments).await.map_err(explain_missing)?;
    let queued = sent_maps(client, computer, STATES.first().copied().unwrap_or_default()).await?;
    let file_name = match map {
        PlannedMap::File(name) => Some(name.clone()),
        PlannedMap::Id(id) => name_of(client, id, &queued).await?,
    };
    let called = text(&device, "name").map_or_else(|| computer.to_owned(), |name| format!("{computer} (`{name}`)"));
    let mut conflicts = Vec::new();
    for sent in &queued {
        let other = text(sent, "id").unwrap_or("without id");
        if matches!(map, PlannedMap::Id(id) if is_map(sent, id)) {
            conflicts.push(format!(
                "map {other} is queued for field computer {called} already, and the service refuses to queue it twice; a \
                 send with `wait` follows the queued one"
            ));
        } else if let Some(name) = file_name.as_deref().filter(|name| has_name(sent, name)) {
            conflicts.push(format!(
                "a file called `{name}` is queued for field computer {called} as map {other}, and the service refuses \
                 another one of that name; wait until it is delivered, or give this one another name"
            ));
        }
    }
    let device_type = text(&device, "device_type").map_or_else(String::new, |kind| format!(" (`{kind}`)"));
    let name = file_name.as_deref().map_or_else(|| "the same name".to_owned(), |name| format!("the name `{name}`"));
    let notes = vec![format!(
        "the service does not state whether this device{device_type} is a legacy one; on a legacy device, a file with \
         {name} is overwritten, and of several queued files of one name only the first is transferred"
    )];
    Ok(SendPlan { file_name, computer: device, queued, conflicts, notes })
}

async fn name_of(client: &Client, id: &str, queued: &[Value]) -> Result<Option<String>> {
    let own = client.own_uploads.name_of(row("prescription_maps.upload")?, id);
    let listed = || queued.iter().find(|sent| is_map(sent, id)).and_then(|sent| text(sent, "name"));
    if let Some(known) = own.or_else(|| listed().map(str::to_owned)) {
        return Ok(Some(known));
    }
    if queued.is_empty() {
        return Ok(None);
    }
    let detail = row("prescription_maps.get")?;
    let map = record::detail(client, detail, &Arguments::new(detail, &[("id", id.to_owned())])?).await;
    Ok(text(&map.map_err(explain_missing)?, "device_file_name").map(str::to_owned))
}

fn text<'a>(record: &'a Value, field: &str) -> Option<&'a str> {
    record.get(field).and_then(Value::as_text).filter(|text| !text.is_empty())
}
