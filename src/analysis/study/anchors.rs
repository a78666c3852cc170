//! Separate runs on one axis by events that correspond: the begins of steps, of an annotation, of the first equal call site.
//!
//! ```text
//! run a   a a a | a a a a a | a a             | an event that corresponds to one of the other runs
//! run b       b | b b       | b b b b         events between count from it; a part is as long as its longest
//! axis    0 1 2 3 4 5 6 7 8 9 ...
//! ```
//!
//! In: recordings, and what corresponds. Out: the corresponding events of each run, or why there are none. O(annotations +
//! blocks log call sites).

use std::collections::BTreeMap;
use std::sync::Arc;

use highwater_model::units::counted;
use highwater_model::workload::{Alignment, RecordedPhase, Recording};

/// Corresponding events: of each run as many, ascending.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Anchors {
    pub(super) of_run: Vec<Vec<u32>>,
    pub(super) sentence: String,
}

/// The corresponding events of an alignment; `None` where it needs none.
///
/// # Errors
/// A clause that says what a run lacks.
pub(super) fn anchors(
    recordings: &[&Recording],
    alignment: Alignment,
    annotation: &str,
) -> Option<Result<Anchors, String>> {
    match alignment {
        Alignment::Ops | Alignment::Phases | Alignment::Time | Alignment::Events => None,
        Alignment::Steps => Some(by_phases(recordings, "step", |one| {
            let marks = one.step_marks();
            if marks.is_empty() {
                return Err(format!("no annotation of {} marks steps", one.name));
            }
            Ok(marks)
        })),
        Alignment::Annotation => Some(by_annotation(recordings, annotation)),
        Alignment::CallSite => Some(by_call_site(recordings)),
    }
}

fn by_annotation(recordings: &[&Recording], annotation: &str) -> Result<Anchors, String> {
    let part = annotation.to_lowercase();
    if part.is_empty() {
        return Err("no annotation is named (simulation.measured_annotation)".to_owned());
    }
    by_phases(recordings, "annotation", |one| {
        let phases = one.phases.iter().copied();
        let named: Vec<RecordedPhase> = phases
            .filter(|phase| one.text(phase.name).to_lowercase().contains(&part))
            .collect();
        if named.is_empty() {
            return Err(format!("{} has no annotation \"{annotation}\"", one.name));
        }
        Ok(named)
    })
}

/// Phases of one name, the nth of a run with the nth of the others; where no name is common, phases in their order.
fn by_phases(
    recordings: &[&Recording],
    what: &str,
    phases_of: impl Fn(&Recording) -> Result<Vec<RecordedPhase>, String>,
) -> Result<Anchors, String> {
    let mut phases = Vec::with_capacity(recordings.len());
    for one in recordings {
        phases.push(phases_of(one)?);
    }
    let named: Vec<BTreeMap<(&str, usize), u32>> = recordings
        .iter()
        .zip(&phases)
        .map(|(one, phases)| {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let name = |phase: &RecordedPhase| {
                let name = one.text(phase.name);
                let count = counts.entry(name).or_default();
                *count += 1;
                ((name, *count), phase.start.0)
            };
            phases.iter().map(name).collect()
        })
        .collect();
    let mut common: Vec<Vec<u32>> = named
        .first()
        .into_iter()
        .flatten()
        .filter_map(|(name, _)| named.iter().map(|of| of.get(name).copied()).collect())
        .collect();
    let is_by_name = !common.is_empty();
    if is_by_name {
        common.sort_unstable();
    } else {
        let fewest = phases.iter().map(Vec::len).min().unwrap_or(0);
        let nth = |n: usize| phases.iter().map(|of| of[n].start.0).collect();
        common = (0..fewest).map(nth).collect();
    }
    let common = ascending(common);
    let first = recordings.first().zip(phases.first().and_then(|of| of.first()));
    let name = first.map_or("", |(one, phase)| one.text(phase.name));
    let how = if is_by_name { "name" } else { "order" };
    let sentence = format!(
        "the runs are aligned by {what}: {} of equal {how} (such as {name}), between which events count from the begin",
        counted(common.len() as u64, "place")
    );
    Ok(Anchors {
        of_run: by_run(&common, recordings.len()),
        sentence,
    })
}

/// The first allocation of the first run at a call site that all runs have.
fn by_call_site(recordings: &[&Recording]) -> Result<Anchors, String> {
    let firsts: Vec<BTreeMap<&str, u32>> = recordings
        .iter()
        .map(|one| {
            let mut first = BTreeMap::new();
            for block in one.blocks.iter().filter(|block| !block.is_older) {
                if let Some(site) = one.site_of(block) {
                    first.entry(one.call_sites.text(site)).or_insert(block.birth.0);
                }
            }
            first
        })
        .collect();
    let lacking = recordings.iter().zip(&firsts).find(|(_, sites)| sites.is_empty());
    if let Some((one, _)) = lacking {
        return Err(format!("{} has no allocation with a call site", one.name));
    }
    let of_first = firsts.first().into_iter().flatten();
    let common = of_first.filter(|(site, _)| firsts.iter().all(|sites| sites.contains_key(*site)));
    let Some((site, _)) = common.min_by_key(|(_, birth)| **birth) else {
        return Err("no call site is in all runs".to_owned());
    };
    Ok(Anchors {
        of_run: firsts.iter().map(|sites| vec![sites[site]]).collect(),
        sentence: format!("the runs are aligned by their first equal call site, {site}"),
    })
}

