//! Tests the events that calls report: requests without secrets, and waits with reason, length and end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::client::{Client, Config, Target};
use headland::limiter::Window;
use headland::transport::{Event, FaultKind, Observer};

use crate::support::*;

const KEY: &str = r#"{"AccessKey":"AccessKeyXyZ789","ID":"1","IsActive":true}"#;

/// Events in the form `request <text>`, `wait <id> <text>` and `resumed <id>`, with ids counted from 0.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<Event>>>);

impl Events {
    fn observer(&self) -> Observer {
        let events = Arc::clone(&self.0);
        Observer::new(move |event| events.lock().unwrap().push(event))
    }

    fn lines(&self) -> Vec<String> {
        let mut ids = Vec::new();
        let mut number = |id: u64| {
            ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            })
        };
        let events = self.0.lock().unwrap().clone();
        let line = |event: Event| match event {
            Event::Request(text) => format!("request {text}"),
            Event::Wait { id, text, .. } => format!("wait {} {text}", number(id)),
            Event::Resumed(id) => format!("resumed {}", number(id)),
        };
        events.into_iter().map(line).collect()
    }
}

async fn access_key(client: &Client) -> headland::error::Result<()> {
    client.detail(row("access_key"), &arguments("access_key", &[])).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn wait_for_the_rate_limit_is_reported_with_window_and_end() {
    let events = Events::default();
    let rate_limits = vec![
        Window { calls: 2, period: Duration::from_secs(60) },
        Window { calls: 1, period: Duration::from_millis(100) },
    ];
    let config = Config { rate_limits, observer: events.observer(), ..config() };
    let client = client_of(config, &Script::new(|_, _| Ok(ok(KEY))));
    for _ in 0..3 {
        access_key(&client).await.unwrap();
    }
    let lines = events.lines();
    let waits: Vec<&String> = lines.iter().filter(|line| !line.starts_with("request")).collect();
    assert_eq!(
        waits,
        ["wait 0 waiting 60 s for the rate limit (2 calls in 60 s), until 14:14:20 UTC", "resumed 0"],
        "a wait of 0.1 s is not reported"
    );
    assert!(lines.iter().all(|line| !line.contains("XyZ789") && !line.contains("ApiKey")), "{lines:?}");
    assert!(lines[0].starts_with("request access_key: GET /"), "{}", lines[0]);
}

#[tokio::test(start_paused = true)]
async fn retry_is_reported_with_its_cause() {
    let events = Events::default();
    let script = Script::new(|number, _| match number {
        0 => Err(fault(FaultKind::Connect)),
        1 => Ok(canned(503, "").with("retry-after", 7)),
        _ => Ok(ok(KEY)),
    });
    access_key(&client_of(Config { observer: events.observer(), ..config() }, &script)).await.unwrap();
    let lines = events.lines();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(lines[0].ends_with("as scripted after 0 ms"), "{}", lines[0]);
    assert!(lines[1].ends_with("status 503 after 0 ms, attempt 2"), "{}", lines[1]);
    let said = "wait 0 waiting 7 s for retry 2 of access_key, because the service answered with status 503, until 14:13:27 UTC";
    assert_eq!((lines[2].as_str(), lines[3].as_str()), (said, "resumed 0"));
}

#[tokio::test(start_paused = true)]
async fn conversion_reports_one_wait_until_its_file_is_there() {
    let events = Events::default();
    let script = Script::new(|number, _| {
        let more_time = r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#;
        Ok(if number < 2 { ok(more_time) } else { ok(zip_of(b"points")) })
    });
    let client = client_of(Config { observer: events.observer(), ..config() }, &script);
    let given = arguments("job_data.request", &[("id", "31"), ("format", "SHP")]);
    let mut conversion = client.conversion(row("job_data.request"), given).unwrap();
    conversion.result(Target::Memory).await.unwrap();
    let waits: Vec<String> = events.lines().into_iter().filter(|line| !line.starts_with("request")).collect();
    let said = |until: &str| {
        format!("wait 0 waiting 30 s for the service to convert the file (job_data.request/31/SHP), until {until} UTC")
    };
    assert_eq!(waits, [said("14:13:50"), said("14:14:20"), "resumed 0".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn cancelled_wait_ends() {
    let events = Events::default();
    let script = Script::new(|_, _| Ok(canned(503, "").with("retry-after", 60)));
    let client = client_of(Config { observer: events.observer(), ..config() }, &script);
    let cancelled = tokio::time::timeout(Duration::from_secs(5), access_key(&client)).await;
    assert!(cancelled.is_err());
    assert_eq!(events.lines().last().map(String::as_str), Some("resumed 0"));
}

#[tokio::test(start_paused = true)]
async fn wait_for_a_delivery_is_reported_with_map_and_field_computer() {
    let events = Events::default();
    let queued = r#"{"TotalCount":1,"IsNextPage":false,"PrescriptionMap":[{"ID":"11"}]}"#;
    let script = Script::new(move |_, _| Ok(ok(queued)));
    let client = client_of(Config { observer: events.observer(), ..config() }, &script);
    let mut delivery = client.delivery("prescription_maps.send/11/460/412b").unwrap();
    delivery.wait(Some(Duration::from_secs(5))).await.unwrap_err();
    let waits: Vec<String> = events.lines().into_iter().filter(|line| !line.starts_with("request")).collect();
    let text = "for field computer 460 to fetch prescription map 11, which is queued, until";
    assert_eq!(
        waits,
        [
            format!("wait 0 waiting 2 s {text} 14:13:22 UTC"),
            format!("wait 0 waiting 3 s {text} 14:13:25 UTC"),
            "resumed 0".to_owned()
        ]
    );
}
