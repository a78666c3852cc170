//! Private pools (graphs, `use_mem_pool`): which exist, which are open, which request goes where.

use crate::version::OpenPool;

/// Streams that an open pool accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All.
    Any,
    /// One, by its handle.
    Stream(u64),
}

/// A private pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrivatePool {
    /// The program's number of it.
    pub(crate) id: u64,
    /// Places of its small and its large pool.
    pub(crate) small: u32,
    pub(crate) large: u32,
    /// Uses that were not taken off.
    pub(crate) uses: u64,
}

/// All private pools.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrivatePools {
    /// In order of their making.
    pub(crate) pools: Vec<PrivatePool>,
    /// Open ones in order of their beginning: (number, filter).
    open: Vec<(u64, Filter)>,
    /// Numbers of overflow pools and of pools that never split, ascending.
    overflow: Vec<u64>,
    unsplit: Vec<u64>,
}

impl PrivatePools {
    pub(crate) fn place(&self, id: u64) -> Option<usize> {
        self.pools.iter().position(|pool| pool.id == id)
    }

    pub(crate) fn open(&mut self, id: u64, filter: Filter) {
        self.open.push((id, filter));
    }

    pub(crate) fn close(&mut self, id: u64) {
        if let Some(at) = self.open.iter().position(|(open, _)| *open == id) {
            self.open.remove(at);
        }
    }

    pub(crate) fn is_any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The open pool that takes requests of a stream.
    pub(crate) fn route(&self, stream: u64, winner: OpenPool) -> Option<&PrivatePool> {
        let takes = |open: &&(u64, Filter)| matches!(open.1, Filter::Any) || open.1 == Filter::Stream(stream);
        let found = match winner {
            OpenPool::First => self.open.iter().find(takes),
            OpenPool::Last => self.open.iter().rev().find(takes),
        };
        found.and_then(|(id, _)| self.place(*id)).map(|at| &self.pools[at])
    }

    pub(crate) fn use_on_oom(&mut self, id: u64) {
        mark(&mut self.overflow, id);
    }

    pub(crate) fn never_split(&mut self, id: u64) {
        mark(&mut self.unsplit, id);
    }

    pub(crate) fn splits(&self, id: u64) -> bool {
        !self.unsplit.contains(&id)
    }

    /// Overflow pools that exist, by number.
    pub(crate) fn overflow(&self) -> impl Iterator<Item = &PrivatePool> {
        let places = self.overflow.iter().filter_map(|id| self.place(*id));
        places.map(|at| &self.pools[at])
    }
}

fn mark(set: &mut Vec<u64>, id: u64) {
    if let Err(at) = set.binary_search(&id) {
        set.insert(at, id);
    }
}
