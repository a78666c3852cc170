//! Dependencies of storages: the constant part of a tape in flat vectors.
//!
//! In: a [`Tape`]. Out: for each op the storages that it reads and writes (once each, without those of the caller), for
//! each storage the ops that write it (its root's op and those of its views) and that read it, in the order of ops.
//! Storages are numbered by their root tensor. O(tape), for any tape.

use std::cell::OnceCell;

use highwater_model::lists::Lists;
use highwater_model::workload::Tape;

/// For each op the storages of some of its tensors, once each.
fn roots<'a>(tape: &'a Tape, tensors: impl Fn(usize) -> &'a [u32]) -> Lists<u32> {
    let mut seen = vec![u32::MAX; tape.tensors.len()];
    let mut lists = Lists::default();
    for op in 0..tape.ops.len() {
        let roots = tensors(op).iter().map(|tensor| tape.tensors[*tensor as usize].storage);
        lists.push(roots.filter(|root| {
            let is_new = seen[*root as usize] != number(op);
            seen[*root as usize] = number(op);
            is_new && !tape.tensors[*root as usize].is_external
        }));
    }
    lists
}

/// For each storage the ops whose list contains it, in order.
fn transposed(lists: &Lists<u32>, n_storages: usize) -> Lists<u32> {
    let items = |op| lists.of(op).iter().map(move |item| (*item as usize, number(op)));
    Lists::of_pairs(n_storages, (0..lists.len()).flat_map(items))
}

/// What heuristics with walks read besides the writes.
#[derive(Debug)]
pub(super) struct Links {
    /// By op.
    pub(super) reads: Lists<u32>,
    /// By storage.
    pub(super) makers: Lists<u32>,
    /// By storage.
    pub(super) readers: Lists<u32>,
}

#[derive(Debug)]
pub(super) struct Wiring {
    /// By op.
    pub(super) writes: Lists<u32>,
    links: OnceCell<Links>,
}

impl Wiring {
    pub(super) fn new(tape: &Tape) -> Self {
        Self {
            writes: roots(tape, |op| &tape.ops[op].outputs),
            links: OnceCell::new(),
        }
    }

    /// Made at the first call.
    pub(super) fn links(&self, tape: &Tape) -> &Links {
        self.links.get_or_init(|| {
            let reads = roots(tape, |op| &tape.ops[op].inputs);
            Links {
                makers: transposed(&self.writes, tape.tensors.len()),
                readers: transposed(&reads, tape.tensors.len()),
                reads,
            }
        })
    }
}

/// A count of a tape: tensors, ops and arguments are numbered with 32 bits.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
