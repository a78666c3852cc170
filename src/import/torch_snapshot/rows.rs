//! Dicts of a snapshot as fixed rows instead of pairs.
//!
//! In: values that the `fill` module reads. Out: rows in pools. Fields that are absent, negative or no number are
//! `None`, which their readers report.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::entries::Entries;
use super::value::narrow;
use crate::pages::Pages;

/// No list, no text, no [`Extra`].
pub(super) const NONE: u32 = u32::MAX;

/// The name of [`Action::Other`] is in [`Extra`].
pub(super) use highwater_model::workload::EventAction as Action;

/// A field of an entry or a block that was read.
pub(super) mod has {
    pub(in super::super) const ADDRESS: u8 = 1;
    pub(in super::super) const SIZE: u8 = 2;
    pub(in super::super) const TIME: u8 = 4;
    pub(in super::super) const REQUESTED: u8 = 8;
    /// The address is the bytes that are free on the device.
    pub(in super::super) const DEVICE_FREE: u8 = 16;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The address; of an `oom` the bytes that are free on the device.
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) time_us: u64,
    /// Number of its stream; see [`Rows::stream_at`].
    pub(super) stream: u32,
    /// List of frames, or [`NONE`].
    pub(super) frames: u32,
    /// Number of its texts; see [`Rows::extra_at`].
    pub(super) extra: u32,
    pub(super) action: Action,
    /// The fields that were read; see [`has`].
    pub(super) has: u8,
}

impl Entry {
    pub(super) const fn has(&self, fields: u8) -> bool {
        self.has & fields == fields
    }
}

/// What few entries have: texts, as positions of texts or [`NONE`], and a private pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Extra {
    pub(super) compile_context: u32,
    pub(super) user_metadata: u32,
    /// List of the lines of the forward pass that made the node of the autograd graph.
    pub(super) forward: u32,
    /// The name of an action that is not known.
    pub(super) action: u32,
    /// Zeros are the default pool.
    pub(super) pool: (u64, u64),
}

impl Extra {
    const EMPTY: Self = Self {
        compile_context: NONE,
        user_metadata: NONE,
        forward: NONE,
        action: NONE,
        pool: (0, 0),
    };

    /// `None` for the default pool.
    pub(super) fn private_pool(&self) -> Option<(u64, u64)> {
        Some(self.pool).filter(|pool| *pool != (0, 0))
    }
}

/// The node of an FX graph whose code was generated as a line, as positions of texts or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FxNode {
    pub(super) op: u32,
    pub(super) name: u32,
    pub(super) target: u32,
    /// The lines of the model that the node comes from, as Python prints a traceback.
    pub(super) original_trace: u32,
}

impl FxNode {
    pub(super) const EMPTY: Self = Self {
        op: NONE,
        name: NONE,
        target: NONE,
        original_trace: NONE,
    };
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) requested: u64,
    /// Text of the state, or [`NONE`].
    pub(super) state: u32,
    pub(super) frames: u32,
    /// Number of its texts; see [`Rows::extra_at`].
    pub(super) extra: u32,
    /// The fields that were read; see [`has`].
    pub(super) has: u8,
}

impl Block {
    /// A number, where it was read.
    pub(super) fn stated(&self, field: u8, number: u64) -> Option<u64> {
        (self.has & field != 0).then_some(number)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) device: Option<u64>,
    pub(super) address: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) allocated: Option<u64>,
    pub(super) active: Option<u64>,
    pub(super) stream: u64,
    /// Text of the type, or [`NONE`].
    pub(super) kind: u32,
    /// List of the two numbers of its pool, or [`NONE`].
    pub(super) pool: u32,
    pub(super) is_expandable: bool,
    /// List of blocks, or [`NONE`].
    pub(super) blocks: u32,
}

/// A line of a stack: positions of texts, or [`NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) file: u32,
    pub(super) line: u32,
    /// Number of its [`FxNode`], or [`NONE`].
    pub(super) fx: u32,
}

impl Frame {
    pub(super) const EMPTY: Self = Self {
        function: NONE,
        file: NONE,
        line: 0,
        fx: NONE,
    };
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Annotation {
    pub(super) stage: u32,
    pub(super) name: u32,
    pub(super) device: Option<u64>,
    pub(super) time_us: Option<u64>,
}

/// Which known keys the rows of a kind have: bits by the number of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeenKeys(u64);

impl SeenKeys {
    #[inline]
    pub(super) fn add(&mut self, key: u32) {
        self.0 |= 1_u64.checked_shl(key).unwrap_or(0);
    }

    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |key| self.0 >> key & 1 == 1)
    }
}

#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) entries: Entries,
    pub(super) blocks: Pages<Block>,
    pub(super) segments: Vec<Segment>,
    pub(super) frames: Vec<Frame>,
    pub(super) annotations: Vec<Annotation>,
    streams: IndexSet<u64>,
    last_stream: u32,
    extras: IndexSet<Extra>,
    fx_nodes: IndexSet<FxNode>,
    pub(super) keys_of_entries: SeenKeys,
    pub(super) keys_of_blocks: SeenKeys,
    pub(super) keys_of_segments: SeenKeys,
    /// Keys that no row has, with how often each occurred.
    pub(super) unread: BTreeMap<u32, u64>,
}

impl Rows {
    pub(super) fn stream(&mut self, stream: u64) -> u32 {
        // Most entries have the stream of the one before.
        if self.streams.get_index(self.last_stream as usize) != Some(&stream) {
            self.last_stream = narrow(self.streams.insert_full(stream).0);
        }
        self.last_stream
    }

    /// 0 for an unknown position.
    pub(super) fn stream_at(&self, position: u32) -> u64 {
        self.streams.get_index(position as usize).copied().unwrap_or(0)
    }

    pub(super) fn extra(&mut self, extra: Extra) -> u32 {
        narrow(self.extras.insert_full(extra).0)
    }

    pub(super) fn fx_node(&mut self, node: FxNode) -> u32 {
        narrow(self.fx_nodes.insert_full(node).0)
    }

    /// Without texts for [`NONE`].
    pub(super) fn fx_node_at(&self, position: u32) -> FxNode {
        let node = self.fx_nodes.get_index(position as usize);
        node.copied().unwrap_or(FxNode::EMPTY)
    }

    /// Without texts for [`NONE`].
    pub(super) fn extra_at(&self, position: u32) -> Extra {
        self.extras
            .get_index(position as usize)
            .copied()
            .unwrap_or(Extra::EMPTY)
    }
}
