//! Graphs that ops call, branch to or repeat: they are listed and not run, and that is said with what they hold.
//!
//! In: the workload with values of its dimensions. Out: a warning for each graph with such bodies. O(tensors of the bodies).

use crate::diagnostics::Diagnostics;
use crate::graph::{Bindings, Graph};
use crate::liveness::{View, lifetimes};
use crate::units::Bytes;
use crate::workload::{SchedulePlan, Workload};

/// Most bodies that are weighed; more are counted.
const MOST_WEIGHED: usize = 512;

/// Says of each graph what its bodies would hold.
pub(super) fn report(workload: &Workload, plan: &SchedulePlan, diagnostics: &mut Diagnostics) {
    let first = |(name, values): (&String, &Vec<u64>)| Some((name.clone(), *values.first()?));
    let bindings: Bindings = plan.dims.iter().filter_map(first).collect();
    for entry in workload.graphs().iter().filter(|entry| !entry.bodies.is_empty()) {
        let weighed = entry.bodies.iter().take(MOST_WEIGHED);
        let peaks = weighed.map(|body| (peak(body, &bindings), body.name()));
        // The first of the largest.
        let largest = peaks.reduce(|one, other| if other.0 > one.0 { other } else { one });
        let Some((bytes, name)) = largest.filter(|(bytes, _)| *bytes > Bytes::ZERO) else {
            continue;
        };
        let what = match entry.bodies.len() {
            1 => format!(
                "a graph that an op calls, branches to or repeats is not simulated: \"{name}\" holds {bytes} at its peak"
            ),
            count => format!(
                "{count} graphs that ops call, branch to or repeat are not simulated: the largest, \"{name}\", holds {bytes} at its peak"
            ),
        };
        diagnostics.warning(format!("{what}, on top of what the op itself does"), &entry.name);
    }
}

/// The most bytes that a body's tensors hold at once, as far as their shapes are known.
fn peak(body: &Graph, bindings: &Bindings) -> Bytes {
    lifetimes(body, &body.sizes(bindings), View::Aliased).peak().0
}
