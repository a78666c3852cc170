//! Dependencies of storages: the constant part of a tape in flat vectors.
//!
//! In: a [`Tape`]. Out: for each op the storages that it reads and writes (once each, without those of the caller), for
//! each storage the ops that write it (its root's op and those of its views) and that read it, in the order of ops.
//! Storages are numbered by their root tensor. O(tape), for any tape.

use std::cell::OnceCell;

use highwater_model::workload::Tape;

/// Lists of numbers, concatenated.
#[derive(Debug)]
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    pub(super) fn of(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.items[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// For each op the storages of some of its tensors, once each.
    fn roots<'a>(tape: &'a Tape, tensors: impl Fn(usize) -> &'a [u32]) -> Self {
        let mut seen = vec![u32::MAX; tape.tensors.len()];
        let mut starts = Vec::with_capacity(tape.ops.len() + 1);
        let mut items = Vec::new();
        starts.push(0);
        for op in 0..tape.ops.len() {
            for tensor in tensors(op) {
                let root = tape.tensors[*tensor as usize].storage;
                if !tape.tensors[root as usize].is_external && seen[root as usize] != number(op) {
                    seen[root as usize] = number(op);
                    items.push(root);
                }
            }
            starts.push(number(items.len()));
        }
        Self { starts, items }
    }

    /// For each storage the ops whose list contains it, in order.
    fn transposed(&self, n_storages: usize) -> Self {
        let mut starts = vec![0_u32; n_storages + 1];
        for item in &self.items {
            starts[*item as usize + 1] += 1;
        }
        for storage in 0..n_storages {
            starts[storage + 1] += starts[storage];
        }
        let mut next = starts.clone();
        let mut items = vec![0; self.items.len()];
        for op in 0..self.starts.len() - 1 {
            for item in self.of(number(op)) {
                let place = &mut next[*item as usize];
                items[*place as usize] = number(op);
                *place += 1;
            }
        }
        Self { starts, items }
    }
}

/// What heuristics with walks read besides the writes.
#[derive(Debug)]
pub(super) struct Links {
    /// By op.
    pub(super) reads: Lists,
    /// By storage.
    pub(super) makers: Lists,
    /// By storage.
    pub(super) readers: Lists,
}

#[derive(Debug)]
pub(super) struct Wiring {
    /// By op.
    pub(super) writes: Lists,
    links: OnceCell<Links>,
}

impl Wiring {
    pub(super) fn new(tape: &Tape) -> Self {
        Self {
            writes: Lists::roots(tape, |op| &tape.ops[op].outputs),
            links: OnceCell::new(),
        }
    }

    /// Made at the first call.
    pub(super) fn links(&self, tape: &Tape) -> &Links {
        self.links.get_or_init(|| {
            let reads = Lists::roots(tape, |op| &tape.ops[op].inputs);
            Links {
                makers: self.writes.transposed(tape.tensors.len()),
                readers: reads.transposed(tape.tensors.len()),
                reads,
            }
        })
    }
}

/// A count of a tape: tensors, ops and arguments are numbered with 32 bits.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
