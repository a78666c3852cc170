//! Failed requests of a recorded allocator: what was requested by which line, what the pool and the device had then, which lines
//! held the memory, and what would have served the request.
//!
//! In: a recording with events of failed requests. Out: a [`RecordedFailure`] each, which every form of an answer shows. A figure
//! that the file does not state is `None`. Memory outside the allocator is known only where the device's total is:
//!
//! ```text
//! total of the device | reserved by the allocator | free | outside: context, libraries, other processes |
//! ```

mod facts;
mod served;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::allocator_state::{AllocatorState, AllocatorSums};
use super::pool_history::PoolName;
use super::verdict::{Served, Verdict};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    LoggedProcess, MarkKind, MemoryPlace, RecordedFrame, RecordedMark, Recording, StackIdx, TotalKind, is_python_file,
};

pub use facts::FailureFact;
pub use served::ServingSetting;
pub(super) use served::segment_bytes;

/// Failed requests of a recording whose facts are found, the first ones.
const MOST_FAILURES: usize = 64;

/// Call sites that are listed.
const MOST_SITES: usize = 8;

/// Frames of a stack that are kept.
const MOST_FRAMES: usize = 64;

/// Events of recordings from which on settings are not replayed unasked.
const MANY_EVENTS: u32 = 100_000;

/// Which recordings are replayed under other settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replayed {
    All,
    /// Those with at most so many events.
    UpTo(u32),
}

impl Replayed {
    /// Where the user did not ask for it: if the recordings with failed requests are short together.
    pub(super) fn unasked<'a>(recordings: impl Iterator<Item = &'a Recording>) -> Self {
        let failed = recordings.filter(|recording| RecordedFailures::is_any(recording));
        let n_events: u64 = failed.map(|recording| u64::from(recording.n_steps)).sum();
        Self::UpTo(if n_events > u64::from(MANY_EVENTS) {
            0
        } else {
            MANY_EVENTS
        })
    }

    const fn is_of(self, n_events: u32) -> bool {
        match self {
            Self::All => true,
            Self::UpTo(most) => n_events <= most,
        }
    }
}

/// Failed requests of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedFailures {
    /// The first ones, by event.
    pub list: Vec<RecordedFailure>,
    /// Failed requests after these.
    pub n_more: usize,
}

/// A request that failed in a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFailure {
    /// The number of the event, as `inspect` counts them.
    pub event: Step,
    pub requested: Option<Bytes>,
    pub stream: Option<u64>,
    /// The call site; empty without a call stack.
    pub site: String,
    pub stack: Option<StackIdx>,
    /// The frames of the stack, innermost first: `/home/user/model.py:100 forward`.
    pub frames: Vec<String>,
    /// Positions of Python's frames among them.
    pub python: Vec<usize>,
    /// Free bytes of the device.
    pub free: Option<Bytes>,
    /// By the allocator, as segments or a curve of the file state it.
    pub reserved: Option<Bytes>,
    /// Of the reserved bytes; a lower bound where [`AllocatorSums::is_exact`] says so.
    pub allocated: Option<Bytes>,
    /// `None` where the file lists no segments.
    pub sums: Option<AllocatorSums>,
    /// Pools by stream, then by kind.
    pub pools: Vec<PoolAtFailure>,
    /// Count and requested bytes of blocks that were live, those that wait for a stream included.
    pub live: (u64, Bytes),
    /// The call sites with most live bytes, the largest first.
    pub sites: Vec<SiteAtFailure>,
    /// Call sites after these.
    pub n_more_sites: usize,
    /// Whether a setting would have served it; `None` for a request of a simulated allocator.
    pub verdict: Option<Verdict>,
    /// Settings that serve it, replayed, the simplest first.
    pub settings: Vec<ServingSetting>,
}

/// A pool of the allocator at a failed request.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolAtFailure {
    /// `default pool`, `private pool (0, 7)`.
    pub name: String,
    /// Such as `large`, `small`, `expandable`.
    pub kind: String,
    pub stream: u64,
    pub sums: AllocatorSums,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteAtFailure {
    pub name: String,
    pub blocks: u64,
    pub bytes: Bytes,
}

