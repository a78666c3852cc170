//! `operator_memory`: a row for each block of an op, with the times of allocation and release.
//!
//! In: rows of a CSV of `torch_npu`, `MindSpore` or msprof, or of the table `OP_MEMORY`. Out: one recording per device, its
//! blocks listed stream by stream. Rules:
//!
//! * A step is an allocation or a release. They are sorted by time; at one time what was allocated earlier is released
//!   first, then come allocations, then releases of blocks that live no time at all; each group in the order of the file.
//! * A block ends at its release, or where the file states none (msprof) at allocation plus duration. Without either it
//!   was never freed. The active release, which waits for other streams, ends nothing: `Total Active` counts it.
//! * A negative size is the release of a block whose allocation was before the recording (according to msprof's guide; the tool
//!   pairs all others itself). Neither its name nor its birth is known: it is counted, not shown.
//! * Totals belong to the pool that served the row. The framework's rows name a stream, the graph engine's none; curves
//!   are those of the framework's rows where there are such. Rows of `torch_npu`'s workspace pool are a recording apart
//!   (`workspace_pool.rs`).
//! * Where a spreadsheet cut a time (`1.69512E+15`), the row is left out; where it cut most, the rows keep the order of
//!   the file, and no time is claimed.

use indexmap::IndexMap;

use super::header::{Header, SizeColumn, TimeColumn};
use super::table::{Fault, Row, Sink, Table, Tally};
use crate::ImportError;
use crate::pages::Pages;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{RecordedBlock, RecordedName, RecordedNames, RecordedTotal, Recording, TotalKind};

/// A time, a size or a stream that the file does not state.
pub(super) const NONE: u64 = RecordedBlock::NO_STREAM;

const ROWS_BETWEEN_CHECKS: u64 = 1 << 12;

const ENTRIES_AT_ONCE: usize = 1 << 17;

/// The kinds of curves, in the order of [`Entry::totals`].
const KINDS: [TotalKind; 3] = [TotalKind::Allocated, TotalKind::Reserved, TotalKind::Active];

#[derive(Clone, Debug)]
struct Columns {
    name: Option<usize>,
    size: SizeColumn,
    allocation: TimeColumn,
    release: Option<TimeColumn>,
    active_release: Option<TimeColumn>,
    duration: Option<TimeColumn>,
    /// At the allocation and at the release, each by kind.
    totals: [[Option<SizeColumn>; 3]; 2],
    stream: Option<usize>,
    device: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) allocated: u64,
    /// [`NONE`] where it never was.
    pub(super) released: u64,
    pub(super) bytes: u64,
    /// [`NONE`] where none is named.
    pub(super) stream: u64,
    /// At the allocation and at the release, each by kind.
    pub(super) totals: [[u64; 3]; 2],
    pub(super) name: RecordedName,
    pub(super) active: Active,
}

/// What a row says of the active release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Active {
    Stated,
    /// The table has such a column, and the field is empty.
    Empty,
    /// The tool states none: there is no column, or `N/A` in it.
    Absent,
}

#[derive(Debug, Default)]
pub(super) struct Device {
    /// Of the recording.
    pub(super) name: String,
    /// The device, as users know it.
    pub(super) hardware: String,
    pub(super) names: RecordedNames,
    pub(super) entries: Pages<Entry>,
    pub(super) has_streams: bool,
    /// Positions of entries with damaged times, ascending.
    pub(super) rough: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Operators {
    columns: Columns,
    /// By their texts.
    devices: IndexMap<Vec<u8>, Device>,
    counts: Counts,
}

/// Counts for diagnostics of the whole table.
#[derive(Debug, Default)]
struct Counts {
    /// Rows of negative size, and their bytes.
    negative: (u64, u64),
    /// Times that were cut, and the first.
    rough: Tally,
    /// Whether these rows are left out.
    is_rough_left_out: bool,
    /// Blocks that waited for a stream.
    waiting: u64,
    has_active: bool,
    /// Blocks whose owner's release is missing, while that of the stream is there.
    half_released: u64,
    /// Rows of the graph engine among the framework's.
    engine: u64,
    /// Rows of the workspace pool.
    workspaces: u64,
}

pub(super) fn is_header(header: &Header) -> bool {
    header.has_all(&["name", "size", "allocation time"])
}

impl Operators {
    pub(super) fn new(header: &Header) -> Result<Self, ImportError> {
        let totals = |when: &str| -> Result<[Option<SizeColumn>; 3], ImportError> {
            let column = |kind: TotalKind| header.size(&[&format!("{when} total {}", kind.name())]);
            Ok([column(KINDS[0])?, column(KINDS[1])?, column(KINDS[2])?])
        };
        let columns = Columns {
            name: header.find(&["name"]),
            size: Header::needed(header.size(&["size"])?)?,
            allocation: Header::needed(header.time(&["allocation time"])?)?,
            release: header.time(&["release time"])?,
            active_release: header.time(&["active release time"])?,
            duration: header.time(&["duration"])?,
            totals: [totals("allocation")?, totals("release")?],
            stream: header.find(&["stream ptr", "stream"]),
            device: header.find(&["device type", "device", "device id"]),
        };
        Ok(Self {
            columns,
            devices: IndexMap::new(),
            counts: Counts::default(),
        })
    }

