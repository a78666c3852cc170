//! What the engine held at most in a log, beside what the simulation holds under the log's policy and under the others.

use std::collections::BTreeMap;

use super::comparison::Comparison;
use super::lane::Lane;
use super::lane_set::LaneId;
use super::logged_join::graphs_of;
use super::logged_plans::difference;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{LoggedEventKind, LoggedProcess, Recording};

/// A sentence for each log whose loads are all simulated.
pub(super) fn logged_peaks(comparison: &Comparison) -> Vec<(String, String)> {
    let recordings = comparison.workload.recordings().iter();
    let told = recordings.filter_map(|one| Some((peak(comparison, one)?, one.name.clone())));
    told.collect()
}

fn peak(comparison: &Comparison, recording: &Recording) -> Option<String> {
    let process = recording.process.as_deref()?;
    let logged = Bytes(process.reserved_peak?);
    let graphs = graphs_of(&comparison.workload);
    let mut loads = process.events.iter().filter(|one| one.kind == LoggedEventKind::Load);
    if graphs.is_empty() || !loads.all(|load| load.graph.is_some_and(|graph| graphs.contains_key(&graph))) {
        return None;
    }
    let lanes: BTreeMap<u64, &Lane> = comparison.lanes.iter().filter_map(by_policy).collect();
    let (policy, own) = match process.policy {
        Some((policy, _)) => (format!("under policy {policy}"), lanes.get(&policy)),
        None => ("under a policy that it does not tell".to_owned(), None),
    };
    let mut text = format!("GE held {} at most in the log, {policy}", logged.exact());
    if let Some(lane) = own {
        let simulated = lane.summary.peak_reserved;
        let verdict = difference(simulated, logged);
        text += &format!("; simulated {}: {verdict}", simulated.exact());
        text += &variables(lane, process, logged).unwrap_or_default();
    }
    let others = lanes.iter().filter(|(_, lane)| own.is_none_or(|own| own.id != lane.id));
    let others: Vec<String> = others
        .map(|(policy, lane)| format!("{} under {policy}", lane.summary.peak_reserved.exact()))
        .collect();
    if !others.is_empty() {
        text += &format!(". Simulated {}", others.join(", "));
    }
    Some(format!("{text}.{}", not_simulated(process)))
}

/// The lane of a policy, with its number.
fn by_policy(lane: &Lane) -> Option<(u64, &Lane)> {
    let LaneId::Policy(policy) = lane.id else {
        return None;
    };
    Some((u64::from(policy.number()), lane))
}

/// Where the variables are the only difference: newer engines hold them on pages, which the log counts; others print no bytes.
fn variables(lane: &Lane, process: &LoggedProcess, logged: Bytes) -> Option<String> {
    let simulated = lane.summary.reserved.variables;
    let rest = lane.summary.peak_reserved.get().checked_sub(simulated.get())?;
    let pages = process.variables.and_then(|variables| variables.pages);
    let held = pages.map_or(0, |(count, bytes)| count.saturating_mul(bytes));
    let is_all = logged.get().checked_sub(held) == Some(rest) && simulated.get() != held;
    is_all.then(|| match pages {
        Some((count, bytes)) => format!(
            ", all of it variables: {} of {} in the log, {} simulated",
            counted(count, "page"),
            Bytes(bytes),
            simulated.exact()
        ),
        None => ", all of it variables, whose bytes the log does not count".to_owned(),
    })
}

/// What the lanes lack.
fn not_simulated(process: &LoggedProcess) -> String {
    let whole = process.graphs.iter().filter(|graph| {
        let is_loaded = |event: &highwater_model::workload::LoggedEvent| {
            event.graph == Some(graph.id) && event.feature_map.is_some_and(|bytes| bytes > 0)
        };
        graph.plan.is_none() && process.events.iter().any(is_loaded)
    });
    let mut text = match whole.count() {
        0 => String::new(),
        count => format!(
            " The feature memory of {} without placements is one block each.",
            counted(count as u64, "graph")
        ),
    };
    if !process.pools.is_empty() {
        text += " Pools of dynamic graphs are not simulated: the log has no requests in order.";
    }
    text
}