/// Without those that would go back in some run, or repeat an event.
fn ascending(places: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut kept: Vec<Vec<u32>> = Vec::with_capacity(places.len());
    for place in places {
        let is_behind = |last: &Vec<u32>| last.iter().zip(&place).all(|(last, next)| last < next);
        if kept.last().is_none_or(is_behind) {
            kept.push(place);
        }
    }
    kept
}

fn by_run(places: &[Vec<u32>], n_runs: usize) -> Vec<Vec<u32>> {
    let of_run = |run: usize| places.iter().map(|place| place[run]).collect();
    (0..n_runs).map(of_run).collect()
}

/// The steps of the events of each run, and how many steps there are: a part between two corresponding events is as long as the
/// longest of all runs; before the first one events end together. `None` beyond 32 bits. O(events).
pub(super) fn on_one_axis(n_events: &[u32], anchors: &[Vec<u32>]) -> Option<(u32, Vec<Arc<[u32]>>)> {
    let n_parts = anchors.first().map_or(0, Vec::len) + 1;
    let bounds = |run: usize, part: usize| {
        let start = part.checked_sub(1).map_or(0, |before| anchors[run][before]);
        let end = anchors[run].get(part).copied().unwrap_or(n_events[run]);
        (start, end.max(start))
    };
    let mut steps: Vec<Vec<u32>> = n_events.iter().map(|n| Vec::with_capacity(*n as usize)).collect();
    let mut from = 0_u32;
    for part in 0..n_parts {
        let length = |run: usize| bounds(run, part).1 - bounds(run, part).0;
        let width = (0..n_events.len()).map(length).max().unwrap_or(0);
        let end = from.checked_add(width)?;
        for (run, steps) in steps.iter_mut().enumerate() {
            let first = if part == 0 { end - length(run) } else { from };
            steps.extend(first..first + length(run));
        }
        from = end;
    }
    Some((from, steps.into_iter().map(Arc::from).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use highwater_model::units::Step;
    use highwater_model::workload::RecordedNames;

    fn run(name: &str, n_steps: u32, phases: &[(&str, u32)]) -> Recording {
        let mut names = RecordedNames::default();
        let phase = |(name, start): &(&str, u32)| RecordedPhase {
            name: names.intern(name),
            start: Step(*start),
            end: Step(start + 1),
        };
        let phases = phases.iter().map(phase).collect();
        Recording {
            name: name.to_owned(),
            n_steps,
            phases,
            names: names.finish(),
            ..Recording::default()
        }
    }

    #[test]
    fn equal_names_correspond_else_the_order() {
        let steps = |from: u32| [("step 1", from), ("step 2", from + 4), ("step 3", from + 5)];
        let a = run("a", 20, &steps(2));
        let b = run("b", 20, &steps(7)[1..]);
        let c = run("c", 20, &[("ProfilerStep#7", 1), ("ProfilerStep#8", 9)]);
        let plain = run("d", 20, &[]);
        for (runs, alignment, annotation, wanted) in [
            ([&a, &b], Alignment::Steps, "", Ok(vec![vec![6, 7], vec![11, 12]])),
            ([&a, &c], Alignment::Steps, "", Ok(vec![vec![2, 6], vec![1, 9]])),
            ([&a, &b], Alignment::Annotation, "Step 3", Ok(vec![vec![7], vec![12]])),
            ([&a, &b], Alignment::Annotation, "step 1", Err("b has no annotation")),
            ([&a, &b], Alignment::Annotation, "", Err("no annotation is named")),
            (
                [&a, &plain],
                Alignment::Steps,
                "",
                Err("no annotation of d marks steps"),
            ),
            ([&a, &b], Alignment::CallSite, "", Err("a has no allocation")),
        ] {
            let found = anchors(&runs, alignment, annotation).expect("it needs anchors");
            match (found, wanted) {
                (Ok(found), Ok(wanted)) => assert_eq!(found.of_run, wanted, "{alignment:?}"),
                (Err(why), Err(wanted)) => assert!(why.starts_with(wanted), "{why}"),
                (found, wanted) => panic!("{found:?} instead of {wanted:?}"),
            }
        }
        assert_eq!(anchors(&[&a, &b], Alignment::Events, ""), None);
    }

    proptest! {
        #[test]
        fn corresponding_events_share_a_step_and_events_keep_their_order(
            runs in prop::collection::vec(prop::collection::btree_set(0_u32..60, 3), 1..4),
            more in 1_u32..50,
        ) {
            let anchors: Vec<Vec<u32>> = runs.iter().map(|run| run.iter().copied().collect()).collect();
            let n_events: Vec<u32> = (0..).zip(&anchors).map(|(run, of)| of[2] + more + run).collect();
            let (n_steps, steps) = on_one_axis(&n_events, &anchors).expect("few");
            for (run, of_event) in steps.iter().enumerate() {
                prop_assert_eq!(of_event.len(), n_events[run] as usize);
                prop_assert!(of_event.is_sorted_by(|one, next| one < next));
                prop_assert!(of_event.iter().all(|step| *step < n_steps));
                for (place, event) in anchors[run].iter().enumerate() {
                    prop_assert_eq!(of_event[*event as usize], steps[0][anchors[0][place] as usize]);
                }
            }
            let most = steps.iter().filter_map(|of| of.last()).max().copied();
            prop_assert_eq!(most.map(|last| last + 1), Some(n_steps));
        }
    }
}
