//! How many ops every graph would have with all calls inlined, known before anything is copied.
//!
//! A function that calls another twice doubles it, so a few hundred bytes of functions can expand to more ops than fit in
//! memory. Calls of such functions are not inlined; functions that only they call are not copied either.

use std::collections::{BTreeMap, BTreeSet};

use highwater_model::workload::{CallOrder, GraphEntry, UseKind};

#[derive(Debug)]
pub(super) struct Totals {
    /// By graph that fits.
    fitting: BTreeMap<u32, u64>,
    /// Graphs whose inlined form is needed.
    needed: BTreeSet<u32>,
}

impl Totals {
    /// O(graphs + uses), times a logarithm.
    pub(super) fn new(
        entry: &GraphEntry,
        order: &CallOrder,
        by_graph: &BTreeMap<u32, Vec<usize>>,
        max_ops: u64,
    ) -> Self {
        let mut fitting: BTreeMap<u32, u64> = BTreeMap::new();
        let uses = |number: &u32| by_graph.get(number).map_or(&[][..], Vec::as_slice).iter();
        for number in &order.order {
            let own = entry
                .graph_by_number(*number)
                .map_or(0, |graph| graph.ops().len() as u64);
            let mut called = uses(number).filter(|position| !order.is_circular[**position]);
            let total = called.try_fold(own, |sum, position| {
                let one = &entry.uses[*position];
                let of_body = if one.kind == UseKind::Call {
                    *fitting.get(&one.body)?
                } else {
                    0
                };
                sum.checked_add(of_body).filter(|sum| *sum <= max_ops)
            });
            if let Some(total) = total {
                fitting.insert(*number, total);
            }
        }
        let run = entry.uses.iter().filter(|one| one.kind != UseKind::Call);
        // What nothing uses, such as a further signature, is there to be chosen.
        let has_user: BTreeSet<u32> = entry.uses.iter().map(|one| one.body).collect();
        let unused = order.order.iter().copied().filter(|number| !has_user.contains(number));
        let mut waiting: Vec<u32> = run.map(|one| one.body).chain([0]).chain(unused).collect();
        let mut needed = BTreeSet::new();
        while let Some(number) = waiting.pop() {
            if needed.insert(number) {
                let called = uses(&number).map(|position| entry.uses[*position].body);
                waiting.extend(called.filter(|body| fitting.contains_key(body)));
            }
        }
        Self { fitting, needed }
    }

    /// Whether calls of a graph may be inlined.
    pub(super) fn fits(&self, number: u32) -> bool {
        self.fitting.contains_key(&number)
    }

    pub(super) fn needs(&self, number: u32) -> bool {
        self.needed.contains(&number)
    }
}
