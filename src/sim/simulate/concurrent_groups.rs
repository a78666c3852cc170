//! Loads and unloads between runs, and groups of concurrent runs.
//!
//! ```text
//! changes    |load b| run a | run b |unload a| ...      before the run that they name, or after the last
//! group      [ arenas, weights, io of a and b ....... ]  from its first step to its last
//!            | ops of a ......| ops of b .............|  one graph after another, as on the axis
//! ```
//!
//! Rules: a loaded graph is not loaded again, one that is not loaded is not unloaded. While a group runs none of its
//! graphs is unloaded to make room. Where static graphs share an arena, groups are ignored: graphs that must not run
//! concurrently are simulated one after another.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Loading, Machine, Stop, static_plan};
use crate::session::DeviceRun;
use highwater_model::graph::Id as _;
use highwater_model::workload::GraphIdx;

impl<'a> Machine<'a> {
    /// Applies the changes before a run and begins its group.
    pub(super) fn before_run(&mut self, position: u32) -> Result<(), Stop> {
        let session = self.session;
        let changes = &session.changes;
        let first = changes.partition_point(|change| change.before < position);
        for change in changes[first..].iter().take_while(|change| change.before == position) {
            self.change(change.graph, change.is_load)?;
        }
        let group = starting_at(&session.groups, position);
        match group.filter(|_| !self.statics.shares_arena()) {
            Some(group) => self.begin_group(group),
            None => Ok(()),
        }
    }

    fn change(&mut self, graph: GraphIdx, is_load: bool) -> Result<(), Stop> {
        let is_loaded = self.graphs[graph.idx()].loading == Loading::Loaded;
        let run = self.graphs[graph.idx()].first_run;
        match (is_load, is_loaded, run) {
            (true, false, Some(run)) => self.hold(run),
            (false, true, Some(run)) => {
                let request = static_plan(self.session, run).map(|_| self.request(graph, &run.bound));
                self.memory.log.set_subject(self.residents.subject(graph));
                self.unload(graph, request.as_ref());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Loads the graph of a run, unless it is loaded.
    fn hold(&mut self, run: &'a DeviceRun) -> Result<(), Stop> {
        let graph = run.graph;
        let state = self.graphs[graph.idx()];
        if state.loading == Loading::Loaded {
            return Ok(());
        }
        self.memory.log.set_subject(self.residents.subject(graph));
        if static_plan(self.session, run).is_some() {
            let request = self.request(graph, &run.bound);
            return self.load_static(&request);
        }
        self.load_dynamic(graph)
    }

    fn begin_group(&mut self, group: &Range<u32>) -> Result<(), Stop> {
        let members = members(&self.session.runs, group);
        for member in &members {
            self.graphs[member.first.graph.idx()].is_held = true;
        }
        for Member { first: run, .. } in members {
            self.hold(run)?;
            if static_plan(self.session, run).is_none() {
                let io = self.dynamic_io(&run.bound);
                self.memory.log.set_subject(self.residents.subject(run.graph));
                self.residents.hold_io(run.graph, io, &mut self.memory)?;
            }
        }
        Ok(())
    }

    /// Releases the graphs of the group that ends before a run.
    pub(super) fn end_group(&mut self, position: u32) {
        let session = self.session;
        let Some(group) = ending_at(&session.groups, position) else {
            return;
        };
        for Member { first: run, last } in members(&session.runs, group) {
            let graph = run.graph;
            if !std::mem::take(&mut self.graphs[graph.idx()].is_held) {
                continue;
            }
            let is_static = static_plan(session, run).is_some();
            self.memory.log.set_subject(self.residents.subject(graph));
            if self.params.unloads_after_run {
                let request = is_static.then(|| self.request(graph, &run.bound));
                self.unload(graph, request.as_ref());
            } else if !is_static && self.next_io[last] != Some(self.dynamic_io(&session.runs[last].bound)) {
                self.residents.free_io(graph, &mut self.memory);
            }
        }
    }
}

/// A graph of a group.
struct Member<'a> {
    first: &'a DeviceRun,
    /// The position of its last run, among the runs of the session.
    last: usize,
}

/// The graphs of a group, in the order of their first runs. O(runs of the group * log graphs).
fn members<'a>(runs: &'a [DeviceRun], group: &Range<u32>) -> Vec<Member<'a>> {
    let start = group.start as usize;
    let mut members: Vec<Member<'a>> = Vec::new();
    let mut by_graph: BTreeMap<GraphIdx, usize> = BTreeMap::new();
    for (position, run) in (start..).zip(runs.get(start..group.end as usize).unwrap_or_default()) {
        let member = *by_graph.entry(run.graph).or_insert(members.len());
        match members.get_mut(member) {
            Some(member) => member.last = position,
            None => members.push(Member {
                first: run,
                last: position,
            }),
        }
    }
    members
}

