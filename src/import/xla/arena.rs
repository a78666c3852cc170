//! An allocation with the live ranges of its values -> a placement problem with XLA's own plan.
//!
//! XLA counts a value on its first and last step alike, so a range of `[start, end]` becomes `start..end + 1`. Values at one
//! offset whose ranges meet hold the same bytes (written in place, or joined by a loop): they become a group, and within it,
//! where they are of one size, each ends where the next begins, as in XLA's own lists. Under this reading XLA's plan holds
//! without overlap; where it does not, the order of the heap simulator's events takes the place of the schedule.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::assignment::{Allocation, Assignment, Event, Kind, Value};
use super::flow::Ranges;
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Buffer, Names, ProblemEntry, RecordedPlan};

const MAKER: &str = "XLA";

/// A problem for every allocation with known live ranges of at least two values, and for every arena; arenas come
/// first.
pub(super) fn arenas(
    assignment: &Assignment,
    ranges: &Ranges,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Arc<ProblemEntry>>, ImportError> {
    let events = event_ranges(&assignment.events);
    let is_temp = |one: &&Allocation| one.kinds.contains(&Kind::Temp);
    let first = assignment.allocations.iter().filter(is_temp);
    let others = assignment.allocations.iter().filter(|one| !is_temp(one));
    let mut arenas = Vec::new();
    for allocation in first.chain(others) {
        progress.check()?;
        let known = allocation
            .values
            .iter()
            .filter(|value| ranges.contains_key(&value.id))
            .count();
        let least = if is_temp(&allocation) { 1 } else { 2 };
        if known < least {
            let without = allocation.values.len() as u64;
            if is_temp(&allocation) && without > 0 {
                diagnostics.warning(
                    "an arena's values have no live ranges in the file; the arena is left out",
                    &allocation.title(),
                );
            }
            continue;
        }
        arenas.extend(one(allocation, ranges, &events, diagnostics).map(Arc::new));
    }
    Ok(arenas)
}

/// From each value's first event to the last step before it is freed, counted in events.
fn event_ranges(events: &[Event]) -> Ranges {
    let last = events.len().saturating_sub(1) as u64;
    let mut ranges = Ranges::new();
    for (at, event) in (0_u64..).zip(events) {
        match event {
            Event::Alloc(id) | Event::Share(id, _) => {
                ranges.insert(*id, (at, last));
            }
            Event::Free(id) => {
                if let Some(range) = ranges.get_mut(id) {
                    range.1 = at.saturating_sub(1).max(range.0);
                }
            }
        }
    }
    ranges
}

fn one(
    allocation: &Allocation,
    ranges: &Ranges,
    events: &Ranges,
    diagnostics: &mut Diagnostics,
) -> Option<ProblemEntry> {
    let title = allocation.title();
    let entry = entry(allocation, ranges);
    let Some(fault) = check(&entry) else {
        let without = allocation.values.len() - entry.problem.buffers.len();
        if without > 0 {
            diagnostics.warning(
                format!("{without} values of an allocation have no live range in the file and are left out"),
                &title,
            );
        }
        return Some(entry);
    };
    let by_events = self::entry(allocation, events);
    if by_events.problem.buffers.len() > 1 && check(&by_events).is_none() {
        let without = allocation.values.len() - by_events.problem.buffers.len();
        diagnostics.warning(
            format!(
                "by the schedule two values of an arena are in each other's way ({fault}); steps are the events of XLA's \
                 heap simulator instead, and {without} values without events are left out"
            ),
            &title,
        );
        return Some(by_events);
    }
    diagnostics.warning(
        format!("by the live ranges as read here, XLA's own plan does not hold: {fault}"),
        &title,
    );
    entry.problem.validate().is_ok().then_some(entry)
}

/// The first fault of the plan, if any.
fn check(entry: &ProblemEntry) -> Option<String> {
    let mut problem = entry.problem.clone();
    let offsets = &entry.recorded.as_ref()?.offsets;
    for (buffer, offset) in problem.buffers.iter_mut().zip(offsets) {
        buffer.offset = Some(*offset);
    }
    problem.validate().err().map(|error| error.to_string())
}

/// The problem of the values whose ranges are known.
fn entry(allocation: &Allocation, ranges: &Ranges) -> ProblemEntry {
    let mut values: Vec<(&Value, (u64, u64))> = Vec::new();
    for value in &allocation.values {
        values.extend(ranges.get(&value.id).map(|range| (value, *range)));
    }
    let groups = share_places(&mut values);
    let mut entry = ProblemEntry {
        name: allocation.title(),
        capacity: Some(Bytes(allocation.size)),
        ..ProblemEntry::default()
    };
    let mut ids = Names::default();
    let mut offsets = Vec::with_capacity(values.len());
    for (value, (start, end)) in &values {
        ids.push(&value.name);
        offsets.push(value.offset);
        entry.problem.buffers.push(buffer(*start, *end, value.size));
    }
    entry.problem.groups = groups;
    entry.ids = ids;
    entry.recorded = Some(RecordedPlan {
        offsets,
        maker: MAKER.to_owned(),
    });
    entry
}

/// A buffer that lives on both steps and between.
fn buffer(start: u64, end: u64, size: u64) -> Buffer {
    let step = |step: u64| u32::try_from(step).unwrap_or(u32::MAX - 1).min(u32::MAX - 1);
    Buffer {
        lower: Step(step(start)),
        upper: Step(step(end) + 1),
        size: Bytes(size),
        alignment: 1,
        offset: None,
    }
}

/// Groups values at one offset whose ranges meet, and puts those of one size one behind the other.
fn share_places(values: &mut [(&Value, (u64, u64))]) -> Vec<Vec<u32>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|at| (values[*at].0.offset, values[*at].1, values[*at].0.id));
    let mut groups = Vec::new();
    let mut from = 0;
    while from < order.len() {
        let (first, mut end) = (values[order[from]].0, values[order[from]].1.1);
        let mut to = from + 1;
        while let Some(at) = order.get(to)
            && values[*at].0.offset == first.offset
            && values[*at].1.0 <= end
        {
            end = end.max(values[*at].1.1);
            to += 1;
        }
        let members = &order[from..to];
        for pair in members.windows(2) {
            let (one, next) = (values[pair[0]], values[pair[1]]);
            if one.0.size == next.0.size {
                values[pair[1]].1.1 = next.1.1.max(one.1.1);
                values[pair[0]].1.1 = one.1.1.min(next.1.0);
            }
        }
        if members.len() > 1 {
            let mut group: Vec<u32> = members
                .iter()
                .map(|at| u32::try_from(*at).unwrap_or(u32::MAX))
                .collect();
            group.sort_unstable();
            groups.push(group);
        }
        from = to;
    }
    groups.sort_unstable();
    groups
}

