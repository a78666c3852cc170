//! Many short lists in two arrays.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lists<T> {
    /// The start of each list, and the end of the last.
    starts: Box<[u32]>,
    members: Box<[T]>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            starts: Box::default(),
            members: Box::default(),
        }
    }
}

impl<T: Copy> Lists<T> {
    /// From pairs of a list number and a member; keeps the order of members within each list. O(lists + pairs).
    pub(super) fn new(n_lists: usize, pairs: &[(usize, T)]) -> Self {
        let mut starts = vec![0_u32; n_lists + 1];
        for (list, _) in pairs {
            starts[list + 1] += 1;
        }
        for position in 1..starts.len() {
            starts[position] += starts[position - 1];
        }
        let mut fill = starts.clone();
        // Placeholders; every place is written once below.
        let mut members: Vec<T> = pairs.iter().map(|(_, member)| *member).collect();
        for (list, member) in pairs {
            let slot = &mut fill[*list];
            members[*slot as usize] = *member;
            *slot += 1;
        }
        Self {
            starts: starts.into_boxed_slice(),
            members: members.into_boxed_slice(),
        }
    }

    /// Empty for an unknown number. O(1).
    pub(super) fn of(&self, list: usize) -> &[T] {
        let bounds = list.checked_add(2).and_then(|end| self.starts.get(list..end));
        let members = bounds.and_then(|bounds| self.members.get(bounds[0] as usize..bounds[1] as usize));
        members.unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_in_their_lists() {
        let lists = Lists::new(5, &[(2, 'a'), (0, 'b'), (2, 'c'), (4, 'd'), (0, 'e'), (2, 'f')]);
        let all: Vec<String> = (0..5).map(|list| lists.of(list).iter().collect()).collect();
        assert_eq!(all, ["be", "", "acf", "", "d"]);
        for missing in [5, usize::MAX] {
            assert!(lists.of(missing).is_empty());
        }
        assert!(Lists::<char>::default().of(0).is_empty());
    }
}
