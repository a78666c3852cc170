//! The pass over one graph: at each op first reuse by its results, then its dying variables enter the pool.

use super::flow::{Flow, FlowOp};
use super::liveness::{Change, Liveness, OPS_BETWEEN_CHECKS, liveness};
use super::log::{self, Hit, Log, LogLine, OTHER_TYPE};
use super::lookup::{Found, Lookup, Phase};
use super::naming::Naming;
use super::pool::{Pool, PoolRules, Scan};
use super::versions::{TypeRule, VersionRules};
use super::{NameReuseRequest, Rename};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::BlockProgram;

#[derive(Debug, Default)]
pub(super) struct FlowAnswer {
    /// In order.
    pub(super) renames: Vec<Rename>,
    /// In order, up to the requested number; empty without log.
    pub(super) log: Vec<LogLine>,
    /// All lines.
    pub(super) n_log_lines: u64,
    /// By op of the graph: the new names where some changed, in the order of [`FlowOp::names`].
    pub(super) names: Vec<Option<Vec<u32>>>,
    /// The exception that ended it.
    pub(super) exception: Option<String>,
}

/// Keeps at most `most_log_lines`. O(names in ops + log n per decision); with the log, and in version 1 at level 1,
/// also O(pool) per decision.
pub(super) fn run(
    program: &BlockProgram,
    flow: &Flow<'_>,
    request: &NameReuseRequest,
    most_log_lines: usize,
    progress: &Progress<'_>,
) -> Result<FlowAnswer, Cancelled> {
    let n_names = flow.names.len();
    let rules = request.version.rules();
    let mut pass = Pass {
        flow,
        rules,
        log: request.print_log.then(|| Log::new(most_log_lines, n_names)),
        marks: vec![None; n_names],
        lookup: Lookup::new(program, flow),
        naming: Naming::new(n_names),
        pool: Pool::new(PoolRules::new(rules, request.level), n_names),
        phase: Phase::Forward,
        answer: FlowAnswer::default(),
    };
    let Liveness { at_entry, changes } = liveness(flow, progress)?;
    for name in at_entry {
        pass.naming.birth(name);
    }
    for name in flow.ops.iter().flat_map(|op| &op.defs) {
        pass.naming.write_ahead(*name);
    }
    for (position, (op, change)) in flow.ops.iter().zip(&changes).enumerate() {
        if position.is_multiple_of(OPS_BETWEEN_CHECKS) {
            progress.check()?;
        }
        if position == flow.n_forward {
            pass.phase = Phase::Gradient;
            pass.pool.rebuild_index(&mut pass.lookup, Phase::Gradient);
        }
        pass.step(position, op, change, progress)?;
    }
    let (log, n_log_lines) = pass.log.map(Log::finish).unwrap_or_default();
    Ok(FlowAnswer {
        log,
        n_log_lines,
        ..pass.answer
    })
}

struct Pass<'a, 'f> {
    flow: &'f Flow<'a>,
    rules: &'static VersionRules,
    /// `None` without log.
    log: Option<Log>,
    /// By name: the last op at which it was found to be read or to be a result.
    marks: Vec<Option<usize>>,
    lookup: Lookup<'a>,
    naming: Naming,
    pool: Pool,
    phase: Phase,
    answer: FlowAnswer,
}

impl Pass<'_, '_> {
    fn step(
        &mut self,
        position: usize,
        op: &FlowOp,
        change: &Change,
        progress: &Progress<'_>,
    ) -> Result<(), Cancelled> {
        let is_over = self.answer.exception.is_some();
        if !is_over && !op.is_sub_block && self.pool.len() > 0 {
            self.reuse(position, op, progress)?;
        }
        let names: Vec<u32> = op.names.iter().map(|name| self.naming.name(*name)).collect();
        let is_changed = names != op.names;
        self.answer.names.push(is_changed.then_some(names));
        for name in &op.defs {
            self.naming.pass_write(*name);
        }
        for name in &change.dying {
            self.naming.death(*name);
        }
        for name in &change.born {
            self.naming.birth(*name);
        }
        if !is_over && !op.is_sub_block {
            self.fill(change);
        }
        Ok(())
    }

