//! Current names of variables: renames without touching the ops.
//!
//! Renaming x to c from op i on changes every later mention of each variable named x at that point. So original names
//! form classes that only grow; a class has one current name, and counters that add up in a merge.

#[derive(Clone, Debug)]
pub(super) struct Naming {
    /// Union-find parents by original name; itself at the root.
    parents: Vec<u32>,
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
            self.parents[at] = self.parents[above];
            at = above;
        }
        at
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
