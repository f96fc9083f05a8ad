//! Delays of the machines of a job: given by the recipe, or estimated.

use std::collections::BTreeMap;

use super::flow_delay::Delay;
use super::recipe::{Recipe, Seconds, Word};
use super::seasons::Jobs;
use super::track_rows::TrackRows;
use crate::error::{Error, Result};

/// The delay of a sensor of one machine.
#[derive(Clone, Debug)]
pub struct MachineDelay {
    /// The job, if the layer has several.
    pub job: Option<String>,
    /// Number of the machine; 0 if none is logged.
    pub machine: i64,
    /// The estimate, or the given delay.
    pub delay: Delay,
}

impl MachineDelay {
    /// The machine and its job, for messages.
    pub(super) fn name(&self) -> String {
        let job = self.job.as_ref().map_or_else(String::new, |job| format!("job {job}, "));
        format!("{job}machine {}", self.machine)
    }
}

/// The delay of each machine, in the order of jobs and their numbers. `estimate` returns the reason if there is nothing to
/// estimate from.
pub(super) fn machine_delays(
    parameter: &str,
    seconds: &Seconds,
    (rows, jobs): (&TrackRows, &Jobs),
    estimate: impl Fn(u32) -> std::result::Result<Delay, &'static str>,
) -> Result<Vec<MachineDelay>> {
    let mut delays = Vec::with_capacity(rows.machines.len());
    for (position, (job, machine)) in rows.machine_positions().zip(&rows.machines) {
        let delay = match seconds {
            Seconds::One(seconds) => Delay::given(Some(*seconds)),
            Seconds::Off(()) => Delay::given(None),
            Seconds::Machines(given) => Delay::given(*given.get(&machine.to_string()).ok_or_else(|| {
                let known = given.keys().cloned().collect::<Vec<_>>().join(", ");
                let message = format!(
                    "`{parameter}`: machine {machine} of this layer is not among the machines {known}; pass a number, or a \
                     mapping with that machine, or set `{parameter}` to \"auto\" in the recipe"
                );
                Error::for_argument(parameter, message)
            })?),
            Seconds::Word(_) => estimate(position).unwrap_or_else(|reason| Delay::refused(0, reason.to_owned())),
        };
        delays.push(MachineDelay { job: jobs.names.get(*job as usize).cloned(), machine: *machine, delay });
    }
    Ok(delays)
}

/// Seconds by which the values of a row are logged later; 0 without a delay.
pub(super) fn shift(delays: &[MachineDelay], rows: &TrackRows, k: usize) -> f64 {
    delays.get(rows.machine[k] as usize).and_then(|delay| delay.delay.seconds).unwrap_or(0.0)
}

/// Puts estimated delays into the recipe. Those of several jobs are estimated again in a replay.
pub(super) fn set_delays(recipe: &mut Recipe, flow: &[MachineDelay]) {
    let is_one_job = flow.iter().all(|delay| delay.job.is_none());
    if recipe.parameters.delay == Seconds::Word(Word::Auto) && !flow.is_empty() && is_one_job {
        recipe.parameters.delay = to_seconds(flow);
        recipe.set_origin("delay", "estimated");
    }
}

/// Delays as the value of a recipe: one number for one machine, so that it can be replayed for other ones.
fn to_seconds(delays: &[MachineDelay]) -> Seconds {
    if let [only] = delays {
        return only.delay.seconds.map_or(Seconds::Off(()), Seconds::One);
    }
    let pair = |delay: &MachineDelay| (delay.machine.to_string(), delay.delay.seconds);
    Seconds::Machines(delays.iter().map(pair).collect::<BTreeMap<_, _>>())
}