    fn device(&mut self, text: &[u8]) -> &mut Device {
        let position = self.devices.get_index_of(text).unwrap_or_else(|| {
            let device = Device {
                name: super::device_name(text),
                hardware: super::device_name(text),
                ..Device::default()
            };
            self.devices.insert_full(text.to_vec(), device).0
        });
        &mut self.devices[position]
    }

    fn active(&self, row: Row<'_>) -> Active {
        let Some(column) = self.columns.active_release else {
            return Active::Absent;
        };
        let is_blank = row.0.get(column.at).is_none_or(|field| field.trim_ascii().is_empty());
        match row.field(Some(column.at)) {
            b"" if is_blank => Active::Empty,
            b"" => Active::Absent,
            _ => Active::Stated,
        }
    }

    /// The time of release, [`NONE`] where never, and whether digits of it are cut off.
    fn release(&mut self, row: Row<'_>, allocated: u64) -> Result<(u64, bool), Fault> {
        let active = row.time(self.columns.active_release)?;
        let Some(column) = self.columns.release else {
            let Some((duration, is_rough)) = row.time(self.columns.duration)? else {
                return Ok((NONE, false));
            };
            let end = allocated.checked_add(duration).filter(|end| *end != NONE);
            return match end {
                Some(end) => Ok((end, is_rough)),
                None => Err(Fault::new("a time is negative or too large", b"")),
            };
        };
        match (row.time(Some(column))?, active) {
            (Some((release, is_rough)), active) => {
                self.counts.waiting += u64::from(active.is_some_and(|active| active.0 > release));
                Ok((release, is_rough))
            }
            (None, active) => {
                self.counts.half_released += u64::from(active.is_some());
                Ok((NONE, false))
            }
        }
    }
}

impl Table for Operators {
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let size = self.columns.size;
        let Some(number) = row.number(size.at)? else {
            return Err(Fault::new("the size is missing", row.field(self.columns.name)));
        };
        if number.is_negative {
            self.counts.negative.0 += 1;
            let bytes = number.scaled(size.factor).unwrap_or(0);
            self.counts.negative.1 = self.counts.negative.1.saturating_add(bytes);
            return Ok(());
        }
        let Some(bytes) = row.size(Some(size))? else {
            return Err(Fault::new("the size is missing", b""));
        };
        let Some((allocated, is_rough_start)) = row.time(Some(self.columns.allocation))? else {
            return Err(Fault::new(
                "the time of the allocation is missing",
                row.field(self.columns.name),
            ));
        };
        let (released, is_rough_end) = self.release(row, allocated)?;
        let is_rough = is_rough_start || is_rough_end;
        if released < allocated && !is_rough {
            let text = row.field(self.columns.release.map(|column| column.at));
            return Err(Fault::new("the release is before the allocation", text));
        }
        if is_rough {
            self.counts.rough.add(row.field(Some(self.columns.allocation.at)));
        }
        let mut totals = [[NONE; 3]; 2];
        for (when, column) in totals.iter_mut().flatten().zip(self.columns.totals.iter().flatten()) {
            *when = row.size(*column)?.unwrap_or(NONE);
        }
        let stream = row.field(self.columns.stream);
        let stream = match super::number_of(stream) {
            Some(stream) => stream,
            None if stream.is_empty() => NONE,
            None => return Err(Fault::new("the stream cannot be read", stream)),
        };
        let active = self.active(row);
        let (name, device) = (row.field(self.columns.name), row.field(self.columns.device));
        let device = self.device(device);
        device.has_streams |= stream != NONE;
        let name = device.names.intern(&String::from_utf8_lossy(name));
        if is_rough {
            device
                .rough
                .push(u32::try_from(device.entries.len()).unwrap_or(u32::MAX));
        }
        device.entries.push(Entry {
            allocated,
            released,
            bytes,
            stream,
            totals,
            name,
            active,
        });
        Ok(())
    }