    /// The results of an op seek memory, one after another. Their names are resolved before the first.
    fn reuse(&mut self, position: usize, op: &FlowOp, progress: &Progress<'_>) -> Result<(), Cancelled> {
        for original in &op.uses {
            let name = self.naming.name(*original);
            self.marks[name as usize] = Some(position);
        }
        let mut defs: Vec<u32> = op.defs.clone();
        if defs.len() > 1 {
            // Renamed results moved behind the others, in the order of their renames.
            defs.sort_by_cached_key(|original| self.naming.last_rename(*original));
        }
        let mut results: Vec<u32> = Vec::with_capacity(defs.len());
        for original in defs {
            let name = self.naming.name(original);
            // Two originals may have one name by then.
            if self.marks[name as usize].replace(position) != Some(position) {
                results.push(name);
            }
        }
        results.retain(|name| self.lookup.valid(*name, self.phase).is_some());
        for name in results {
            if self.answer.exception.is_some() {
                break;
            }
            // With a log each of them can scan the whole pool.
            progress.check()?;
            self.look_for_memory(position, op, name);
        }
        Ok(())
    }

    fn look_for_memory(&mut self, position: usize, op: &FlowOp, name: u32) {
        let Some(found) = self.lookup.find(name, self.phase) else {
            return;
        };
        let scan = self.pool.scan(name, found);
        self.print_scan(op, name, found, scan);
        let Scan::Hit(place, entry) = scan else { return };
        let cache = self.lookup.find(entry.name, self.phase);
        self.pool.take(place, cache);
        self.naming.rename(name, entry.name);
        let (name, cache) = (self.flow.text(name), self.flow.text(entry.name));
        self.answer.renames.push(Rename {
            variable: name.into(),
            cache: cache.into(),
            block: op.block,
            op_index: op.index,
            cfg_op_index: u32::try_from(position).unwrap_or(u32::MAX),
        });
        if found.block != op.block {
            // The original then searches the variable in the op's own block.
            self.answer.exception = Some(format!("ValueError: var {name} not in this block"));
        }
    }

    /// Logs a scan from the front of the pool to its end.
    fn print_scan(&mut self, op: &FlowOp, name: u32, variable: Found, scan: Scan) {
        let Some(log) = &mut self.log else { return };
        let (flow, block, op) = (self.flow, op.block, op.index);
        let end = match scan {
            Scan::Hit(place, _) | Scan::SameName(place) => Some(place),
            Scan::Miss => None,
        };
        let mut n_before = 0;
        let before = self.pool.entries().take_while(|(place, _)| Some(**place) != end);
        for cache in before.map(|(_, entry)| entry.name) {
            n_before += 1;
            match self.lookup.find(cache, self.phase) {
                None => log.line(flow, block, op, [name, cache], || {
                    log::not_found(flow.text(cache)).into()
                }),
                Some(found) if self.rules.types == TypeRule::Equal && found.dtype != variable.dtype => {
                    log.line(flow, block, op, [name, cache], || OTHER_TYPE.into());
                }
                Some(_) => {}
            }
        }
        match scan {
            Scan::Hit(_, entry) => {
                let hit = Hit {
                    number: self.answer.renames.len(),
                    variable: (flow.text(name), self.lookup.dims(variable.shape)),
                    cache: (flow.text(entry.name), self.lookup.dims(entry.shape)),
                    position: n_before,
                    n_entries: self.pool.len(),
                };
                log.line(flow, block, op, [name, entry.name], || {
                    log::hit(self.rules.log, &hit).into()
                });
            }
            Scan::SameName(_) => log.line(flow, block, op, [name, name], || log::same_name(flow.text(name)).into()),
            Scan::Miss => {}
        }
    }

    /// Dying variables become free, in the order of names.
    fn fill(&mut self, change: &Change) {
        let mut dying: Vec<u32> = Vec::new();
        for original in &change.dying {
            if !self.naming.is_live(*original) {
                dying.push(self.naming.name(*original));
            }
        }
        dying.sort_unstable_by_key(|name| self.flow.text(*name));
        dying.dedup();
        for name in dying {
            let is_wanted = !self.rules.traits.wants_producer || self.naming.is_produced(name);
            if let Some(found) = self.lookup.valid(name, self.phase).filter(|_| is_wanted) {
                self.pool.fill(name, found);
            }
        }
    }
}
