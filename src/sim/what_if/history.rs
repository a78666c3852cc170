//! The memory history of a recording, as the allocator wrote it.
//!
//! A recording keeps blocks and regions; each of its steps is one entry of the history, which follows from what begins
//! or ends there. Steps without a block, a region or a failed request (annotations, snapshots) have no entry.

use std::collections::BTreeMap;

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{MarkKind, RecordedBlock, RecordedRegion, Recording};
use highwater_torch::recording::{Inconsistent, Recording as TorchRecording, Stopped};
use highwater_torch::{Action, BlockState, Event, SegmentState, Use};

/// Why a recording was not replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHistory {
    /// The recording cannot be replayed; the text says why.
    #[error("{0}")]
    Impossible(String),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<Stopped> for NoHistory {
    fn from(_: Stopped) -> Self {
        Self::Cancelled(Cancelled)
    }
}

impl From<Inconsistent> for NoHistory {
    fn from(error: Inconsistent) -> Self {
        match error {
            Inconsistent::Stopped(stopped) => stopped.into(),
            error => Self::Impossible(error.to_string()),
        }
    }
}

/// Why nothing of a recording can be replayed: it holds no allocation, so that neither the rules nor a setting can be tried
/// on it. `None` where it holds one. O(blocks).
pub fn missing_history(recording: &Recording) -> Option<String> {
    if recording.is_host {
        return Some(HOST_MEMORY.to_owned());
    }
    if recording.blocks.iter().any(|block| !block.is_older) {
        return None;
    }
    if let Some(range) = recording.range {
        return Some(format!(
            "no history: none of the events {} to {} of {} is an allocation; choose a larger range",
            range.first,
            range.end.saturating_sub(1),
            range.of
        ));
    }
    let is_still = recording.is_one_moment();
    let what = if is_still && !recording.blocks.is_empty() {
        "it holds the state at one moment and no events, so nothing can be replayed"
    } else if is_still {
        "it holds no events, so nothing can be replayed"
    } else {
        "none of its events is an allocation, so nothing can be replayed"
    };
    let how = if recording.recorder.starts_with("PyTorch") {
        "; to record a history, call torch.cuda.memory._record_memory_history() before the work that is to be seen and \
         torch.cuda.memory._dump_snapshot(FILE) after it"
    } else {
        ""
    };
    Some(format!("no history: {what}{how}"))
}

/// Blocks and regions between two looks at the flag of a cancel: a few milliseconds of work.
const BETWEEN_LOOKS: usize = 16_384;

/// Blocks above this are of a large pool.
const SMALL_LIMIT: u64 = 1 << 20;

/// Pages of expandable segments of large pools.
const LARGE_PAGE: u64 = 20 << 20;

/// Why nothing is simulated of pinned memory.
const HOST_MEMORY: &str = "it is pinned memory of the host, whose allocator has settings of another kind (pinned_*), which are \
                           not simulated";

/// A history, and what its entries are in the recording.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub recording: TorchRecording,
    /// By entry.
    pub steps: Vec<u32>,
    /// The blocks of the allocations, in order.
    pub blocks: Vec<u32>,
    /// The blocks that predate the recording, by address.
    pub older: BTreeMap<u64, u32>,
    /// Whether the recording lists segments. Without them only requests are replayed.
    pub has_segments: bool,
}

impl History {
    /// O(n log n) in blocks and regions.
    ///
    /// # Errors
    /// No allocation is recorded ([`missing_history`]), two events on one step, or [`Cancelled`].
    pub fn new(recording: &Recording, progress: &Progress<'_>) -> Result<Self, NoHistory> {
        if let Some(why) = missing_history(recording) {
            return Err(NoHistory::Impossible(why));
        }
        let pools = Pools::new(recording);
        let addresses = addresses(recording);
        let mut entries = Entries::new(recording.n_steps);
        entries.regions(recording, &pools, progress)?;
        entries.blocks(recording, &addresses, &pools, progress)?;
        entries.marks(recording);
        entries.place_first()?;
        progress.check()?;
        let mut history = Self {
            has_segments: !recording.regions.is_empty(),
            ..Self::default()
        };
        for (step, entry) in (0_u32..).zip(entries.places) {
            if let Some(entry) = entry {
                history.recording.events.push(entry.event);
                history.steps.push(step);
                history.blocks.extend(entry.allocates);
            }
        }
        let blocks = (0_u32..).zip(&recording.blocks);
        for (number, _) in blocks.filter(|(_, block)| block.is_older && block.birth == Step(0)) {
            history.older.insert(addresses[number as usize], number);
        }
        history.recording.segments = final_segments(recording, &addresses, &pools);
        Ok(history)
    }
}

