//! Current names of variables: renames without touching the ops.
//!
//! Renaming x to c from op i on changes every later mention of each variable named x at that point. So original names
//! form classes that only grow; a class has one current name, and counters that add up in a merge.
//!
//! The original keeps the results of an op in a list: renaming one removes it and appends the new name, unless the list
//! has it. So the order of results depends on when each original was renamed last, which the classes know as well.

#[derive(Clone, Debug)]
pub(super) struct Naming {
    /// Union-find parents by original name; itself at the root.
    parents: Vec<u32>,
    /// By original below a root: the rename that put it there.
    joined_at: Vec<u32>,
    /// By original: the last rename of the class that it was the root of, counted from 1; 0 where there was none.
    renamed_at: Vec<u32>,
    n_renames: u32,
    /// By root: the current name of the class.
    names: Vec<u32>,
    /// By name: the root of the class with that name; `None` where the class has been renamed.
    roots: Vec<Option<u32>>,
    /// By root: originals of the class that are live before the current op.
    live: Vec<u32>,
    /// By root: writes of the class after the current op.
    writes_to_come: Vec<u32>,
    /// By name: whether an earlier op writes it.
    is_written: Vec<bool>,
}

impl Naming {
    /// Every variable has its own name.
    pub(super) fn new(n_names: usize) -> Self {
        let n_names = u32::try_from(n_names).unwrap_or(u32::MAX);
        Self {
            parents: (0..n_names).collect(),
            joined_at: vec![0; n_names as usize],
            renamed_at: vec![0; n_names as usize],
            n_renames: 0,
            names: (0..n_names).collect(),
            roots: (0..n_names).map(Some).collect(),
            live: vec![0; n_names as usize],
            writes_to_come: vec![0; n_names as usize],
            is_written: vec![false; n_names as usize],
        }
    }

    fn root(&mut self, original: u32) -> usize {
        let mut at = original as usize;
        while self.parents[at] as usize != at {
            let above = self.parents[at] as usize;
            if self.parents[above] as usize != above {
                // What happened to the class above since they joined happened to this original.
                self.renamed_at[at] = self.renamed_since(at, above);
                self.joined_at[at] = self.joined_at[above];
                self.parents[at] = self.parents[above];
            }
            at = above;
        }
        at
    }

    /// The last rename of an original whose parent is `above`, as far as these two know.
    fn renamed_since(&self, original: usize, above: usize) -> u32 {
        if self.renamed_at[above] > self.joined_at[original] {
            self.renamed_at[above]
        } else {
            self.renamed_at[original]
        }
    }

    /// The last rename that changed mentions of an original, counted from 1; 0 where there was none. Of originals with
    /// one name, the smallest counts: that one was first in its list.
    pub(super) fn last_rename(&mut self, original: u32) -> u32 {
        let root = self.root(original);
        let mut at = original as usize;
        let mut last = self.renamed_at[at];
        while at != root {
            let above = self.parents[at] as usize;
            if self.renamed_at[above] > self.joined_at[at] {
                last = self.renamed_at[above];
            }
            at = above;
        }
        last
    }

    /// The name of an original from the current op on.
    pub(super) fn name(&mut self, original: u32) -> u32 {
        let root = self.root(original);
        self.names[root]
    }

    /// Renames the class named `name` to `cache`.
    pub(super) fn rename(&mut self, name: u32, cache: u32) {
        let Some(root) = self.roots[name as usize].take() else {
            return;
        };
        self.n_renames += 1;
        self.renamed_at[root as usize] = self.n_renames;
        let root = match self.roots[cache as usize] {
            Some(other) => self.join(root, other),
            None => root,
        };
        self.names[root as usize] = cache;
        self.roots[cache as usize] = Some(root);
    }

    /// Merges two classes; the root is the one with more future writes, which keeps paths short enough.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let (root, child) = if self.writes_to_come[a as usize] > self.writes_to_come[b as usize] {
            (a, b)
        } else {
            (b, a)
        };
        self.parents[child as usize] = root;
        self.joined_at[child as usize] = self.n_renames;
        self.live[root as usize] += self.live[child as usize];
        self.writes_to_come[root as usize] += self.writes_to_come[child as usize];
        root
    }

    /// An original becomes live (before the first op, or after the current one).
    pub(super) fn birth(&mut self, original: u32) {
        let root = self.root(original);
        self.live[root] += 1;
    }

    pub(super) fn death(&mut self, original: u32) {
        let root = self.root(original);
        self.live[root] = self.live[root].saturating_sub(1);
    }

    /// Whether a variable of an original's class is live.
    pub(super) fn is_live(&mut self, original: u32) -> bool {
        let root = self.root(original);
        self.live[root] > 0
    }

    /// Counts a future write of an original.
    pub(super) fn write_ahead(&mut self, original: u32) {
        self.writes_to_come[original as usize] += 1;
    }

    /// Moves past a write of an original.
    pub(super) fn pass_write(&mut self, original: u32) {
        let root = self.root(original);
        self.writes_to_come[root] = self.writes_to_come[root].saturating_sub(1);
        let name = self.names[root];
        self.is_written[name as usize] = true;
    }

    /// Whether an op writes a name: an earlier one, or a later one by current names.
    pub(super) fn is_produced(&self, name: u32) -> bool {
        let to_come = self.roots[name as usize].is_some_and(|root| self.writes_to_come[root as usize] > 0);
        to_come || self.is_written[name as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rename_of_an_original_counts_its_own_class_alone() {
        let mut naming = Naming::new(5);
        let mut renamed = |name, cache| {
            naming.rename(name, cache);
            [0, 1, 2, 3].map(|original| naming.last_rename(original))
        };
        assert_eq!(renamed(0, 1), [1, 0, 0, 0]);
        assert_eq!(renamed(1, 2), [2, 2, 0, 0]);
        assert_eq!(renamed(3, 1), [2, 2, 0, 3], "no variable is called 1 any more");
        assert_eq!(renamed(2, 3), [4, 4, 4, 3]);
        assert_eq!(renamed(1, 3), [4, 4, 4, 5]);
        assert_eq!(renamed(3, 4), [6, 6, 6, 6]);
        assert_eq!([0, 1, 2, 3, 4].map(|original| naming.name(original)), [4; 5]);
        assert_eq!(naming.last_rename(4), 0);
    }
}
