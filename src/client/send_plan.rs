//! Plans a send: reads what is queued for a field computer, and sends nothing.

use super::arguments::Arguments;
use super::map_sending::{has_name, row};
use super::pages::Pages;
use super::queue_map::{explain_missing, has_id, sent_maps};
use super::record;
use super::setup::Client;
use headland_api::field_computers::STATES;
use headland_base::error::{Kind, Result};
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
    /// The detail of the field computer, or its record in the list if the service refuses the detail.
    pub computer: Value,
    /// The maps that are queued for it.
    pub queued: Vec<Value>,
    /// Why the service would refuse the map.
    pub conflicts: Vec<String>,
    /// What legacy devices do, which the service does not identify.
    pub notes: Vec<String>,
}

/// Plans a send with two calls: the detail of the field computer and its queue. Where the service refuses the detail, as it
/// does for some legacy devices, one more reads the list of field computers.
///
/// The file name of an id is that of an upload of this client or of the queue. Only if neither knows it and maps are
/// queued that may have it, a third call reads it.
pub(super) async fn plan(client: &Client, map: &PlannedMap, computer: &str) -> Result<SendPlan> {
    let (device, is_described) = described(client, computer).await?;
    let queued = sent_maps(client, computer, STATES.first().copied().unwrap_or_default()).await?;
    let file_name = match map {
        PlannedMap::File(name) => Some(name.clone()),
        PlannedMap::Id(id) => name_of(client, id, &queued).await?,
    };
    let called = text(&device, "name").map_or_else(|| computer.to_owned(), |name| format!("{computer} (`{name}`)"));
    let mut conflicts = Vec::new();
    for sent in &queued {
        let other = text(sent, "id").unwrap_or("without id");
        if matches!(map, PlannedMap::Id(id) if has_id(sent, id)) {
            conflicts.push(format!(
                "map {other} is queued for field computer {called} already, and the service refuses to queue it twice; a \
                 send with `wait` follows the queued one"
            ));
        } else if let Some(name) = file_name.as_deref().filter(|name| has_name(sent, name)) {
            conflicts.push(format!(
                "a file called `{name}` is queued for field computer {called} as map {other}, and the service refuses \
                 another one of that name; wait until it is delivered, or give this one another name (a send of the same \
                 content uploads nothing and uses the queued one)"
            ));
        }
    }
    let device_type = text(&device, "device_type").map_or_else(String::new, |kind| format!(" (`{kind}`)"));
    let name = file_name.as_deref().map_or_else(|| "the same name".to_owned(), |name| format!("the name `{name}`"));
    let is_legacy = if is_described {
        format!("the service does not state whether this device{device_type} is a legacy one")
    } else {
        "the service refuses to describe this device, as it does for some legacy ones".to_owned()
    };
    let notes = vec![format!(
        "{is_legacy}; on a legacy device, a file with {name} is overwritten, and of several queued files of one name only \
         the first is transferred"
    )];
    Ok(SendPlan { file_name, computer: device, queued, conflicts, notes })
}

/// The detail of a field computer, or its record in the list if the service refuses the detail, and which of the two it is.
async fn described(client: &Client, computer: &str) -> Result<(Value, bool)> {
    let detail = row("field_computers.get")?;
    let arguments = Arguments::new(detail, &[("id", computer.to_owned())])?;
    let refused = match record::detail(client, detail, &arguments).await {
        Ok(device) => return Ok((device, true)),
        Err(error) if error.kind() == Kind::InvalidRequest => error,
        Err(error) => return Err(explain_missing(error)),
    };
    let list = row("field_computers.list")?;
    let mut pages = Pages::new(client.clone(), list, Arguments::new(list, &[])?, None, None)?;
    while let Some(page) = pages.next_page().await? {
        if let Some(device) = page.into_iter().find(|device| has_id(device, computer)) {
            return Ok((device, false));
        }
    }
    Err(refused)
}

async fn name_of(client: &Client, id: &str, queued: &[Value]) -> Result<Option<String>> {
    let own = client.own_uploads.name_of(row("prescription_maps.upload")?, id);
    let listed = || queued.iter().find(|sent| has_id(sent, id)).and_then(|sent| text(sent, "name"));
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
