//! What happens between runs: graphs that are loaded and unloaded because the schedule says so, and graphs that run at the
//! same time.
//!
//! ```text
//! changes    |load b| run a | run b |unload a| ...      before the run that they name, or behind the last
//! group      [ arenas, weights, io of a and b ....... ]  from its first step to its last
//!            | ops of a ......| ops of b .............|  one graph after another, as the axis has them
//! ```
//!
//! Rules: a graph that is loaded already is not loaded again, one that is not loaded is not unloaded. While a group runs none
//! of its graphs goes to make room. Where static graphs share an arena, a group is no group: what must not run at the same
//! time is simulated one after another.

use std::ops::Range;

use super::{Loading, Machine, Stop, static_plan};
use crate::session::DeviceRun;
use highwater_model::graph::Id as _;
use highwater_model::workload::GraphIdx;

impl<'a> Machine<'a> {
    /// What happens before a run: changes, and the beginning of a group.
    pub(super) fn between(&mut self, position: u32) -> Result<(), Stop> {
        let changes = &self.session.changes;
        let first = changes.partition_point(|change| change.before < position);
        for change in changes[first..].iter().take_while(|change| change.before == position) {
            self.change(change.graph, change.is_load)?;
        }
        let group = starting_at(&self.session.groups, position);
        match group.filter(|_| !self.statics.shares_arena()) {
            Some(group) => self.begin_group(group.start, group.end),
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
                self.memory.serve(self.residents.subject(graph));
                self.unload(graph, request.as_ref());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Brings the graph of a run onto the device, where it is not there.
    fn hold(&mut self, run: &'a DeviceRun) -> Result<(), Stop> {
        let graph = run.graph;
        let state = self.graphs[graph.idx()];
        if state.loading == Loading::Loaded {
            return Ok(());
        }
        self.memory.serve(self.residents.subject(graph));
        if static_plan(self.session, run).is_some() {
            let request = self.request(graph, &run.bound);
            return self.load_static(&request);
        }
        self.load_dynamic(graph)
    }

    /// The runs of a group by their graphs, each graph's first.
    fn members(&self, start: u32, end: u32) -> Vec<&'a DeviceRun> {
        let session = self.session;
        let mut members: Vec<&'a DeviceRun> = Vec::new();
        for run in session.runs.get(start as usize..end as usize).unwrap_or_default() {
            if !members.iter().any(|member| member.graph == run.graph) {
                members.push(run);
            }
        }
        members
    }

    fn begin_group(&mut self, start: u32, end: u32) -> Result<(), Stop> {
        let members = self.members(start, end);
        for run in &members {
            self.graphs[run.graph.idx()].is_held = true;
        }
        for run in members {
            self.hold(run)?;
            if static_plan(self.session, run).is_none() {
                let io = self.dynamic_io(&run.bound);
                self.memory.serve(self.residents.subject(run.graph));
                self.residents.hold_io(run.graph, io, &mut self.memory)?;
            }
        }
        Ok(())
    }

    /// Lets the graphs of the group go that ends before a run.
    pub(super) fn end_group(&mut self, position: u32) {
        let group = ending_at(&self.session.groups, position);
        let Some((start, end)) = group.map(|group| (group.start, group.end)) else {
            return;
        };
        for run in self.members(start, end) {
            let graph = run.graph;
            if !std::mem::take(&mut self.graphs[graph.idx()].is_held) {
                continue;
            }
            let is_static = static_plan(self.session, run).is_some();
            self.memory.serve(self.residents.subject(graph));
            if self.params.unloads_after_run {
                let request = is_static.then(|| self.request(graph, &run.bound));
                self.unload(graph, request.as_ref());
            } else if !is_static {
                let runs = self.session.runs.get(start as usize..end as usize).unwrap_or_default();
                let last = runs.iter().rposition(|run| run.graph == graph).unwrap_or(0);
                let io = runs.get(last).map(|run| self.dynamic_io(&run.bound));
                if self.next_io[start as usize + last] != io {
                    self.residents.free_io(graph, &mut self.memory);
                }
            }
        }
    }
}

/// The group whose first run is at a position. Groups ascend and none overlaps another. O(log groups).
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
    use super::*;

    #[test]
    fn groups_are_found_at_both_ends() {
        // Groups that touch, groups apart, and none at all.
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
        // Ten minutes and more where every look-up reads all groups.
        let groups: Vec<Range<u32>> = (0..1_000_000).map(|group| 2 * group..2 * group + 2).collect();
        let found = (0..2_000_001).filter(|position| starting_at(&groups, *position).is_some());
        assert_eq!(found.count(), 1_000_000);
        let found = (0..2_000_001).filter(|position| ending_at(&groups, *position).is_some());
        assert_eq!(found.count(), 1_000_000);
    }
}
