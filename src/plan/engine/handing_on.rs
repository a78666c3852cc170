//! Level 1: blocks over time. A buffer takes the block of its class that was given back last, or a new one.
//!
//! Invariants: the members of a block never live at once and stand in the order of their begins; graph inputs and
//! outputs have a block each, which is never handed on. O(n log n).

use std::collections::BTreeMap;

use super::demand::{Demand, Request, Use};

/// A request within a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The first step on which it is held.
    pub(super) begin: u32,
    /// The last one.
    pub(super) end: u32,
    pub(super) request: u32,
}

/// A block within another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    /// The first step on which its members live.
    pub(super) begin: u32,
    /// The last one.
    pub(super) end: u32,
    pub(super) block: u32,
    /// Whether it has one member.
    pub(super) is_single: bool,
}

/// Bytes that are handed on from member to member.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// In the order of their begins, none living with another.
    pub(super) members: Vec<Member>,
    /// Whole units of the largest member.
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

/// Blocks, and how the levels left them.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub(super) all: Vec<Block>,
    /// Positions in `all`: the list that the engine keeps.
    pub(super) list: Vec<u32>,
    /// Children with their parents, in the order in which they became so.
    pub(super) nested: Vec<(u32, u32)>,
}

/// Classes are sizes in whole units.
pub(super) fn binary_blocks(demand: &Demand, reuses: bool) -> Blocks {
    blocks(demand, |bytes| reuses.then_some(bytes))
}

/// One class for all: every block is as large as the largest buffer that it may ever have to hold.
pub(super) fn max_blocks(demand: &Demand) -> Blocks {
    blocks(demand, |_| Some(0))
}

/// `class` is `None` where nothing is handed on.
fn blocks(demand: &Demand, class: impl Fn(u64) -> Option<u64>) -> Blocks {
    let mut blocks = Blocks::default();
    // What was given back, by stream and class; the last is taken first.
    let mut released: BTreeMap<(u32, u64), Vec<u32>> = BTreeMap::new();
    let mut block_of = vec![u32::MAX; demand.requests.len()];
    let mut deaths = demand.deaths.iter().peekable();
    for (number, request) in (0_u32..).zip(&demand.requests) {
        let key = class(request.bytes).map(|class| (request.stream, class));
        let key = key.filter(|_| request.usage == Use::Feature);
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
            is_io: request.usage != Use::Feature,
            is_input: request.usage == Use::Input,
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