/// The group whose first run is at a position. Groups ascend and are disjoint. O(log groups).
fn starting_at(groups: &[Range<u32>], position: u32) -> Option<&Range<u32>> {
    let at = groups.partition_point(|group| group.start < position);
    groups.get(at).filter(|group| group.start == position)
}

/// The group that ends before the run at a position. O(log groups).
fn ending_at(groups: &[Range<u32>], position: u32) -> Option<&Range<u32>> {
    let at = groups.partition_point(|group| group.end < position);
    groups.get(at).filter(|group| group.end == position)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use highwater_model::units::Step;

    use super::*;

    #[test]
    fn groups_are_found_at_both_ends() {
        // Adjacent groups, separate groups, and none.
        for groups in [vec![], vec![0..2, 2..5, 5..6, 9..12], vec![1..4, 6..7]] {
            for position in 0..14 {
                let first = groups.iter().find(|group: &&Range<u32>| group.start == position);
                let last = groups.iter().find(|group: &&Range<u32>| group.end == position);
                assert_eq!(starting_at(&groups, position), first, "{groups:?} at {position}");
                assert_eq!(ending_at(&groups, position), last, "{groups:?} at {position}");
            }
        }
    }

    #[test]
    fn a_million_groups_are_looked_up_at_every_position() {
        // Ten minutes and more where every look-up scans all groups.
        let groups: Vec<Range<u32>> = (0..1_000_000).map(|group| 2 * group..2 * group + 2).collect();
        let found = (0..2_000_001).filter(|position| starting_at(&groups, *position).is_some());
        assert_eq!(found.count(), 1_000_000);
        let found = (0..2_000_001).filter(|position| ending_at(&groups, *position).is_some());
        assert_eq!(found.count(), 1_000_000);
    }
    #[test]
    fn members_are_in_the_order_of_their_first_runs_and_know_their_last() {
        let runs = [9, 2, 0, 2, 1, 0, 2, 9].map(run_of);
        let found = |group: Range<u32>| -> Vec<(u32, usize)> {
            let members = members(&runs, &group);
            members
                .iter()
                .map(|member| (member.first.graph.0, member.last))
                .collect()
        };
        assert_eq!(found(1..7), [(2, 6), (0, 5), (1, 4)]);
        assert_eq!(found(2..4), [(0, 2), (2, 3)]);
        assert_eq!(found(7..9), [], "a group that the runs do not have");
    }

    #[test]
    fn a_group_of_300_000_graphs_has_its_members_in_one_pass() {
        // Many minutes where every run is compared with every member.
        let runs: Vec<DeviceRun> = (0..300_000).chain(0..300_000).map(run_of).collect();
        let members = members(&runs, &(0..600_000));
        assert_eq!(members.len(), 300_000);
        assert!(members.iter().zip(300_000..).all(|(member, last)| member.last == last));
    }

    fn run_of(graph: u32) -> DeviceRun {
        DeviceRun {
            graph: GraphIdx(graph),
            bound: Arc::default(),
            start: Step(0),
            n_steps: 0,
        }
    }
}