    fn finish(mut self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        let n_rows: usize = self.devices.values().map(|device| device.entries.len()).sum();
        let is_ordered_by_time = self.counts.rough.is_few(n_rows);
        self.counts.is_rough_left_out = is_ordered_by_time;
        for mut device in std::mem::take(&mut self.devices).into_values() {
            if is_ordered_by_time {
                device.leave_out_rough();
            }
            if device.has_streams {
                let engine = device.entries.iter().filter(|entry| entry.stream == NONE).count();
                self.counts.engine += engine as u64;
            }
            let workspaces = device.take_workspaces(is_ordered_by_time, sink.progress)?;
            self.counts.workspaces += workspaces.as_ref().map_or(0, |pool| pool.entries.len() as u64);
            let is_workspace_alone = workspaces.is_some() && device.entries.len() == 0;
            let caching = Some(device).filter(|_| !is_workspace_alone);
            for pool in caching.into_iter().chain(workspaces) {
                let recording = pool.finish(is_ordered_by_time, sink.progress)?;
                let mut kinds = recording.totals.iter().map(|total| total.kind);
                self.counts.has_active |= kinds.any(|kind| kind == TotalKind::Active);
                sink.recordings.push(recording);
            }
        }
        self.counts.report(sink.diagnostics);
        Ok(())
    }
}

impl Counts {
    fn report(&self, diagnostics: &mut Diagnostics) {
        diagnostics.counted(
            Severity::Warning,
            if self.is_rough_left_out {
                "digits of a time are cut off, as spreadsheets do: the row is left out, so peaks are lower bounds; take the file \
                 that the profiler wrote"
            } else {
                "digits of a time are cut off, as spreadsheets do: the rows are in the order of the file, and releases \
                 are not shown, so the peak is the sum of all; take the file that the profiler wrote"
            },
            &self.rough.first,
            self.rough.count,
        );
        diagnostics.counted(
            Severity::Info,
            "a negative size is the release of a block that is older than the recording; when it began is not known, it is \
             not counted, so the peaks are lower bounds",
            &format!("{} bytes in all", self.negative.1),
            self.negative.0,
        );
        diagnostics.counted(
            Severity::Info,
            "the release is missing while the active release is there: the block counts as never freed",
            "",
            self.half_released,
        );
        diagnostics.counted(
            Severity::Info,
            if self.has_active {
                "the active release is later than the release: until then the allocator waited for a stream, which the curve \
                 of active bytes shows"
            } else {
                "the active release is later than the release: until then the allocator waited for a stream, which no curve \
                 of this file shows"
            },
            "",
            self.waiting,
        );
        diagnostics.counted(
            Severity::Info,
            "the row names no stream: it is the graph engine's, whose pool has separate totals; the curves are those of \
             the framework's pool",
            "",
            self.engine,
        );
        diagnostics.counted(
            Severity::Info,
            "the row has a release but no active release: it is of torch_npu's workspace pool, which has separate totals and \
             is listed apart",
            "",
            self.workspaces,
        );
    }
}

impl Device {
    /// Takes rows with damaged times away.
    fn leave_out_rough(&mut self) {
        if !self.rough.is_empty() {
            let mut rough = self.rough.iter().copied().peekable();
            let mut kept = Pages::default();
            let entries = (0_u32..).zip(self.entries.iter());
            for (_, entry) in entries.filter(|(position, _)| rough.next_if_eq(position).is_none()) {
                kept.push(*entry);
            }
            self.entries = kept;
        }
    }

