//! Who lives when in the tree of a taker: members by request, which are in the order of their begins.
//!
//! A segment tree of ends: setting one is O(log n), listing k members that live in a range of steps O(k log n).

use super::super::block_reuse::Member;
use super::super::demand::{Demand, Usage};

#[derive(Debug)]
pub(super) struct Lives {
    /// By node of the tree: the largest end, exclusive; 0 where the request is not in the tree.
    ends: Vec<u64>,
    /// By request: its first step; of graph inputs and outputs, which are in no tree, that of the request before.
    begins: Vec<u32>,
    /// The block of each request that is in the tree.
    owners: Vec<u32>,
    /// Requests in the tree.
    present: Vec<u32>,
    n_leaves: usize,
    /// Reused memory: nodes with their first leaf and number of leaves.
    waiting: Vec<(usize, usize, usize)>,
}

impl Lives {
    pub(super) fn new(demand: &Demand) -> Self {
        let n_leaves = demand.requests.len().next_power_of_two();
        let mut last = 0;
        let begins = demand.requests.iter().map(|request| {
            if request.usage == Usage::Feature {
                last = request.begin;
            }
            last
        });
        Self {
            ends: vec![0; 2 * n_leaves],
            begins: begins.collect(),
            owners: vec![0; demand.requests.len()],
            present: Vec::new(),
            n_leaves,
            waiting: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        while let Some(request) = self.present.pop() {
            self.set(request, 0);
        }
    }

    pub(super) fn add(&mut self, member: &Member, block: u32) {
        self.owners[member.request as usize] = block;
        self.present.push(member.request);
        self.set(member.request, u64::from(member.end) + 1);
    }

    fn set(&mut self, request: u32, end: u64) {
        let mut node = self.n_leaves + request as usize;
        self.ends[node] = end;
        while node > 1 {
            node /= 2;
            self.ends[node] = self.ends[2 * node].max(self.ends[2 * node + 1]);
        }
    }

    /// Appends the blocks of members that live while a member does; `false` where there would be more than `most` in all.
    pub(super) fn meeting(&mut self, member: &Member, most: usize, found: &mut Vec<u32>) -> bool {
        let behind = self.begins.partition_point(|begin| *begin <= member.end);
        self.waiting.clear();
        self.waiting.push((1, 0, self.n_leaves));
        while let Some((node, first, length)) = self.waiting.pop() {
            if first >= behind || self.ends[node] <= u64::from(member.begin) {
                continue;
            }
            if length == 1 {
                if found.len() == most {
                    return false;
                }
                found.push(self.owners[first]);
                continue;
            }
            let half = length / 2;
            self.waiting.push((2 * node + 1, first + half, half));
            self.waiting.push((2 * node, first, half));
        }
        true
    }
}