fn look(number: usize, progress: &Progress<'_>) -> Result<(), Cancelled> {
    if number.is_multiple_of(BETWEEN_LOOKS) {
        progress.check()?;
    }
    Ok(())
}

/// The address of each block; of one without address a range that nothing shares.
fn addresses(recording: &Recording) -> Vec<u64> {
    const UNSTATED: u64 = 1 << 62;
    let mut next = UNSTATED;
    let address = |block: &RecordedBlock| {
        if let Some(address) = block.address {
            return address.get();
        }
        let own = next;
        next = next.saturating_add(block.held.get().max(1));
        own
    };
    recording.blocks.iter().map(address).collect()
}

fn stream(block: &RecordedBlock) -> u64 {
    block.stated_stream().unwrap_or(0)
}

/// The private pools of regions, by address.
struct Pools {
    /// Start, end, pool.
    ranges: Vec<(u64, u64, u64)>,
}

impl Pools {
    fn new(recording: &Recording) -> Self {
        let mut numbers: BTreeMap<&str, u64> = BTreeMap::new();
        let mut ranges = Vec::new();
        for region in &recording.regions {
            if let (_, Some(pool)) = recording.segment_kind(region.kind) {
                let next = numbers.len() as u64 + 1;
                let number = *numbers.entry(pool).or_insert(next);
                ranges.push((
                    region.address,
                    region.address.saturating_add(region.bytes.get()),
                    number,
                ));
            }
        }
        ranges.sort_unstable();
        ranges.dedup();
        Self { ranges }
    }

    fn of(&self, address: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|(start, ..)| *start <= address);
        let (_, end, pool) = self.ranges.get(after.checked_sub(1)?)?;
        (address < *end).then_some(*pool)
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Event,
    /// The block that begins.
    allocates: Option<u32>,
}

/// Start and end of an address range, and a region of it.
type Range<'r> = (u64, u64, &'r RecordedRegion);

fn contested(step: Step) -> NoHistory {
    NoHistory::Impossible(format!(
        "the recording has two events at step {step}, so the order of requests is unknown"
    ))
}

/// Entries by step.
struct Entries {
    places: Vec<Option<Entry>>,
    /// Ends on step 1 of blocks and regions from before the recording: each is the first event or the second.
    first: Vec<Event>,
}

impl Entries {
    fn new(n_steps: u32) -> Self {
        Self {
            places: vec![None; n_steps as usize],
            first: Vec::new(),
        }
    }

