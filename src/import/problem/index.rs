//! Finds buffers by id, and duplicate ids. O(n log n) to build, O(log n) per search.

use highwater_model::workload::Names;

/// Hashes and positions, sorted by hash and then id. Ids are compared only where hashes are equal, so long names cost
/// no more than numbers.
pub(super) struct Index(Vec<(u64, u32)>);

impl Index {
    pub(super) fn new(ids: &Names) -> Self {
        let mut order: Vec<(u64, u32)> = (0..u32::try_from(ids.len()).unwrap_or(u32::MAX))
            .map(|position| (hash(ids.get(position as usize)), position))
            .collect();
        order.sort_unstable_by(|(a, one), (b, other)| {
            let by_id = || ids.get(*one as usize).cmp(ids.get(*other as usize));
            a.cmp(b).then_with(by_id).then(one.cmp(other))
        });
        Self(order)
    }

    /// Two positions of one id, the smallest second one.
    pub(super) fn duplicate(&self, ids: &Names) -> Option<(usize, usize)> {
        let is_same =
            |pair: &&[(u64, u32)]| pair[0].0 == pair[1].0 && ids.get(pair[0].1 as usize) == ids.get(pair[1].1 as usize);
        let first = self.0.windows(2).filter(is_same).min_by_key(|pair| pair[1].1)?;
        Some((first[0].1 as usize, first[1].1 as usize))
    }

    pub(super) fn find(&self, ids: &Names, id: &str) -> Option<u32> {
        let wanted = (hash(id), id);
        let found = self
            .0
            .binary_search_by(|(hash, position)| (*hash, ids.get(*position as usize)).cmp(&wanted));
        found.ok().map(|rank| self.0[rank].1)
    }
}

/// The FNV-1a hash: any will do, as ids of equal hashes are compared.
fn hash(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
