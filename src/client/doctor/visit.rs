//! An examination that gives its findings one by one.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::finding::{Desk, Finding};
use super::steps::Steps;
use crate::client::Client;
use crate::error::Error;

/// How many calls were made, and the error that a call would have ended with.
type Outcome = (u32, Option<Error>);

/// An examination of a client that is under way.
pub struct Visit {
    steps: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    desk: Arc<Desk>,
    outcome: Option<Outcome>,
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl Visit {
    /// Makes no call yet. `source` says where the client's settings are from.
    pub(in crate::client) fn new(client: Client, source: String) -> Self {
        let desk = Arc::new(Desk::default());
        let desk_of_steps = Arc::clone(&desk);
        let steps = Box::pin(async move {
            let mut steps = Steps::new(&client, &desk_of_steps);
            let error = steps.all(&source).await.err();
            // The findings have told what these would tell again.
            drop(client.take_warnings());
            (steps.calls, error)
        });
        Self { steps, desk, outcome: None }
    }

    /// The next finding; `None` after the last.
    pub async fn next(&mut self) -> Option<Finding> {
        if self.outcome.is_some() {
            return None;
        }
        poll_fn(|context| match self.steps.as_mut().poll(context) {
            Poll::Ready(outcome) => {
                self.outcome = Some(outcome);
                Poll::Ready(None)
            }
            Poll::Pending => self.desk.take().map_or(Poll::Pending, |finding| Poll::Ready(Some(finding))),
        })
        .await
    }

    /// How many calls were made, and the error that a call would have ended with, once it has ended.
    #[must_use]
    pub fn outcome(&self) -> Option<&(u32, Option<Error>)> {
        self.outcome.as_ref()
    }
}
