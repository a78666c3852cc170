//! Pinned configurations as lanes of a comparison.
//!
//! ```text
//! axis of the options    | train: 0 1 2 3 4 | eval: 0 1 2 |
//! axis of a pin          | train: 0 1 [0] 2 3 4 |             ops align with the same ops; recomputed ops between two of
//! aligned to it            0 1 2- 2 3 4                        them share a step; the lane waits during runs that it lacks
//! ```
//!
//! A pin is simulated on its own axis, exactly as if its configuration were that of the options, and then aligned to the common
//! axis: its figures and those of the other lanes do not depend on each other. A pin that cannot be simulated or aligned is a
//! [`PinFailure`], never the failure of the comparison. Each pin runs on its own thread; the result does not depend on timing.

mod lane;
mod steps;

use std::sync::Arc;

use super::comparison::Comparison;
use super::error::AnalysisError;
use super::lane::Lane;
use super::pin::{MAX_PINS, Pin, PinFailure, lane_id};
use super::request::Request;
use super::shapes;
use super::study::study_of;
use highwater_model::progress::Progress;
use highwater_model::threads::on_threads;
use highwater_model::workload::Workload;

/// Adds a lane for each pin of the request, in their order, or says why it has none; pins with a known lane reuse it.
///
/// # Errors
/// Cancelled by the user.
pub(super) fn add_pins(
    comparison: &mut Comparison,
    request: &Request,
    known: &[Lane],
    progress: &Progress<'_>,
) -> Result<(), AnalysisError> {
    let pins = request.pins.iter().enumerate();
    if !study_of(&request.workload).takes_pins(&request.lanes) {
        let why = "pins need policy lanes (of graphs or allocation traces); the lanes here are of another kind";
        comparison.pin_failures = pins.map(|(position, pin)| failure(position, pin, why)).collect();
        return Ok(());
    }
    if request.pins.is_empty() {
        return Ok(());
    }
    progress.set("simulating pins", 0, 1)?;
    let workload = without_recordings(&request.workload);
    let known_lane = |pin: &Pin| known.iter().find(|lane| shows(lane, pin));
    let cancel = progress.cancel_flag();
    let results = on_threads(request.pins.iter().take(MAX_PINS).collect(), progress, |pin: &Pin| {
        let is_new = known_lane(pin).is_none();
        is_new.then(|| compare_alone(pin, request, &workload, &Progress::silent(cancel)))
    });
    for ((position, pin), result) in pins.clone().zip(results) {
        let placed = match result {
            None => {
                let lane = known_lane(pin).map(|lane| renamed(lane, position, pin));
                comparison.lanes.extend(lane);
                Ok(())
            }
            Some(Err(AnalysisError::Cancelled(cancelled))) => return Err(cancelled.into()),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(own)) => lane::place(comparison, own, position, pin, request, progress)?,
        };
        if let Err(why) = placed {
            comparison.pin_failures.push(failure(position, pin, &why));
        }
    }
    let why = format!("at most {MAX_PINS} pins are shown; remove some");
    let left_out = pins.skip(MAX_PINS).map(|(position, pin)| failure(position, pin, &why));
    comparison.pin_failures.extend(left_out);
    progress.set("simulating pins", 1, 1)?;
    Ok(())
}

/// Whether a lane shows a pin's configuration.
fn shows(lane: &Lane, pin: &Pin) -> bool {
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

fn failure(position: usize, pin: &Pin, why: &str) -> PinFailure {
    PinFailure {
        position,
        name: pin.name.clone(),
        why: why.to_owned(),
    }
}

/// The comparison of a request that differs in its pins alone from a known one: only new pins are simulated.
///
/// # Errors
/// As [`compare`](super::compare).
pub fn repin(known: &Comparison, request: &Request, progress: &Progress<'_>) -> Result<Comparison, AnalysisError> {
    let mut comparison = known.clone();
    let lanes = std::mem::take(&mut comparison.lanes);
    let (pinned, others): (Vec<Lane>, Vec<Lane>) = lanes.into_iter().partition(|lane| lane.pinned.is_some());
    let (measured, own): (Vec<Lane>, Vec<Lane>) = others.into_iter().partition(Lane::is_measured);
    comparison.lanes = own;
    comparison.pin_failures.clear();
    add_pins(&mut comparison, request, &pinned, progress)?;
    comparison.lanes.extend(measured);
    Ok(comparison)
}

/// The workload without recordings: the comparison of a pin alone needs no lanes of them.
fn without_recordings(workload: &Arc<Workload>) -> Arc<Workload> {
    if workload.measured.is_empty() {
        return Arc::clone(workload);
    }
    let mut bare = Workload::clone(workload);
    bare.measured.clear();
    Arc::new(bare)
}

/// The comparison of a pin's configuration alone.
fn compare_alone(
    pin: &Pin,
    request: &Request,
    workload: &Arc<Workload>,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut own = request.configured(&pin.configuration)?;
    own.workload = Arc::clone(workload);
    fill_dims(&mut own, request);
    study_of(&own.workload).compare(&own, &own.lowered(), progress)
}

/// Takes dimensions that a pin does not set from the options, and drops those that no graph has (another part of the workload
/// may be shown).
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
