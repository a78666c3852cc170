//! Pinned configurations as lanes: the same workload under other settings, beside the lanes of the options.
//!
//! ```text
//! axis of the options    | train: 0 1 2 3 4 | eval: 0 1 2 |
//! axis of a pin          | train: 0 1 [0] 2 3 4 |             its ops stand at the steps of the same ops; what it does
//! laid onto it             0 1 2- 2 3 4                        between two of them shares a step, and a run that it lacks is waited for
//! ```
//!
//! In: a comparison and the pins of its request. Out: a lane more for each of them. A pin is simulated on an axis of its own,
//! exactly as if its configuration were the options', and then laid onto the common axis: its figures do not depend on what
//! stands beside it, and what stands beside it does not depend on the pin. A pin that cannot be simulated or laid there is a
//! [`PinFailure`], never the failure of the comparison. Each pin is computed on a thread of its own; the answer does not depend on their timing.

mod lane;
mod steps;

use std::sync::Arc;

use super::{AnalysisError, Comparison, Configuration, Lane, LaneId, LaneSet, Request, ScratchSource, compare, shapes};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{Axis, Device, SchedulePlan, Workload};
use highwater_options::{Estimate, Finding, check_scheduled, lower};
use highwater_plan::Effort;
use highwater_rewrite::remat::OpRates;
use highwater_sim::Params;

pub use steps::PinFit;

/// Most pins: each is a lane.
pub const MOST_PINS: usize = 16;

/// A configuration that is kept under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The name.
    pub name: String,
    /// What is kept.
    pub configuration: Configuration,
    /// Whether it says nothing about the schedule: then that of the settings is its own, as it is at the time.
    pub follows_schedule: bool,
}

/// Letters of a pin's name at most.
const LONGEST_NAME: usize = 200;

impl Pin {
    /// A pin that keeps a whole configuration.
    pub const fn new(name: String, configuration: Configuration) -> Self {
        Self {
            name,
            configuration,
            follows_schedule: false,
        }
    }

    /// The pin beside settings with a schedule.
    #[must_use]
    pub fn beside(&self, plan: &SchedulePlan) -> Self {
        let mut pin = self.clone();
        if pin.follows_schedule {
            pin.configuration.plan.clone_from(plan);
        }
        pin
    }

    /// Whether a pin may have this name beside others, without blanks around it.
    ///
    /// # Errors
    /// A sentence without its end: it is empty, too long, not one line, or taken.
    pub fn name_of<'a>(name: &'a str, mut others: impl Iterator<Item = &'a str>) -> Result<&'a str, String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("a pin needs a name, such as \"policy 4, batch 16\"".to_owned());
        }
        if name.chars().any(char::is_control) {
            return Err("the name of a pin is one line of letters".to_owned());
        }
        let length = name.chars().count();
        if length > LONGEST_NAME {
            return Err(format!(
                "the name of a pin has at most {LONGEST_NAME} letters; this one has {length}"
            ));
        }
        if others.any(|other| other == name) {
            return Err(format!(
                "there is a pin \"{name}\" already; choose another name, or remove that one"
            ));
        }
        Ok(name)
    }

    /// The name, or with a number behind it where it is taken.
    pub fn free_name<'a>(name: &str, others: &(impl Iterator<Item = &'a str> + Clone)) -> String {
        let numbered = |number: u32| match number {
            1 => name.to_owned(),
            number => format!("{name} ({number})"),
        };
        let mut free = (1..)
            .map(numbered)
            .filter(|name| others.clone().all(|other| other != name));
        free.next().unwrap_or_default()
    }
}

/// Why a pin has no lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinFailure {
    /// Position of the pin.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// Why, in a sentence without its end.
    pub why: String,
}

/// What a pinned lane was simulated under, and how it stands on the common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedLane {
    /// What is kept.
    pub configuration: Configuration,
    /// The device, with the memory that the pin gives it and others leave.
    pub device: Device,
    /// Memory that others hold on it.
    pub occupied: Bytes,
    /// Sizes and costs.
    pub params: Params,
    /// Rates that estimate what ops take.
    pub rates: OpRates,
    /// Whether its figures are lower bounds.
    pub lower_bound: bool,
    /// What they hold of scratch memory.
    pub scratch: ScratchSource,
    /// Settings whose effect is an estimate.
    pub estimates: Vec<Estimate>,
    /// What the rules say of its settings.
    pub findings: Vec<Finding>,
    /// Oddities of its comparison.
    pub diagnostics: Diagnostics,
    /// Its own axis: values of dimensions are its own.
    pub axis: Axis,
    /// By position of its session's runs: the run of its own axis; `None` for a run of the options that it waits for.
    pub runs: Vec<Option<u32>>,
    /// How its steps stand on the common axis.
    pub fit: PinFit,
}