    fn finish(self, is_ordered_by_time: bool, progress: &Progress<'_>) -> Result<Recording, ImportError> {
        let n_entries = self.entries.len();
        if u32::try_from(n_entries.saturating_mul(2)).is_err() {
            return Err(ImportError::at(
                format!("the table has {n_entries} blocks, more than can be counted"),
                self.name,
                "profile fewer steps",
            ));
        }
        let events = self.events(is_ordered_by_time, progress)?;
        let mut recording = Recording {
            name: self.name.clone(),
            device: self.hardware.clone(),
            recorder: "Ascend profiler, operator_memory".to_owned(),
            n_steps: u32::try_from(events.len()).unwrap_or(u32::MAX),
            by_stream: true,
            ..Recording::default()
        };
        // Room for all at once: a list that grows is copied as a whole, which cannot be cancelled.
        let has = |kind: usize| self.entries.iter().take(64).any(|entry| entry.totals[0][kind] != NONE);
        let mut totals = [0, 1, 2].map(|kind| Vec::with_capacity(if has(kind) { events.len() } else { 0 }));
        if is_ordered_by_time {
            recording.times.reserve_exact(events.len());
        }
        let mut positions: Vec<u32> = Vec::with_capacity(n_entries);
        while positions.len() < n_entries {
            // Memory that is touched for the first time costs more than the work on it.
            progress.check()?;
            positions.resize(n_entries.min(positions.len() + ENTRIES_AT_ONCE), u32::MAX);
        }
        recording.blocks.reserve_exact(n_entries);
        for (step, (time, key)) in (0_u32..).zip(events) {
            if u64::from(step).is_multiple_of(ROWS_BETWEEN_CHECKS) {
                progress.set("pairing", u64::from(step), u64::from(recording.n_steps))?;
            }
            let (row, is_release) = (
                usize::try_from(key & u64::from(u32::MAX)).unwrap_or(usize::MAX),
                key >> 32 != ALLOCATION,
            );
            let Some(entry) = self.entries.get(row) else { continue };
            if is_ordered_by_time {
                recording.times.push(Nanos(time));
            }
            if is_release {
                recording.blocks[positions[row] as usize].end_at(Step(step));
            } else {
                positions[row] = u32::try_from(recording.blocks.len()).unwrap_or(u32::MAX);
                recording.blocks.push(entry.block(step, recording.n_steps));
            }
            if self.has_streams && entry.stream == NONE {
                continue;
            }
            for (samples, bytes) in totals.iter_mut().zip(entry.totals[usize::from(is_release)]) {
                if bytes != NONE {
                    samples.push((Step(step), Bytes(bytes)));
                }
            }
        }
        recording.totals = RecordedTotal::known(KINDS.into_iter().zip(totals));
        recording.names = self.names.finish();
        Ok(recording)
    }

    /// Times with what happens then: [`ALLOCATION`] or a release in the upper half, the row in the lower.
    pub(super) fn events(
        &self,
        is_ordered_by_time: bool,
        progress: &Progress<'_>,
    ) -> Result<Vec<(u64, u64)>, Cancelled> {
        let mut events = Vec::with_capacity(self.entries.len() * 2);
        for (row, entry) in (0_u64..).zip(self.entries.iter()) {
            if row.is_multiple_of(ROWS_BETWEEN_CHECKS) {
                progress.check()?;
            }
            if !is_ordered_by_time {
                events.push((row, ALLOCATION << 32 | row));
                continue;
            }
            events.push((entry.allocated, ALLOCATION << 32 | row));
            if entry.released != NONE {
                let kind = if entry.released > entry.allocated {
                    RELEASE
                } else {
                    INSTANT_RELEASE
                };
                events.push((entry.released, kind << 32 | row));
            }
        }
        progress.sorted(events)
    }
}

/// The order of events at one time.
const RELEASE: u64 = 0;
pub(super) const ALLOCATION: u64 = 1;
const INSTANT_RELEASE: u64 = 2;

impl Entry {
    fn block(&self, step: u32, n_steps: u32) -> RecordedBlock {
        RecordedBlock {
            stream: self.stream,
            is_freed: self.released != NONE,
            ..RecordedBlock::new(self.name, Step(step), Step(n_steps), Bytes(self.bytes))
        }
    }
}
