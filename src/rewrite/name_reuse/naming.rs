//! What names are called from the current op on: renames without touching the ops.
//!
//! Renaming x to c from op i on changes every later mention of whatever is called x by then. So the original names fall
//! into classes that only ever grow together; a class has one current name, and counts that add up when two become one.

/// The classes of original names.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    /// By original name: another of its class, itself at the root.
    parents: Vec<u32>,
    /// By root: what the class is called.
    names: Vec<u32>,
    /// By name: the root of the class that is called so; none where everything of it has been renamed.
    roots: Vec<Option<u32>>,
    /// By root: how many originals of the class are live before the current op.
    live: Vec<u32>,
    /// By root: how many writes of the class are still to come.
    writes_to_come: Vec<u32>,
    /// By name: whether an op behind us writes it.
    is_written: Vec<bool>,
}

impl Naming {
    /// Every name called by itself.
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

    /// What an original name is called from the current op on.
    pub(super) fn name(&mut self, original: u32) -> u32 {
        let root = self.root(original);
        self.names[root]
    }

    /// Calls what is called `name` by the name `cache`.
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

    /// Makes one class of two; the root is that with more to come, which keeps paths short enough.
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

    /// An original becomes live (before the first op, or behind the current one).
    pub(super) fn birth(&mut self, original: u32) {
        let root = self.root(original);
        self.live[root] += 1;
    }

    /// An original dies.
    pub(super) fn death(&mut self, original: u32) {
        let root = self.root(original);
        self.live[root] = self.live[root].saturating_sub(1);
    }

    /// Whether anything of an original's class is live.
    pub(super) fn is_live(&mut self, original: u32) -> bool {
        let root = self.root(original);
        self.live[root] > 0
    }

    /// A write of an original stands ahead.
    pub(super) fn write_ahead(&mut self, original: u32) {
        self.writes_to_come[original as usize] += 1;
    }

    /// A write of an original is passed.
    pub(super) fn pass_write(&mut self, original: u32) {
        let root = self.root(original);
        self.writes_to_come[root] = self.writes_to_come[root].saturating_sub(1);
        let name = self.names[root];
        self.is_written[name as usize] = true;
    }

    /// Whether some op writes a name: one behind us, or one to come as things are called now.
    pub(super) fn is_produced(&self, name: u32) -> bool {
        let to_come = self.roots[name as usize].is_some_and(|root| self.writes_to_come[root as usize] > 0);
        to_come || self.is_written[name as usize]
    }
}
