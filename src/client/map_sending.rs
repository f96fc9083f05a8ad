//! Sends a prescription map to a field computer and follows it, so that a repeated send uploads and queues nothing twice.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::time::Duration;

use zip::ZipArchive;

use super::arguments::Arguments;
use super::delivery::{Delivery, SEND};
use super::destination::{Delivered, Target};
use super::multipart::UploadFile;
use super::pages::Pages;
use super::queue_map::{has_id, send_command, sent_maps, state_of};
use super::setup::Client;
use super::upload::check;
use headland_api::field_computers::STATES;
use headland_api::uploads::SHAPE_SET;
use headland_api::{self as api, Endpoint};
use headland_base::error::{Error, Kind, Result};
use headland_wire::Value;

/// Largest number of maps of the same name whose content is compared.
const MAX_COMPARED: usize = 5;

/// What an earlier send had done, of a map that is in the queue.
const QUEUED: &str = "queued";

/// How long a send waits for the delivery: not at all, or until a timeout (`None` is the client's).
pub type Wait = Option<Option<Duration>>;

/// A map that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMap {
    /// Its id.
    pub id: String,
    /// Whether the field computer has fetched it.
    pub is_delivered: bool,
    /// What an earlier send had done already: `uploaded`, `queued` or `delivered`.
    pub already: Option<&'static str>,
}

/// Queues a map by its id. With `wait`, a map that is queued already is followed instead of refused: the process that
/// queued it may have ended.
pub(super) async fn send_map(client: &Client, map: &str, computer: &str, wait: Wait) -> Result<SentMap> {
    let row = row(SEND)?;
    let given = [("rx_id", map.to_owned()), ("field_computer_id", computer.to_owned())];
    let sent = send_command(client, row, &Arguments::new(row, &given)?).await;
    let mut already = None;
    if let Err(error) = sent {
        let may_be_queued = matches!(error.kind(), Kind::Conflict | Kind::InvalidRequest);
        let queued = STATES.get(..1).unwrap_or_default();
        if wait.is_none() || !may_be_queued || state_of(client, map, computer, queued).await?.is_none() {
            return Err(error);
        }
        already = Some(QUEUED);
    }
    follow(client, map, computer, wait, already).await
}

/// Uploads and queues a file, unless an earlier, interrupted send has done either.
///
/// The field computer is read first, so that nothing is uploaded for one that does not exist or whose queue has another
/// file of that name, which the service would refuse.
pub(super) async fn send_file(client: &Client, file: UploadFile, computer: &str, wait: Wait) -> Result<SentMap> {
    let upload = row("prescription_maps.upload")?;
    let arguments = Arguments::new(upload, &[])?;
    check(upload, &arguments, &file)?;
    let queued = sent_maps(client, computer, STATES.first().copied().unwrap_or_default()).await?;
    if let Some(map) = find_uploaded(client, &file, &queued).await? {
        if queued.iter().any(|sent| has_id(sent, &map)) {
            return follow(client, &map, computer, wait, Some(QUEUED)).await;
        }
        let delivered = STATES.get(1..).unwrap_or_default();
        if state_of(client, &map, computer, delivered).await?.is_some() {
            return Ok(SentMap { id: map, is_delivered: true, already: Some("delivered") });
        }
        let sent = send_map(client, &map, computer, wait).await?;
        return Ok(SentMap { already: sent.already.or(Some("uploaded")), ..sent });
    }
    if let Some(other) = queued.iter().find(|sent| has_name(sent, &file.name)) {
        let message = format!(
            "another file called `{}` is queued for field computer {computer} as map {}, so nothing was uploaded; wait \
             until it is delivered, or give this one another name",
            file.name,
            other.get("id").and_then(Value::as_text).unwrap_or("without id")
        );
        return Err(Error::new(Kind::Conflict, message).with(|facts| facts.endpoint = Some(SEND)));
    }
    let created = client.upload(upload, &arguments, file).await?;
    send_map(client, &created.id, computer, wait).await.map_err(|error| {
        if error.kind() == Kind::NotReady {
            return error;
        }
        let uploaded = format!("; the file is uploaded as map {}, which the same send uses", created.id);
        error.map_message(|said| format!("{}{uploaded}", said.trim_end_matches('.')))
    })
}

async fn follow(
    client: &Client,
    map: &str,
    computer: &str,
    wait: Wait,
    already: Option<&'static str>,
) -> Result<SentMap> {
    if let Some(timeout) = wait {
        Delivery::new(client.clone(), map, computer).wait(timeout).await?;
    }
    Ok(SentMap { id: map.to_owned(), is_delivered: wait.is_some(), already })
}

/// The id of the map with the name and the content of a file, one in the queue before others.
async fn find_uploaded(client: &Client, file: &UploadFile, queued: &[Value]) -> Result<Option<String>> {
    let list = row("prescription_maps.list")?;
    let mut pages = Pages::new(client.clone(), list, Arguments::new(list, &[])?, None, None)?;
    let mut candidates = Vec::new();
    while let Some(page) = pages.next_page().await? {
        let named = page.iter().filter(|map| has_name(map, &file.name));
        candidates.extend(named.filter_map(|map| map.get("id").and_then(Value::as_text).map(str::to_owned)));
    }
    candidates.sort_by_key(|map| !queued.iter().any(|sent| has_id(sent, map)));
    let download = row("prescription_maps.download")?;
    for map in candidates.into_iter().take(MAX_COMPARED) {
        let arguments = Arguments::new(download, &[("id", map.clone())])?;
        match client.download(download, &arguments, Target::Memory, None).await {
            Ok(Delivered::Bytes(content)) if is_same(&content, &file.content) => return Ok(Some(map)),
            // A map without a zip of that format is another one.
            Err(error) if !matches!(error.kind(), Kind::InvalidRequest | Kind::NotFound | Kind::Decode) => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Whether two zips have the same shapefile. The service may zip it anew.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    left == right || shape_set(left).is_some_and(|set| shape_set(right) == Some(set))
}

/// The files of the shapefile in a zip, by extension.
fn shape_set(zip: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut archive = ZipArchive::new(Cursor::new(zip)).ok()?;
    let mut found = BTreeMap::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).ok()?;
        let extension = member.name().rsplit_once('.').map_or_else(String::new, |(_, end)| end.to_ascii_lowercase());
        if SHAPE_SET.contains(&&*extension) {
            let mut content = Vec::new();
            member.read_to_end(&mut content).ok()?;
            found.insert(extension, content);
        }
    }
    (found.len() == SHAPE_SET.len()).then_some(found)
}

/// Whether a map of a list has a file name. Services keep names in any letter case.
pub(super) fn has_name(map: &Value, name: &str) -> bool {
    map.get("name").and_then(Value::as_text).is_some_and(|known| known.eq_ignore_ascii_case(name))
}

/// A row by its name.
pub(super) fn row(name: &'static str) -> Result<&'static Endpoint> {
    api::row(name).ok_or_else(|| Error::new(Kind::Type, format!("there is no call `{name}`")))
}
