//! A device of a snapshot: its events in order, and the segments and blocks that it has at the end.
//!
//! In: rows of the heap. Out: the same by device; pinned memory of the host is one. Invariant: events are runs of neighbouring
//! rows, so that millions take little memory.

use std::collections::BTreeMap;

use super::range::TraceCut;
use super::rows::Segment;
use super::value::narrow;
use crate::pages::Pages;

#[derive(Clone, Copy, Debug)]
pub(super) struct FinalSegment {
    pub(super) row: Segment,
    pub(super) address: u64,
    pub(super) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FinalBlock {
    pub(super) address: u64,
    pub(super) held: u64,
    /// Requested bytes; the rounded ones where the file does not state them.
    pub(super) bytes: u64,
    pub(super) states_bytes: bool,
    pub(super) frames: u32,
    pub(super) extra: u32,
    pub(super) stream: u64,
}

/// Rows of events in order, as runs of neighbours: first and count.
#[derive(Debug, Default)]
pub(super) struct Trace {
    runs: Vec<(u32, u32)>,
    n: usize,
}

impl Trace {
    pub(super) const fn len(&self) -> usize {
        self.n
    }

    pub(super) fn push(&mut self, row: u32) {
        self.n += 1;
        match self.runs.last_mut() {
            Some((first, n)) if *first + *n == row => *n += 1,
            _ => self.runs.push((row, 1)),
        }
    }

    /// Takes the rows from a position on away.
    pub(super) fn split_off(&mut self, n: usize) -> Vec<u32> {
        let rows: Vec<u32> = self.rows().collect();
        let behind = rows.get(n..).unwrap_or_default().to_vec();
        *self = Self::default();
        rows.into_iter().take(n).for_each(|row| self.push(row));
        behind
    }

    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.runs.iter().flat_map(|(first, n)| *first..*first + *n)
    }

    /// The rows with their steps, the last first.
    pub(super) fn backwards(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..narrow(self.n)).rev().zip(self.rows().rev())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StateCount {
    pub(super) state: u32,
    pub(super) blocks: u64,
    pub(super) held: u64,
}

const MOST_STATES: usize = 64;

/// Whose memory a trace and segments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Device(u64),
    /// Pinned memory, which another allocator serves.
    Host,
}

impl Place {
    /// The list of its events, for messages.
    pub(super) fn trace(self) -> String {
        match self {
            Self::Device(number) => format!("device_traces[{number}]"),
            Self::Host => "host_traces".to_owned(),
        }
    }

    /// For messages.
    pub(super) fn words(self) -> String {
        match self {
            Self::Device(number) => format!("device {number}"),
            Self::Host => self.to_string(),
        }
    }

    /// Whether an annotation that names a device belongs to it: those of the host are on the clock of the process.
    pub(super) fn has_annotations_of(self, device: u64) -> bool {
        self == Self::Host || self == Self::Device(device)
    }
}

/// The name of the recording.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Device(number) => write!(f, "device{number}"),
            Self::Host => f.write_str("host, pinned"),
        }
    }
}

/// What was given up of lists of events, by list.
pub(super) type Cuts = BTreeMap<u32, TraceCut>;

#[derive(Debug, Default)]
pub(super) struct Device {
    /// Where only a range of its events was read.
    pub(super) cut: Option<TraceCut>,
    pub(super) is_host: bool,
    pub(super) trace: Trace,
    pub(super) segments: Vec<FinalSegment>,
    /// Blocks that are held or waited for.
    pub(super) blocks: Pages<FinalBlock>,
    pub(super) states: Vec<StateCount>,
    /// Segments whose blocks do not add up to them.
    pub(super) uneven: u64,
}

impl Device {
    /// Whether its events are a range of a file that has events before.
    pub(super) fn is_cut_at_start(&self) -> bool {
        self.cut.as_ref().is_some_and(|cut| cut.range().first > 0)
    }

    pub(super) fn count(&mut self, state: u32, held: u64) {
        if let Some(count) = self.states.iter_mut().find(|count| count.state == state) {
            count.blocks += 1;
            count.held = count.held.saturating_add(held);
        } else if self.states.len() < MOST_STATES {
            self.states.push(StateCount { state, blocks: 1, held });
        }
    }
}
