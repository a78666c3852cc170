//! Blocks in one vector; freed places are used again.

/// Names a block as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockId(pub(crate) u32);

/// No block.
pub(crate) const NONE: BlockId = BlockId(u32::MAX);

/// Not within an expandable segment.
pub(crate) const ORDINARY: u32 = u32::MAX;

/// What a place of the vector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Vacant,
    /// Mapped memory that is not allocated: in a pool, or waiting for other streams.
    Idle,
    /// Allocated.
    Live,
    /// Addresses without memory.
    Unmapped,
}

/// A contiguous part of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) addr: u64,
    pub(crate) size: u64,
    /// Bytes asked for; of live and pending blocks.
    pub(crate) requested: u64,
    pub(crate) stream: u64,
    /// Decides ties of size; its meaning is that of [`crate::Ties`].
    pub(crate) number: u64,
    /// The pool's count of searches when the block became free.
    pub(crate) free_since: u64,
    /// Neighbours of the segment.
    pub(crate) prev: BlockId,
    pub(crate) next: BlockId,
    pub(crate) pool: u32,
    /// The expandable segment, or [`ORDINARY`].
    pub(crate) range: u32,
    /// Events of other streams that are not done.
    pub(crate) events: u32,
    pub(crate) kind: Kind,
    /// Other streams used it since it was allocated.
    pub(crate) has_uses: bool,
    /// Other streams used it during a capture; the original forgets this with the block alone, not when it is freed.
    pub(crate) has_captured_uses: bool,
}

/// What blocks of a segment have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) stream: u64,
    pub(crate) pool: u32,
    /// The expandable segment, or [`ORDINARY`].
    pub(crate) range: u32,
    pub(crate) number: u64,
}

impl Block {
    /// Free memory without neighbours.
    pub(crate) fn alone(place: Place, addr: u64, size: u64) -> Self {
        Self {
            addr,
            size,
            requested: 0,
            stream: place.stream,
            number: place.number,
            free_since: 0,
            prev: NONE,
            next: NONE,
            pool: place.pool,
            range: place.range,
            events: 0,
            kind: Kind::Idle,
            has_uses: false,
            has_captured_uses: false,
        }
    }

    pub(crate) fn is_split(&self) -> bool {
        self.prev != NONE || self.next != NONE
    }

    pub(crate) fn is_expandable(&self) -> bool {
        self.range != ORDINARY
    }

    /// Whether the driver can free it.
    pub(crate) fn is_whole_segment(&self) -> bool {
        !self.is_expandable() && !self.is_split()
    }

    /// Neither live nor waiting for other streams: free or unmapped.
    pub(crate) fn is_available(&self) -> bool {
        matches!(self.kind, Kind::Idle | Kind::Unmapped) && self.events == 0 && !self.has_uses
    }

    pub(crate) fn end(&self) -> u64 {
        self.addr.saturating_add(self.size)
    }
}

/// All blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    items: Vec<Block>,
    vacant: Vec<u32>,
}

impl Blocks {
    pub(crate) fn insert(&mut self, block: Block) -> BlockId {
        if let Some(place) = self.vacant.pop() {
            self.items[place as usize] = block;
            return BlockId(place);
        }
        let place = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.push(block);
        BlockId(place)
    }

    pub(crate) fn remove(&mut self, id: BlockId) {
        self[id].kind = Kind::Vacant;
        self.vacant.push(id.0);
    }

    pub(crate) fn get(&self, id: BlockId) -> Option<&Block> {
        let block = self.items.get(id.0 as usize)?;
        (block.kind != Kind::Vacant).then_some(block)
    }

    /// All that live, in no useful order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        let places = self.items.iter().zip(0..);
        places
            .filter(|(block, _)| block.kind != Kind::Vacant)
            .map(|(block, place)| (BlockId(place), block))
    }
}

impl std::ops::Index<BlockId> for Blocks {
    type Output = Block;

    fn index(&self, id: BlockId) -> &Block {
        &self.items[id.0 as usize]
    }
}

impl std::ops::IndexMut<BlockId> for Blocks {
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.items[id.0 as usize]
    }
}
