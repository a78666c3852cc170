//! One process while its lines are read.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::fact::{At, Fact, ReportKind, Says};
use highwater_model::workload::{LoggedPlace, LoggedStatement, OpKinds, PolicyFrom};

/// Statements of one process that are kept, the first ones.
const MOST_STATEMENTS: usize = 200;

/// Devices that are told apart; more are no device of one process.
const MOST_DEVICES: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) first: Option<At>,
    pub(super) has_records: bool,
    pub(super) has_info: bool,
    pub(super) device_total: Option<u64>,
    pub(super) policy: Option<(u64, PolicyFrom)>,
    pub(super) devices: BTreeSet<u64>,
    pub(super) plans: IndexMap<String, IndexMap<String, LoggedPlace>>,
    pub(super) kinds: OpKinds,
    pub(super) facts: Vec<Fact>,
    pub(super) damaged: u64,
    pub(super) repeated: u64,
    /// The pool whose request was kept last: the others of a row tell nothing new.
    pub(super) asked_pool: Option<String>,
    pub(super) statements: Vec<LoggedStatement>,
    pub(super) settings: IndexMap<String, String>,
    pub(super) versions: IndexMap<String, String>,
}

impl Draft {
    /// Takes note of a line; lines of one file come in their order.
    pub(super) fn seen(&mut self, at: At, is_by_time: bool) {
        let is_first = |first: At| is_by_time && at.by_time() < first.by_time();
        if self.first.is_none_or(is_first) {
            self.first = Some(at);
        }
    }

    pub(super) fn push(&mut self, at: At, thread: Option<u64>, says: Says) {
        self.facts.push(Fact { at, thread, says });
    }

    pub(super) fn state(&mut self, statement: LoggedStatement) {
        if self.statements.len() < MOST_STATEMENTS && !self.statements.contains(&statement) {
            self.statements.push(statement);
        }
    }

    /// Whether text of a terminal has figures of memory for it: programs that print such sentences have none.
    pub(super) fn states_memory(&self) -> bool {
        let is_told = |fact: &Fact| match &fact.says {
            Says::Report(report) => report.is_told || report.kind == ReportKind::Code,
            _ => false,
        };
        !self.statements.is_empty() || self.facts.iter().any(is_told)
    }

    pub(super) fn device(&mut self, device: Option<u64>) {
        if self.devices.len() < MOST_DEVICES {
            self.devices.extend(device);
        }
    }

    /// What a summary says is in force; an option was only asked for.
    pub(super) fn policy(&mut self, value: Option<u64>, from: PolicyFrom) {
        let Some(value) = value else { return };
        // The value 1 is an older name of 2.
        let value = if value == 1 { 2 } else { value };
        let is_proven = matches!(self.policy, Some((_, PolicyFrom::Summary)));
        if from == PolicyFrom::Summary || !is_proven {
            self.policy = Some((value, from));
        }
    }
}
