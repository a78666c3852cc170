//! The op that ran on a thread at a time, after which a block is named.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};

use super::event::MemoryEvent;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{RecordedName, RecordedNames};

const ITEMS_BETWEEN_CHECKS: usize = 1 << 14;

#[derive(Debug, Default)]
pub(super) struct Ops {
    /// Threads by the texts of process and thread.
    threads: IndexSet<(Box<str>, Box<str>)>,
    last_thread: u32,
    names: RecordedNames,
    rows: Vec<Op>,
    /// Nanoseconds of the kernels of an op, by its external number.
    kernels: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) thread: u32,
    pub(super) name: RecordedName,
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number by which kernels name it; 0 without one.
    pub(super) external: u64,
}

impl Ops {
    pub(super) fn thread(&mut self, process: &str, thread: &str) -> u32 {
        let last = self.threads.get_index(self.last_thread as usize);
        if last.is_some_and(|last| *last.0 == *process && *last.1 == *thread) {
            return self.last_thread;
        }
        let position = self.threads.insert_full((process.into(), thread.into())).0;
        self.last_thread = u32::try_from(position).unwrap_or(u32::MAX);
        self.last_thread
    }

    /// One more op, from its start to its end in nanoseconds.
    pub(super) fn push(&mut self, thread: u32, name: &str, (start, end): (u64, u64), external: u64) {
        let name = self.names.intern(name);
        self.rows.push(Op {
            thread,
            name,
            start,
            end,
            external,
        });
    }

    /// A kernel that an op launched.
    pub(super) fn push_kernel(&mut self, external: u64, time: u64) {
        let sum = self.kernels.entry(external).or_default();
        *sum = sum.saturating_add(time);
    }

    /// By thread and start, as [`Self::innermost`] leaves them.
    pub(super) fn sorted(&self) -> &[Op] {
        &self.rows
    }

    /// The sum of the kernel times of the ops before each, and of all; `None` where no kernel was recorded.
    pub(super) fn kernel_times(&self) -> Option<Vec<u64>> {
        if self.kernels.is_empty() {
            return None;
        }
        let mut sums = Vec::with_capacity(self.rows.len() + 1);
        let mut sum = 0_u64;
        for op in &self.rows {
            sums.push(sum);
            let own = self.kernels.get(&op.external).copied().unwrap_or(0);
            sum = sum.saturating_add(own);
        }
        sums.push(sum);
        Some(sums)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn name(&self, name: RecordedName) -> &str {
        self.names.get(name)
    }

    /// For each event the name of the innermost op that encloses it on its thread: the one that began last, of equal
    /// beginnings the one that ends first.
    pub(super) fn innermost(
        &mut self,
        events: &[MemoryEvent],
        progress: &Progress<'_>,
    ) -> Result<Vec<Option<RecordedName>>, Cancelled> {
        // Equal ops keep the order of the file.
        let keys = (0_u32..).zip(&self.rows);
        let keys = keys.map(|(row, op)| (op.thread, op.start, Reverse(op.end), row));
        let keys = progress.sorted(keys.collect())?;
        self.rows = keys.iter().map(|(.., row)| self.rows[*row as usize]).collect();
        let order = (0_u32..)
            .zip(events)
            .map(|(position, event)| (event.thread, event.at, position));
        let order = progress.sorted(order.collect())?;
        let mut found = vec![None; events.len()];
        let mut by_thread: IndexMap<u32, usize> = IndexMap::new();
        for (position, op) in self.rows.iter().enumerate() {
            if position.is_multiple_of(ITEMS_BETWEEN_CHECKS) {
                progress.check()?;
            }
            by_thread.entry(op.thread).or_insert(position);
        }
        let mut open: Vec<Op> = Vec::new();
        let (mut thread, mut next) = (u32::MAX, 0);
        for (done, (_, _, event)) in order.into_iter().enumerate() {
            if done.is_multiple_of(ITEMS_BETWEEN_CHECKS) {
                progress.check()?;
            }
            let at = events[event as usize];
            if at.thread != thread {
                thread = at.thread;
                open.clear();
                next = by_thread.get(&thread).copied().unwrap_or(self.rows.len());
            }
            while let Some(op) = self
                .rows
                .get(next)
                .filter(|op| op.thread == thread && op.start <= at.at)
            {
                // Ops of a thread lie within each other, so what ended before this one began is over.
                while open.last().is_some_and(|last| last.end < op.start) {
                    open.pop();
                }
                open.push(*op);
                next += 1;
            }
            while open.last().is_some_and(|last| last.end < at.at) {
                open.pop();
            }
            found[event as usize] = open.last().map(|op| op.name);
        }
        Ok(found)
    }
}