/// The memory of a whole device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceTotal {
    pub bytes: Bytes,
    pub from: TotalFrom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalFrom {
    Recording,
    /// The message of a failed request that was opened too.
    Text,
    /// The user.
    Settings,
}

impl TotalFrom {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Recording => "as the recording states it",
            Self::Text => "as the message states it",
            Self::Settings => "as the settings say",
        }
    }

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Text => "text",
            Self::Settings => "settings",
        }
    }
}

/// Memory of the device that is neither free nor of the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The file states too little.
    Unknown,
    /// The device has at least these bytes, reserved and free; its total is unknown.
    AtLeast(Bytes),
    /// Total, reserved and free bytes contradict each other.
    Contradiction {
        total: DeviceTotal,
        at_least: Bytes,
    },
    Known {
        total: DeviceTotal,
        bytes: Bytes,
    },
}

impl Outside {
    /// `None` where nothing is known.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Self::Unknown => return None,
            Self::AtLeast(bytes) => format!(
                "unknown: the device has at least {bytes} (reserved + free); its total is not stated (--device-memory SIZE)"
            ),
            Self::Contradiction { total, at_least } => format!(
                "unknown: a device of {} ({}) is smaller than the {at_least} that were reserved and free",
                total.bytes,
                total.from.words()
            ),
            Self::Known { total, bytes } => format!(
                "{bytes} of {} ({}): total \u{2212} free \u{2212} reserved; context, libraries, communication buffers, other \
                 processes",
                total.bytes,
                total.from.words()
            ),
        })
    }
}

impl RecordedFailure {
    /// Reserved and free bytes: the device has at least as many.
    pub fn at_least(&self) -> Option<Bytes> {
        Some(Bytes(self.reserved?.get().saturating_add(self.free?.get())))
    }

    pub fn outside(&self, total: Option<DeviceTotal>) -> Outside {
        let Some(at_least) = self.at_least() else {
            return Outside::Unknown;
        };
        match total {
            None => Outside::AtLeast(at_least),
            Some(total) if total.bytes < at_least => Outside::Contradiction { total, at_least },
            Some(total) => Outside::Known {
                total,
                bytes: total.bytes - at_least,
            },
        }
    }

    /// The line of the call site: `train.py:30` of `forward (train.py:30)`; the whole text where it names no line.
    pub fn line(&self) -> &str {
        let line = self.site.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
        line.map_or(&self.site, |(_, line)| line)
    }

    /// Whether the device had enough free for what the pool asks it for, so that a limit refused it.
    pub fn is_limited(&self) -> bool {
        let needed = self.requested.map(|requested| segment_bytes(requested.get()));
        let verdict = self.verdict.as_ref();
        let is_unknown = verdict.is_some_and(|verdict| verdict.served == Served::Unknown);
        is_unknown && self.free.zip(needed).is_some_and(|(free, needed)| free.get() >= needed)
    }

    /// What must shrink where no setting serves it.
    pub fn less(&self) -> String {
        let largest = self.sites.first().map_or_else(String::new, |one| {
            let SiteAtFailure { name, bytes, .. } = one;
            format!(": {name} holds {bytes}")
        });
        let verdict = self.verdict.as_ref();
        let condition = match verdict.map(|verdict| verdict.served) {
            Some(Served::No) => "",
            _ if self.is_limited() => "if the program sets no limit, ",
            _ => "if no setting serves it, ",
        };
        format!("{condition}less must be live at this request{largest}")
    }

    /// `a request of 162.0 MiB failed at event 450: 126.0 MiB free, 1.732 GiB reserved`; `at` names the event.
    pub fn sentence(&self, at: &str) -> String {
        let size = self
            .requested
            .map_or_else(|| "a request".to_owned(), |bytes| format!("a request of {bytes}"));
        let figures = [
            self.free.map(|free| format!("{free} free")),
            self.reserved.map(|reserved| format!("{reserved} reserved")),
        ];
        let figures: Vec<String> = figures.into_iter().flatten().collect();
        match &figures[..] {
            [] => format!("{size} failed at {at}"),
            figures => format!("{size} failed at {at}: {}", figures.join(", ")),
        }
    }
}

