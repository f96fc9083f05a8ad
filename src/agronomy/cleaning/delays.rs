//! Delays of the machines of a job, given by the recipe or estimated, and the flow that they place.

use std::collections::BTreeMap;

use crate::cleaning::recipe::{Recipe, Seconds, Word};
use crate::columns::canonical::JobKind;
use crate::ground::seasons::Jobs;
use crate::passes::flow_delay::{Delay, Sensor, estimate};
use crate::passes::flow_dropouts::fill_dropouts;
use crate::rows::field_rows::{FieldRows, LOGGED_FLOW};
use crate::rows::shifted_values::value_later;
use crate::rows::track_rows::TrackRows;
use headland_base::error::{Error, Result};

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
    pub fn name(&self) -> String {
        let job = self.job.as_ref().map_or_else(String::new, |job| format!("job {job}, "));
        format!("{job}machine {}", self.machine)
    }
}

/// The flow of a harvest, as it was logged and where the grain was cut.
pub(crate) struct PlacedFlow {
    /// Those of the machines.
    pub(crate) delays: Vec<MachineDelay>,
    /// In kg/s; NaN is null. `None` without a flow.
    pub(crate) logged: Option<Vec<f64>>,
    pub(crate) shifted: Option<Vec<f64>>,
    /// The columns that the flow comes from.
    pub(crate) rule: &'static str,
    /// Rows whose flow is interpolated.
    pub(crate) dropouts: usize,
}

impl PlacedFlow {
    /// Shifts the flow by the delays that the recipe gives, or that the rows of the sensor show.
    pub(crate) fn new(field: &mut FieldRows, sensor: &Sensor<'_>, seconds: &Seconds) -> Result<Self> {
        let rows = sensor.rows;
        let mut logged = field.flow.take().filter(|_| field.kind == JobKind::Yield).map(|flow| rows.sorted(&flow));
        let dropouts = logged.as_mut().map_or(0, |flow| fill_dropouts(rows, flow));
        let delays = machine_delays("delay", seconds, (rows, &field.jobs), |machine| {
            let flow = logged.as_deref().ok_or("no column gives a flow or a yield")?;
            let flow = rows.has_time.then_some(flow).ok_or("no time was logged")?;
            Ok(estimate_of_job(sensor, machine, flow))
        })?;
        let later =
            |flow: &Vec<f64>| (0..rows.len()).map(|k| value_later(rows, flow, k, shift(&delays, rows, k))).collect();
        let shifted = logged.as_ref().map(later);
        Ok(Self { delays, logged, shifted, rule: field.flow_rule, dropouts })
    }

    /// Whether the grain of a row is where it was cut. A display that computes yields has placed it itself.
    pub(crate) fn is_placed(&self, rows: &TrackRows, k: usize) -> bool {
        let delay = || self.delays.get(rows.machine[k] as usize).and_then(|delay| delay.delay.seconds);
        self.rule != LOGGED_FLOW || delay().is_some()
    }

    /// The logged and the shifted flow.
    pub(crate) fn both(&self) -> Option<(&[f64], &[f64])> {
        self.logged.as_deref().zip(self.shifted.as_deref())
    }
}

/// The delay of each machine, in the order of jobs and their numbers. `estimate` returns the reason if there is nothing to
/// estimate from.
pub(crate) fn machine_delays(
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

/// The delay of a machine in a job. A job that says too little has that of the machine in the season.
fn estimate_of_job(sensor: &Sensor<'_>, machine: u32, flow: &[f64]) -> Delay {
    let machines = &sensor.rows.machines;
    let own = estimate(sensor, |other| other == machine, flow);
    let number = |machine: u32| machines[machine as usize].1;
    let has_others = machines.iter().filter(|(_, other)| *other == number(machine)).nth(1).is_some();
    let in_season = || estimate(sensor, |other| number(other) == number(machine), flow);
    let season = (own.seconds.is_none() && has_others).then(in_season);
    season.filter(|delay| delay.seconds.is_some()).unwrap_or(own)
}

/// Seconds by which the values of a row are logged later; 0 without a delay.
pub(crate) fn shift(delays: &[MachineDelay], rows: &TrackRows, k: usize) -> f64 {
    delays.get(rows.machine[k] as usize).and_then(|delay| delay.delay.seconds).unwrap_or(0.0)
}

/// Puts estimated delays into the recipe. Those of several jobs are estimated again in a replay.
pub(crate) fn set_delays(recipe: &mut Recipe, flow: &[MachineDelay]) {
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
