//! The steps on which a block of a taker's tree is free: neither its own members nor those of the blocks around it live on them.

use super::super::block_reuse::Member;

/// Steps without a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// Inclusive.
    pub(super) begin: u64,
    /// Exclusive.
    pub(super) end: u64,
}

impl Gap {
    pub(super) const ALWAYS: Self = Self {
        begin: 0,
        end: u64::MAX,
    };

    /// Whether it contains steps, both inclusive.
    pub(super) fn contains(self, begin: u32, end: u32) -> bool {
        self.begin <= begin.into() && u64::from(end) < self.end
    }
}

/// The gaps of all blocks of a tree, one block after the other.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    all: Vec<Gap>,
    longest: Vec<Member>,
}

/// Where the gaps of a block are.
pub(super) type GapRange = (u32, u32);

impl Gaps {
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn of(&self, (begin, end): GapRange) -> &[Gap] {
        &self.all[begin as usize..end as usize]
    }

    /// Adds the gaps of a block: those of the block around it, without the steps of its members. If there would be more than `most`,
    /// only the longest members are cut out. Then a gap may contain members, but every free step is in a gap. O(members + most^2).
    pub(super) fn add(&mut self, around: Option<GapRange>, members: &[Member], most: usize) -> GapRange {
        let begin = self.all.len();
        match around {
            None => self.all.push(Gap::ALWAYS),
            Some((from, to)) => self.all.extend_from_within(from as usize..to as usize),
        }
        // A member adds a gap at most.
        let n_members = most.saturating_sub(self.all.len() - begin).min(members.len());
        if n_members == members.len() {
            self.cut(begin, members);
        } else if n_members > 0 {
            let mut longest = std::mem::take(&mut self.longest);
            longest.clear();
            longest.extend_from_slice(members);
            longest.select_nth_unstable_by_key(n_members - 1, |member| std::cmp::Reverse(member.end - member.begin));
            self.cut(begin, &longest[..n_members]);
            self.longest = longest;
        }
        let narrow = |position| u32::try_from(position).unwrap_or(u32::MAX);
        (narrow(begin), narrow(self.all.len()))
    }

    /// Cuts members out of the gaps from a position on.
    fn cut(&mut self, first: usize, members: &[Member]) {
        for member in members {
            let (begin, end) = (u64::from(member.begin), u64::from(member.end) + 1);
            let mut at = first;
            while at < self.all.len() {
                let gap = self.all[at];
                if end <= gap.begin || gap.end <= begin {
                    at += 1;
                    continue;
                }
                let parts = [Gap { end: begin, ..gap }, Gap { begin: end, ..gap }];
                let parts = parts.into_iter().filter(|part| part.begin < part.end);
                let n_parts = parts.clone().count();
                self.all.splice(at..=at, parts);
                at += n_parts;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(lives: &[(u32, u32)]) -> Vec<Member> {
        let member = |(begin, end): &(u32, u32)| Member {
            begin: *begin,
            end: *end,
            request: 0,
        };
        lives.iter().map(member).collect()
    }

    fn steps(gaps: &[Gap]) -> Vec<(u64, u64)> {
        gaps.iter().map(|gap| (gap.begin, gap.end)).collect()
    }

    #[test]
    fn a_block_is_free_outside_of_its_members_and_of_those_around_it() {
        let mut gaps = Gaps::default();
        let taker = gaps.add(None, &members(&[(3, 5)]), 9);
        assert_eq!(steps(gaps.of(taker)), [(0, 3), (6, u64::MAX)]);
        let child = gaps.add(Some(taker), &members(&[(0, 0), (2, 2), (8, u32::MAX)]), 9);
        assert_eq!(steps(gaps.of(child)), [(1, 2), (6, 8), (1 << 32, u64::MAX)]);
        assert_eq!(steps(gaps.of(taker)), [(0, 3), (6, u64::MAX)]);
    }

    #[test]
    fn of_too_many_members_the_longest_count() {
        let mut gaps = Gaps::default();
        let lives = members(&[(1, 1), (3, 9), (11, 11), (13, 18)]);
        for (most, expected) in [
            (1, vec![(0, u64::MAX)]),
            (2, vec![(0, 3), (10, u64::MAX)]),
            (3, vec![(0, 3), (10, 13), (19, u64::MAX)]),
        ] {
            let range = gaps.add(None, &lives, most);
            assert_eq!(steps(gaps.of(range)), expected, "{most}");
        }
    }
}
