//! Many short lists in two arrays.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists<T> {
    /// The start of each list behind the first, and the end of the last.
    ends: Vec<u32>,
    members: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            ends: Vec::new(),
            members: Vec::new(),
        }
    }
}

impl<T: Copy> Lists<T> {
    /// From pairs of a list number and a member; keeps the order of members within each list. O(lists + pairs).
    pub fn of_pairs(n_lists: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        // One place behind, so that filling moves each start to the end of its list.
        let mut ends = vec![0_u32; n_lists + 1];
        for (list, _) in pairs.clone() {
            ends[list + 1] += 1;
        }
        for list in 0..n_lists {
            ends[list + 1] += ends[list];
        }
        // Placeholders; every place is written once below.
        let first = pairs.clone().next();
        let mut members = first.map_or_else(Vec::new, |(_, first)| vec![first; ends[n_lists] as usize]);
        for (list, member) in pairs {
            let slot = &mut ends[list];
            members[*slot as usize] = member;
            *slot += 1;
        }
        ends.truncate(n_lists);
        Self { ends, members }
    }
}

impl<T> Lists<T> {
    /// Appends a list.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.members.extend(list);
        self.ends.push(u32::try_from(self.members.len()).unwrap_or(u32::MAX));
    }

    /// The number of lists.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Empty for an unknown number. O(1).
    pub fn of(&self, list: usize) -> &[T] {
        let start = list
            .checked_sub(1)
            .map_or(Some(0), |before| self.ends.get(before).copied());
        let bounds = start.zip(self.ends.get(list).copied());
        let members = bounds.and_then(|(start, end)| self.members.get(start as usize..end as usize));
        members.unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_in_their_lists() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (4, 'd'), (0, 'e'), (2, 'f')];
        let lists = Lists::of_pairs(5, pairs.into_iter());
        let all: Vec<String> = (0..5).map(|list| lists.of(list).iter().collect()).collect();
        assert_eq!(all, ["be", "", "acf", "", "d"]);
        let mut pushed = Lists::default();
        for list in &all {
            pushed.push(list.chars());
        }
        assert_eq!(pushed, lists);
        for missing in [5, usize::MAX] {
            assert!(lists.of(missing).is_empty());
        }
        assert!(Lists::<char>::default().of(0).is_empty());
    }
}