impl RecordedFailures {
    /// Whether a recording has events of failed requests.
    pub(super) fn is_any(recording: &Recording) -> bool {
        recording.process.is_none() && marks(recording).next().is_some()
    }

    /// The failed requests of a recording.
    ///
    /// # Errors
    /// The work is cancelled.
    pub(super) fn new(recording: &Recording, replayed: Replayed, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        if !Self::is_any(recording) {
            return Ok(Self::default());
        }
        let mut replays = served::Replays::new(recording, replayed);
        let mut list = Vec::new();
        for mark in marks(recording).take(MOST_FAILURES) {
            progress.check()?;
            let mut failure = facts(recording, mark);
            replays.answer(&mut failure, progress)?;
            list.push(failure);
        }
        let n_more = marks(recording).count() - list.len();
        Ok(Self { list, n_more })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn count(&self) -> usize {
        self.list.len() + self.n_more
    }

    pub fn at(&self, event: Step) -> Option<&RecordedFailure> {
        self.list.iter().find(|one| one.event == event)
    }

    /// The device's total: as the recording states it, else as the messages of opened texts do, else as the user says.
    pub fn device_total<'a>(
        recording: &Recording,
        all: impl Iterator<Item = &'a Recording>,
        chosen: Option<Bytes>,
    ) -> Option<DeviceTotal> {
        let stated = recording.device_memory.filter(|memory| !memory.is_lower_bound);
        let stated = stated.map(|memory| (memory.bytes, TotalFrom::Recording));
        let device = device_number(recording);
        let mut texts: Vec<Bytes> = Vec::new();
        for process in all.filter_map(|other| other.process.as_ref()) {
            texts.extend(totals(process, device));
        }
        // Texts that contradict each other are of several devices.
        let text = texts.first().filter(|first| texts.iter().all(|one| one == *first));
        let text = text.map(|bytes| (*bytes, TotalFrom::Text));
        let chosen = chosen.map(|bytes| (bytes, TotalFrom::Settings));
        let (bytes, from) = stated.or(text).or(chosen)?;
        Some(DeviceTotal { bytes, from })
    }
}

/// The failed request of an event, with its arithmetic and without a replay; `None` where none failed there. O(blocks + regions).
pub fn recorded_failure(recording: &Recording, event: Step) -> Option<RecordedFailure> {
    let mut all = marks(recording).skip_while(|mark| mark.step < event);
    let mark = all.next().filter(|mark| mark.step == event)?;
    let mut failure = facts(recording, mark);
    served::without_replay(recording, &mut failure);
    Some(failure)
}

fn marks(recording: &Recording) -> impl Iterator<Item = &RecordedMark> {
    recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory)
}

/// What texts state of the memory of a device, of any where a number is unknown.
fn totals(process: &LoggedProcess, device: Option<u64>) -> Vec<Bytes> {
    let is_own = |other: Option<u64>| device.is_none() || other.is_none() || device == other;
    let failures = process.failures.iter();
    let failures = failures.filter(|one| one.memory == MemoryPlace::Device && is_own(one.device));
    let of_process = process.device_total.filter(|_| is_own(process.device));
    let totals = failures.filter_map(|one| one.total).chain(of_process);
    totals.filter(|total| *total > 0).map(Bytes).collect()
}

/// `device0`, `NPU:0` are of device 0.
pub(super) fn device_number(recording: &Recording) -> Option<u64> {
    let digits = |text: &str| {
        text.trim_start_matches(|letter: char| !letter.is_ascii_digit())
            .parse()
            .ok()
    };
    digits(&recording.device).or_else(|| digits(&recording.name))
}