    fn put(&mut self, step: Step, event: Event, allocates: Option<u32>) -> Result<(), NoHistory> {
        match self.places.get_mut(step.idx()) {
            Some(Some(_)) => Err(contested(step)),
            Some(place) => {
                *place = Some(Entry { event, allocates });
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The end of what predates the recording. What the very first event ends is held on that step, so that its end is on the
    /// next one, as if the second event had ended it.
    fn put_end(&mut self, step: Step, event: Event, is_older: bool) -> Result<(), NoHistory> {
        if is_older && step == Step(1) {
            self.first.push(event);
            return Ok(());
        }
        self.put(step, event, None)
    }

    /// Ends on step 1 take the second place while it is free, else the first one. Of two, a block's is before a region's: the
    /// block may be in the region; of two of a kind the file does not tell which was first, and the order changes nothing.
    fn place_first(&mut self) -> Result<(), NoHistory> {
        let mut first = std::mem::take(&mut self.first);
        first.sort_by_key(|event| matches!(event.action, Action::SegmentFree | Action::SegmentUnmap));
        for event in first.into_iter().rev() {
            let at = usize::from(matches!(self.places.get(1), Some(None)));
            match self.places.get_mut(at) {
                Some(place @ None) => *place = Some(Entry { event, allocates: None }),
                _ => return Err(contested(Step(1))),
            }
        }
        Ok(())
    }

    /// Regions that begin, or end, on the same step are pieces of one.
    fn regions(&mut self, recording: &Recording, pools: &Pools, progress: &Progress<'_>) -> Result<(), NoHistory> {
        let mut begun: BTreeMap<Step, Range<'_>> = BTreeMap::new();
        let mut ended = begun.clone();
        let mut first = Vec::new();
        for (number, region) in recording.regions.iter().enumerate() {
            look(number, progress)?;
            let (from, to) = (region.address, region.address.saturating_add(region.bytes.get()));
            if region.is_older && region.end == Step(1) && recording.n_steps > 1 {
                first.push((from, to, region));
                continue;
            }
            let add = |at: Step, events: &mut BTreeMap<Step, (u64, u64, _)>| {
                let entry = events.entry(at).or_insert((from, to, region));
                (entry.0, entry.1) = (entry.0.min(from), entry.1.max(to));
            };
            if !region.is_older {
                add(region.birth, &mut begun);
            }
            if region.end.0 < recording.n_steps {
                add(region.end, &mut ended);
            }
        }
        let event = |actions: [Action; 2], (from, to, region): Range<'_>| Event {
            action: actions[usize::from(recording.is_expandable(region))],
            addr: from,
            size: to - from,
            stream: region.stream,
            pool: pools.of(from),
        };
        let released = [Action::SegmentFree, Action::SegmentUnmap];
        for range in runs(first, recording) {
            self.put_end(Step(1), event(released, range), true)?;
        }
        for (events, actions) in [(begun, [Action::SegmentAlloc, Action::SegmentMap]), (ended, released)] {
            for (number, (step, range)) in events.into_iter().enumerate() {
                look(number, progress)?;
                self.put(step, event(actions, range), None)?;
            }
        }
        Ok(())
    }

    fn blocks(
        &mut self,
        recording: &Recording,
        addresses: &[u64],
        pools: &Pools,
        progress: &Progress<'_>,
    ) -> Result<(), NoHistory> {
        for ((number, block), address) in (0_u32..).zip(&recording.blocks).zip(addresses) {
            look(number as usize, progress)?;
            let addr = *address;
            let event = |action: Action| Event {
                action,
                addr,
                size: block.bytes.get(),
                stream: stream(block),
                pool: pools.of(addr),
            };
            if block.appears() {
                return Err(NoHistory::Impossible(format!(
                    "the recording has a gap: a block of {} is there at step {} without a request",
                    block.bytes, block.birth
                )));
            }
            if !block.is_older {
                self.put(block.birth, event(Action::Alloc), Some(number))?;
            }
            if block.freed_at < block.end {
                self.put_end(block.freed_at, event(Action::FreeRequested), block.is_older)?;
            }
            if block.is_freed && block.end.0 < recording.n_steps {
                self.put_end(block.end, event(Action::FreeCompleted), block.is_older)?;
            }
        }
        Ok(())
    }

    fn marks(&mut self, recording: &Recording) {
        for mark in recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory) {
            let failed = mark.failed;
            let event = Event {
                action: Action::OutOfMemory,
                addr: failed.and_then(|failed| failed.free).map_or(0, Bytes::get),
                size: mark.bytes.get(),
                stream: failed.map_or(0, |failed| failed.stream),
                pool: None,
            };
            if let Some(place @ None) = self.places.get_mut(mark.step.idx()) {
                *place = Some(Entry { event, allocates: None });
            }
        }
    }
}

/// Address ranges of regions with one of them. Ranges of expandable segments that touch were given back at once.
fn runs<'r>(mut regions: Vec<Range<'r>>, recording: &Recording) -> Vec<Range<'r>> {
    regions.sort_by_key(|(from, ..)| *from);
    let mut all: Vec<Range<'r>> = Vec::new();
    for (from, to, region) in regions {
        match all.last_mut() {
            Some((_, end, last))
                if *end == from
                    && recording.is_expandable(last)
                    && (last.kind, last.stream) == (region.kind, region.stream) =>
            {
                *end = to;
            }
            _ => all.push((from, to, region)),
        }
    }
    all
}

