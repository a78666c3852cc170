//! The oracle of the tests: every offer is made, one by one, in the plainest form. O(blocks^2) and more.

use super::super::block_reuse::{Block, Blocks, Child, Member};
use super::super::demand::Demand;
use std::cmp::Reverse;

/// Nests blocks; the list ends up in its final order.
pub(super) fn nest(demand: &Demand, blocks: &mut Blocks) {
    let mut list = std::mem::take(&mut blocks.list);
    sort(&mut list, blocks);
    let mut taker_at = 0;
    while taker_at < list.len() {
        let taker = list[taker_at];
        let mut at = if is_open(blocks, taker) {
            taker_at + 1
        } else {
            list.len()
        };
        while at < list.len() {
            let offered = list[at];
            if is_open(blocks, offered) && block(blocks, offered).stream == block(blocks, taker).stream {
                let first_clone = blocks.all.len();
                is_placed(demand, blocks, offered, taker);
                let clones: Vec<u32> = (first_clone..blocks.all.len()).map(narrow).collect();
                insert(&mut list, at + 1, &clones, taker, blocks);
            }
            at += 1;
        }
        taker_at += 1;
    }
    blocks.list = list;
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("few blocks")
}

fn block(blocks: &Blocks, number: u32) -> &Block {
    &blocks.all[number as usize]
}

fn is_open(blocks: &Blocks, number: u32) -> bool {
    !block(blocks, number).is_child && !block(blocks, number).is_io
}

fn sort(list: &mut [u32], blocks: &Blocks) {
    list.sort_by_key(|number| {
        let Block { align, members, .. } = block(blocks, *number);
        (
            Reverse(*align),
            members.len(),
            members.first().map(|member| member.begin),
        )
    });
}

/// Puts what was split off behind the offered block, and sorts from there on where the order is broken.
fn insert(list: &mut Vec<u32>, behind: usize, clones: &[u32], taker: u32, blocks: &Blocks) {
    let align = |number: &u32| block(blocks, *number).align;
    let least = clones.iter().chain([&taker]).map(align).min();
    let is_sorted = list.get(behind).map(align) <= least;
    list.splice(behind..behind, clones.iter().copied());
    if !clones.is_empty() && !is_sorted {
        sort(&mut list[behind..], blocks);
    }
}

/// Offers a block to a taker: first splits off what meets the taker's members, then asks the taker's children, then looks whether they
/// leave room.
fn is_placed(demand: &Demand, blocks: &mut Blocks, offered: u32, taker: u32) -> bool {
    let into = block(blocks, taker);
    let meets = |member: &Member| {
        let mut others = into.members.iter();
        others.any(|other| other.begin <= member.end && member.begin <= other.end)
    };
    let members = block(blocks, offered).members.iter().copied();
    let (off, kept): (Vec<Member>, Vec<Member>) = members.partition(meets);
    if kept.is_empty() {
        return false;
    }
    if !off.is_empty() {
        let stream = into.stream;
        let largest = |members: &[Member]| {
            let bytes = members.iter();
            bytes.map(|member| demand.requests[member.request as usize].bytes).max()
        };
        let (off_align, kept_align) = (largest(&off).unwrap_or(0), largest(&kept).unwrap_or(0));
        let rest = &mut blocks.all[offered as usize];
        (rest.members, rest.align) = (kept, kept_align);
        blocks.all.push(Block {
            align: off_align,
            members: off,
            stream,
            ..Block::default()
        });
    }
    for child in 0..block(blocks, taker).children.len() {
        let child = block(blocks, taker).children[child].block;
        if is_placed(demand, blocks, offered, child) {
            return true;
        }
    }
    let Block { align, members, .. } = block(blocks, offered);
    let (align, is_single) = (*align, members.len() == 1);
    let (begin, end) = (members[0].begin, members[members.len() - 1].end);
    let spare = if align == demand.unit { 0 } else { demand.unit };
    let into = &mut blocks.all[taker as usize];
    if into.used + align > into.align + spare {
        return false;
    }
    into.used += align;
    into.children.push(Child {
        begin,
        end,
        block: offered,
        is_single,
    });
    blocks.all[offered as usize].is_child = true;
    blocks.nested.push((offered, taker));
    true
}