fn facts(recording: &Recording, mark: &RecordedMark) -> RecordedFailure {
    let state = AllocatorState::new(recording, mark.step);
    let stack = mark.failed.and_then(|failed| failed.stack);
    let site = stack.and_then(|stack| recording.call_sites.of_stack(stack));
    let frames = stack.and_then(|stack| recording.stacks.get(stack.idx()));
    let frames = frames.iter().flat_map(|stack| stack.iter());
    let frames = frames.filter_map(|frame| recording.frames.get(*frame as usize));
    let frames: Vec<&RecordedFrame> = frames.take(MOST_FRAMES).collect();
    let is_python = |frame: &RecordedFrame| is_python_file(recording.text(frame.file));
    let python = (0..frames.len()).filter(|position| is_python(frames[*position]));
    let LiveAt { blocks, bytes, sites } = live_at(recording, mark.step);
    let sums = state.as_ref().map(|state| state.sums);
    let stated = |kind| recording.total(kind)?.at(mark.step);
    RecordedFailure {
        event: mark.step,
        requested: Some(mark.bytes).filter(|bytes| *bytes > Bytes::ZERO),
        stream: mark.failed.map(|failed| failed.stream),
        site: site.map_or_else(String::new, |site| recording.call_sites.text(site).to_owned()),
        stack,
        python: python.collect(),
        frames: frames.iter().map(|frame| frame_text(recording, frame)).collect(),
        free: mark.failed.and_then(|failed| failed.free),
        reserved: sums.map(|sums| sums.reserved).or_else(|| stated(TotalKind::Reserved)),
        allocated: sums.map(|sums| sums.active).or_else(|| stated(TotalKind::Allocated)),
        sums,
        pools: state.map_or_else(Vec::new, |state| pools(recording, &state)),
        live: (blocks, bytes),
        n_more_sites: sites.len().saturating_sub(MOST_SITES),
        sites: sites.into_iter().take(MOST_SITES).collect(),
        verdict: None,
        settings: Vec::new(),
    }
}

/// `file:line function`.
fn frame_text(recording: &Recording, frame: &RecordedFrame) -> String {
    let (function, file) = (recording.text(frame.function), recording.text(frame.file));
    match frame.line {
        0 => format!("{file} {function}").trim().to_owned(),
        line => format!("{file}:{line} {function}"),
    }
}

fn pools(recording: &Recording, state: &AllocatorState) -> Vec<PoolAtFailure> {
    let pools = state.pools.iter().map(|pool| {
        let (kind, private) = recording.segment_kind(pool.kind);
        PoolAtFailure {
            name: PoolName::new(private).to_string(),
            kind: kind.to_owned(),
            stream: pool.stream,
            sums: pool.sums,
        }
    });
    pools.collect()
}

/// Live blocks at a step.
pub(super) struct LiveAt {
    pub(super) blocks: u64,
    pub(super) bytes: Bytes,
    /// By call site, the largest first.
    pub(super) sites: Vec<SiteAtFailure>,
}

/// O(blocks).
pub(super) fn live_at(recording: &Recording, step: Step) -> LiveAt {
    let mut by_name: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let begun = recording.blocks.partition_point(|block| block.birth <= step);
    let mut sum = (0_u64, 0_u64);
    for block in recording.blocks[..begun].iter().filter(|block| block.end > step) {
        let name = match recording.block_name(block) {
            "" if block.is_older => "blocks from before the recording",
            "" => "blocks without a call stack",
            name => name,
        };
        for sum in [by_name.entry(name).or_default(), &mut sum] {
            *sum = (sum.0 + 1, sum.1.saturating_add(block.bytes.get()));
        }
    }
    let sites = by_name.into_iter().map(|(name, (blocks, bytes))| SiteAtFailure {
        name: name.to_owned(),
        blocks,
        bytes: Bytes(bytes),
    });
    let mut sites: Vec<SiteAtFailure> = sites.collect();
    sites.sort_by_key(|one| Reverse(one.bytes));
    LiveAt {
        blocks: sum.0,
        bytes: Bytes(sum.1),
        sites,
    }
}
