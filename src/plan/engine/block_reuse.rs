//! Level 1: reuse of blocks over time. A buffer takes the last released block of its class, or a new one.
//!
//! Invariants: the members of a block are never live together and are in the order of their begins; graph inputs and
//! outputs have a block each, which is never reused. O(n log n).

use std::collections::BTreeMap;

use super::demand::{Demand, Request, Usage};

/// A request within a block. Steps are inclusive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The first step.
    pub(super) begin: u32,
    /// The last step.
    pub(super) end: u32,
    pub(super) request: u32,
}

/// A block within another. Steps are inclusive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    /// The first step on which its members live.
    pub(super) begin: u32,
    /// The last step.
    pub(super) end: u32,
    pub(super) block: u32,
    pub(super) is_single: bool,
}

/// Bytes that members use one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// By begin, disjoint in time.
    pub(super) members: Vec<Member>,
    /// Size of the largest member in whole units.
    pub(super) align: u64,
    pub(super) is_io: bool,
    pub(super) is_input: bool,
    pub(super) is_child: bool,
    pub(super) stream: u32,
    /// Blocks within this one, from its start.
    pub(super) children: Vec<Child>,
    /// The sum of the children's `align`.
    pub(super) used: u64,
}

/// Blocks of all levels.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub(super) all: Vec<Block>,
    /// Positions in `all`, in the order of the engine's list.
    pub(super) list: Vec<u32>,
    /// (child, parent), in chronological order.
    pub(super) nested: Vec<(u32, u32)>,
}

/// Classes are sizes in whole units.
pub(super) fn binary_blocks(demand: &Demand, reuses: bool) -> Blocks {
    blocks(demand, |bytes| reuses.then_some(bytes))
}

/// One class for all: a block is as large as its largest member.
pub(super) fn max_blocks(demand: &Demand) -> Blocks {
    blocks(demand, |_| Some(0))
}

/// `class` is `None` where nothing is reused.
fn blocks(demand: &Demand, class: impl Fn(u64) -> Option<u64>) -> Blocks {
    let mut blocks = Blocks::default();
    // Released blocks, by stream and class; the last one is taken first.
    let mut released: BTreeMap<(u32, u64), Vec<u32>> = BTreeMap::new();
    let mut block_of = vec![u32::MAX; demand.requests.len()];
    let mut deaths = demand.deaths.iter().peekable();
    for (number, request) in (0_u32..).zip(&demand.requests) {
        let key = class(request.bytes).map(|class| (request.stream, class));
        let key = key.filter(|_| request.usage == Usage::Feature);
        if let Some(key) = key {
            let is_over = |dead: &&u32| demand.requests[**dead as usize].end < request.begin;
            while let Some(dead) = deaths.next_if(is_over) {
                let gone = &demand.requests[*dead as usize];
                if let Some(class) = class(gone.bytes) {
                    let pile = released.entry((gone.stream, class)).or_default();
                    pile.push(block_of[*dead as usize]);
                }
            }
            if let Some(block) = released.get_mut(&key).and_then(Vec::pop) {
                let taken = &mut blocks.all[block as usize];
                taken.members.push(member(number, request));
                taken.align = taken.align.max(request.bytes);
                block_of[number as usize] = block;
                continue;
            }
        }
        block_of[number as usize] = u32::try_from(blocks.all.len()).unwrap_or(u32::MAX);
        blocks.list.push(block_of[number as usize]);
        blocks.all.push(Block {
            members: vec![member(number, request)],
            align: request.bytes,
            is_io: request.usage != Usage::Feature,
            is_input: request.usage == Usage::Input,
            stream: request.stream,
            ..Block::default()
        });
    }
    blocks
}

fn member(number: u32, request: &Request) -> Member {
    Member {
        begin: request.begin,
        end: request.end,
        request: number,
    }
}