/// The segments after the last event, with their blocks.
fn final_segments(recording: &Recording, addresses: &[u64], pools: &Pools) -> Vec<SegmentState> {
    let n_steps = recording.n_steps;
    let is_final = |end: Step, is_freed: bool| end.0 >= n_steps && !is_freed;
    let blocks = addresses.iter().copied().zip(&recording.blocks);
    let blocks = blocks.filter(|(_, block)| is_final(block.end, block.is_freed));
    let mut blocks: Vec<(u64, &RecordedBlock)> = blocks.collect();
    blocks.sort_by_key(|(address, _)| *address);
    let mut regions: Vec<&RecordedRegion> = recording
        .regions
        .iter()
        .filter(|region| region.end.0 >= n_steps)
        .collect();
    regions.sort_by_key(|region| region.address);
    let mut segments: Vec<SegmentState> = Vec::new();
    for region in regions {
        let is_expandable = recording.is_expandable(region);
        let bytes = region.bytes.get();
        match segments.last_mut() {
            Some(last)
                if is_expandable
                    && last.is_expandable
                    && last.addr + last.size == region.address
                    && last.stream == region.stream
                    && last.pool == pools.of(region.address) =>
            {
                last.size += bytes;
            }
            _ => segments.push(SegmentState {
                addr: region.address,
                size: bytes,
                stream: region.stream,
                is_small: recording.segment_kind(region.kind).0 == "small",
                is_expandable,
                pool: pools.of(region.address),
                blocks: Vec::new(),
            }),
        }
    }
    let sizes = PoolSizes::new(recording);
    let mut rest = &blocks[..];
    let mut unlisted: Vec<(u64, &RecordedBlock)> = Vec::new();
    for segment in &mut segments {
        if segment.is_expandable {
            segment.is_small = sizes.is_small(segment);
        }
        let start = rest.partition_point(|(address, _)| *address < segment.addr);
        let count = rest[start..].partition_point(|(address, _)| *address < segment.addr + segment.size);
        unlisted.extend(&rest[..start]);
        segment.blocks = states(segment, &rest[start..start + count], n_steps);
        rest = &rest[start + count..];
    }
    unlisted.extend(rest);
    // A block outside all listed segments gets a segment, so that its end is known.
    for (address, block) in unlisted {
        let mut own = SegmentState {
            addr: address,
            size: block.held.get(),
            stream: stream(block),
            is_small: block.held.get() <= SMALL_LIMIT,
            is_expandable: false,
            pool: None,
            blocks: Vec::new(),
        };
        own.blocks = states(&own, &[(address, block)], n_steps);
        segments.push(own);
    }
    segments.sort_by_key(|segment| segment.addr);
    segments
}

/// Blocks of a segment without gaps.
fn states(segment: &SegmentState, blocks: &[(u64, &RecordedBlock)], n_steps: u32) -> Vec<BlockState> {
    let mut states = Vec::with_capacity(blocks.len() * 2 + 1);
    let mut at = segment.addr;
    let gap = |from: u64, to: u64| BlockState {
        addr: from,
        size: to - from,
        requested: 0,
        state: Use::Inactive,
    };
    for (address, block) in blocks {
        if at < *address {
            states.push(gap(at, *address));
        }
        let is_pending = block.freed_at.0 < n_steps;
        states.push(BlockState {
            addr: *address,
            size: block.held.get(),
            requested: block.bytes.get(),
            state: if is_pending { Use::Pending } else { Use::Allocated },
        });
        at = address.saturating_add(block.held.get());
    }
    let end = segment.addr + segment.size;
    if at < end {
        states.push(gap(at, end));
    }
    states
}

/// Which pool an expandable range belongs to, which a recording does not state: its blocks tell.
struct PoolSizes {
    /// Address and whether a block there was of the small pool.
    blocks: Vec<(u64, bool)>,
}

impl PoolSizes {
    fn new(recording: &Recording) -> Self {
        let is_small = |bytes: Bytes| bytes.get() <= SMALL_LIMIT;
        let blocks = recording.blocks.iter();
        let blocks = blocks.filter_map(|block| Some((block.address?.get(), is_small(block.held))));
        let mut blocks: Vec<(u64, bool)> = blocks.collect();
        blocks.sort_unstable();
        Self { blocks }
    }

    fn is_small(&self, segment: &SegmentState) -> bool {
        let first = self.blocks.partition_point(|(address, _)| *address < segment.addr);
        match self.blocks.get(first) {
            Some((address, is_small)) if *address < segment.addr + segment.size => *is_small,
            _ => !segment.size.is_multiple_of(LARGE_PAGE),
        }
    }
}