/// The most bytes of values that live at once, and the first step that reaches them: each value by itself, but for those that
/// follow each other in one place, as in XLA's own list. `None` where no live range is known.
pub(super) fn peak(assignment: &Assignment, ranges: &Ranges) -> Option<(Bytes, u64)> {
    let mut changes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for allocation in &assignment.allocations {
        let values = allocation.values.iter();
        let mut values: Vec<(&Value, (u64, u64))> = values
            .filter_map(|value| Some((value, *ranges.get(&value.id)?)))
            .collect();
        share_places(&mut values);
        for (value, (start, end)) in values {
            let born = &mut changes.entry(start).or_default().0;
            *born = born.saturating_add(value.size);
            let dead = &mut changes.entry(end.saturating_add(1)).or_default().1;
            *dead = dead.saturating_add(value.size);
        }
    }
    let (mut live, mut peak) = (0_u64, None);
    for (step, (born, dead)) in changes {
        live = live.saturating_sub(dead).saturating_add(born);
        if peak.is_none_or(|(most, _)| Bytes(live) > most) {
            peak = Some((Bytes(live), step));
        }
    }
    peak
}

/// Every allocation as a buffer that is held all run, for an assignment without live ranges.
pub(super) fn held(assignment: &Assignment, name: &str) -> ProblemEntry {
    let mut entry = ProblemEntry {
        name: name.to_owned(),
        ..ProblemEntry::default()
    };
    for allocation in &assignment.allocations {
        entry.ids.push(&allocation.title());
        entry.problem.buffers.push(buffer(0, 0, allocation.size));
    }
    entry
}

/// Live ranges as buffers, with the bytes that are known.
pub(super) fn bare(ranges: &[(String, (u64, u64))], sizes: &BTreeMap<String, u64>, name: &str) -> ProblemEntry {
    let mut entry = ProblemEntry {
        name: name.to_owned(),
        ..ProblemEntry::default()
    };
    for (value, (start, end)) in ranges {
        entry.ids.push(value);
        let size = sizes.get(value).copied().unwrap_or(0);
        entry.problem.buffers.push(buffer(*start, *end, size));
    }
    entry
}