/// Adds a lane for each pin of the request, in their order; those that are known already are taken as they are.
///
/// # Errors
/// Cancelled by the user.
pub(super) fn add_pins(
    comparison: &mut Comparison,
    request: &Request,
    known: &[Lane],
    progress: &Progress<'_>,
) -> Result<(), AnalysisError> {
    let pins = &request.pins[..];
    if pins.is_empty() {
        return Ok(());
    }
    progress.set("simulating pins", 0, 1)?;
    let workload = without_recordings(&request.workload);
    let shown = pins.len().min(MOST_PINS);
    let of_pin = |pin: &Pin| known.iter().find(|lane| is_of(lane, pin));
    let cancel = progress.cancel_flag();
    let answers: Vec<Option<Result<Comparison, AnalysisError>>> = std::thread::scope(|scope| {
        let work = |pin| alone(pin, request, &workload, &Progress::silent(cancel));
        let threads: Vec<_> = pins[..shown]
            .iter()
            .map(|pin| of_pin(pin).is_none().then(|| scope.spawn(move || work(pin))))
            .collect();
        let joined = threads.into_iter().map(|thread| {
            let answer = thread?.join();
            Some(answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        joined.collect()
    });
    for (position, (pin, answer)) in pins.iter().zip(answers).enumerate() {
        let placed = match answer {
            None => {
                comparison
                    .lanes
                    .extend(of_pin(pin).map(|lane| renamed(lane, position, pin)));
                Ok(())
            }
            Some(Err(AnalysisError::Cancelled(cancelled))) => return Err(cancelled.into()),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(own)) => lane::place(comparison, own, position, pin, request, progress)?,
        };
        if let Err(why) = placed {
            comparison.pin_failures.push(problem(position, pin, &why));
        }
    }
    let why = format!("{MOST_PINS} pins are shown at most; remove others");
    for (position, pin) in pins.iter().enumerate().skip(shown) {
        comparison.pin_failures.push(problem(position, pin, &why));
    }
    progress.set("simulating pins", 1, 1)?;
    Ok(())
}

/// Whether a lane shows a pin's configuration.
fn is_of(lane: &Lane, pin: &Pin) -> bool {
    let pinned = lane.pinned.as_ref();
    pinned.is_some_and(|pinned| pinned.configuration == pin.configuration)
}

/// A known lane under the pin's name, in its place.
fn renamed(lane: &Lane, position: usize, pin: &Pin) -> Lane {
    Lane {
        id: lane_id(position),
        title: Some(pin.name.clone()),
        ..lane.clone()
    }
}

fn problem(position: usize, pin: &Pin, why: &str) -> PinFailure {
    PinFailure {
        position,
        name: pin.name.clone(),
        why: why.to_owned(),
    }
}

/// The answer to a request that differs in its pins alone from one whose answer is known: only new pins are simulated.
///
/// # Errors
/// As [`compare`].
pub fn repin(known: &Comparison, request: &Request, progress: &Progress<'_>) -> Result<Comparison, AnalysisError> {
    let mut comparison = known.clone();
    let lanes = std::mem::take(&mut comparison.lanes);
    let (pinned, others): (Vec<Lane>, Vec<Lane>) = lanes.into_iter().partition(|lane| lane.pinned.is_some());
    let is_measured = |lane: &Lane| matches!(lane.id, LaneId::Measured(_));
    let (measured, own): (Vec<Lane>, Vec<Lane>) = others.into_iter().partition(is_measured);
    comparison.lanes = own;
    comparison.pin_failures.clear();
    if can_stand_beside(request) {
        add_pins(&mut comparison, request, &pinned, progress)?;
    } else {
        leave_out(&mut comparison, request);
    }
    comparison.lanes.extend(measured);
    Ok(comparison)
}

/// Says of every pin why this answer has no lane for it.
pub(super) fn leave_out(comparison: &mut Comparison, request: &Request) {
    let why = "pinned configurations are shown beside the policies of graphs and of allocation traces; here the lanes are \
               something else";
    let pins = request.pins.iter().enumerate();
    comparison.pin_failures = pins.map(|(position, pin)| problem(position, pin, why)).collect();
}

/// Whether the search for some pin's plan may take seconds.
pub(super) fn has_search(request: &Request) -> bool {
    request.pins.iter().any(|pin| {
        let Configuration {
            options, environment, ..
        } = &pin.configuration;
        let lowered = lower(options, environment, &request.device, &*request.files);
        lowered.strategy.effort == Effort::Search
    })
}

/// The rules' findings about a pin.
fn findings(pin: &Pin, request: &Request) -> Vec<Finding> {
    let Configuration {
        options,
        environment,
        plan,
    } = &pin.configuration;
    check_scheduled(options, environment, &*request.files, plan)
}

/// The workload without what was measured: a pin's own answer needs no lanes of it.
fn without_recordings(workload: &Arc<Workload>) -> Arc<Workload> {
    if workload.measured.is_empty() {
        return Arc::clone(workload);
    }
    let mut bare = Workload::clone(workload);
    bare.measured.clear();
    Arc::new(bare)
}

/// The answer to a pin's configuration alone.
fn alone(
    pin: &Pin,
    request: &Request,
    workload: &Arc<Workload>,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut own = request.configured(&pin.configuration)?;
    own.workload = Arc::clone(workload);
    fill_dims(&mut own, request);
    compare(&own, progress)
}

/// What a pin says nothing about is as in the options; what no graph has (another part may be on the screen) is left out.
fn fill_dims(own: &mut Request, request: &Request) {
    let symbols = own.workload.symbols();
    own.plan.dims.retain(|name, _| symbols.contains(name));
    let (bound, _) = shapes::bound_plan(own);
    for symbol in symbols {
        let is_bound = bound.dims.get(&symbol).is_some_and(|values| !values.is_empty());
        if let Some(values) = request.plan.dims.get(&symbol).filter(|_| !is_bound) {
            own.plan.dims.insert(symbol, values.clone());
        }
    }
}

/// The lane of a pin, by its position.
pub(super) fn lane_id(position: usize) -> LaneId {
    LaneId::Pinned(u8::try_from(position).unwrap_or(u8::MAX))
}

/// Whether pins stand beside what the lanes are compared for.
pub(super) fn can_stand_beside(request: &Request) -> bool {
    let has_steps = !request.workload.graphs().is_empty() || !request.workload.traces().is_empty();
    has_steps && request.lanes != LaneSet::NameReuse
}
