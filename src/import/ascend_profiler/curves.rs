//! `memory_record`, `npu_module_mem` and `npu_mem`: what each component held, as samples.
//!
//! In: rows of a CSV, or of the tables `MEMORY_RECORD` and `NPU_MODULE_MEM`. Out: one recording of curves alone per
//! component and device, its samples by time, at one time in the order of the file. Totals are those of the device, over
//! all streams: the stream of a row is only that of the event, so it does not part the curves. A negative total (msprof
//! writes -1 where it saw only releases) is left out. Where a spreadsheet cut a time, the sample is left
//! out; where it cut most, the samples keep the order of the file, and no time is claimed.
//!
//! `MindSpore`'s viewer (`ascend_memory_viewer.py`, 2.4 to 2.10) divides bytes by 1024 and the result by 1000 and calls that MB,
//! for every component; its files are known by the components `MindSpore` and `MindSpore+GE`.

use indexmap::IndexMap;

use super::device_name;
use super::header::{Header, SizeColumn, TimeColumn};
use super::table::{Fault, Row, Sink, Table, Tally, leave_out};
use crate::ImportError;
use highwater_model::diagnostics::Severity;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{EventTimes, RecordedTotal, Recording, TotalKind};

/// A size that the file does not state.
const NONE: u64 = u64::MAX;

/// The kinds of curves, in the order of [`Sample::totals`].
const KINDS: [TotalKind; 3] = [TotalKind::Allocated, TotalKind::Reserved, TotalKind::Active];

const HEADINGS: [&[&str]; 3] = [&["total allocated"], &["total reserved", "memory"], &["total active"]];

const COMPONENT: &[&str] = &["component", "event"];

/// Components that `MindSpore`'s viewer alone writes.
const MINDSPORE: [&[u8]; 2] = [b"MindSpore", b"MindSpore+GE"];

const MEGABYTE: u64 = 1 << 20;

/// Bytes of what that viewer calls MB.
const MINDSPORE_MEGABYTE: u64 = 1024 * 1000;

#[derive(Clone, Copy, Debug)]
struct Sample {
    time: u64,
    totals: [u64; 3],
}

#[derive(Debug)]
struct Group {
    component: String,
    device: String,
    samples: Vec<Sample>,
    /// Positions of samples with damaged times, ascending.
    rough: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Curves {
    component: Option<usize>,
    time: TimeColumn,
    totals: [Option<SizeColumn>; 3],
    device: Option<usize>,
    /// By the texts of component and device.
    groups: IndexMap<(Vec<u8>, Vec<u8>), Group>,
    /// The group of the row before: rows of one component are neighbours.
    last: usize,
    is_mindspore: bool,
    negative: Tally,
    rough: Tally,
}

pub(super) fn is_header(header: &Header) -> bool {
    let has_total = HEADINGS.iter().any(|names| header.find(names).is_some());
    header.find(COMPONENT).is_some() && header.find(&["timestamp"]).is_some() && has_total
}

impl Curves {
    pub(super) fn new(header: &Header) -> Result<Self, ImportError> {
        Ok(Self {
            component: header.find(COMPONENT),
            time: Header::needed(header.time(&["timestamp"])?)?,
            totals: [
                header.size(HEADINGS[0])?,
                header.size(HEADINGS[1])?,
                header.size(HEADINGS[2])?,
            ],
            device: header.find(&["device type", "device", "device id"]),
            groups: IndexMap::new(),
            last: 0,
            is_mindspore: false,
            negative: Tally::default(),
            rough: Tally::default(),
        })
    }

    fn group(&mut self, component: &[u8], device: &[u8]) -> &mut Group {
        let last = self.groups.get_index(self.last);
        if last.is_none_or(|((of, on), _)| (of.as_slice(), on.as_slice()) != (component, device)) {
            let entry = self.groups.entry((component.to_vec(), device.to_vec()));
            self.last = entry.index();
            entry.or_insert_with(|| Group {
                component: String::from_utf8_lossy(component).into_owned(),
                device: device_name(device),
                samples: Vec::new(),
                rough: Vec::new(),
            });
        }
        &mut self.groups[self.last]
    }

    /// From here on MB are those of `MindSpore`'s viewer; the rows before, of other components, are converted.
    fn use_mindspore_units(&mut self) {
        self.is_mindspore = true;
        for (at, column) in self.totals.iter_mut().enumerate() {
            let Some(column) = column.as_mut().filter(|column| column.factor == MEGABYTE) else {
                continue;
            };
            column.factor = MINDSPORE_MEGABYTE;
            let samples = self.groups.values_mut().flat_map(|group| &mut group.samples);
            for total in samples
                .map(|sample| &mut sample.totals[at])
                .filter(|total| **total != NONE)
            {
                let bytes = u128::from(*total) * u128::from(MINDSPORE_MEGABYTE);
                // To the nearest: a whole number of bytes was rounded by at most half of one.
                let bytes = (bytes + u128::from(MEGABYTE / 2)) / u128::from(MEGABYTE);
                *total = u64::try_from(bytes).unwrap_or(NONE);
            }
        }
    }

    fn has_mindspore_units(&self) -> bool {
        let mut columns = self.totals.iter().flatten();
        self.is_mindspore && columns.any(|column| column.factor == MINDSPORE_MEGABYTE)
    }
}

impl Table for Curves {
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        if !self.is_mindspore && MINDSPORE.contains(&row.field(self.component)) {
            self.use_mindspore_units();
        }
        let Some((time, is_rough)) = row.time(Some(self.time))? else {
            return Err(Fault::new("the time is missing", row.field(self.component)));
        };
        let mut totals = [NONE; 3];
        for (total, column) in totals.iter_mut().zip(self.totals) {
            let Some(column) = column else { continue };
            match row.number(column.at)? {
                Some(number) if number.is_negative => self.negative.add(row.field(self.component)),
                _ => *total = row.size(Some(column))?.unwrap_or(NONE),
            }
        }
        if is_rough {
            self.rough.add(row.field(Some(self.time.at)));
        }
        let group = self.group(row.field(self.component), row.field(self.device));
        if is_rough {
            group.rough.push(u32::try_from(group.samples.len()).unwrap_or(u32::MAX));
        }
        group.samples.push(Sample { time, totals });
        Ok(())
    }

    fn finish(mut self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        let n_rows: usize = self.groups.values().map(|group| group.samples.len()).sum();
        let has_times = self.rough.is_few(n_rows);
        let devices: std::collections::BTreeSet<String> =
            self.groups.values().map(|group| group.device.clone()).collect();
        for group in std::mem::take(&mut self.groups).into_values() {
            let recording = group.finish(devices.len() > 1, has_times, sink.progress)?;
            if recording.totals.is_empty() {
                let message = "the component has no total that says something; it is left out";
                sink.diagnostics.info(message, &recording.name);
            } else {
                sink.recordings.push(recording);
            }
        }
        if self.has_mindspore_units() {
            let message =
                "the table is of MindSpore, whose MB are 1,024,000 bytes: it divides bytes by 1024 and by 1000";
            sink.diagnostics.info(message, "");
        }
        let message = "a negative total says that only releases were seen; the sample is left out";
        self.negative.report(Severity::Info, message, sink.diagnostics);
        let message = if has_times {
            "digits of a time are cut off, as spreadsheets do: the sample is left out; take the file that the profiler wrote"
        } else {
            "digits of a time are cut off, as spreadsheets do: the samples are in the order of the file; take the file \
             that the profiler wrote"
        };
        self.rough.report(Severity::Warning, message, sink.diagnostics);
        Ok(())
    }
}

impl Group {
    fn finish(mut self, has_devices: bool, has_times: bool, progress: &Progress<'_>) -> Result<Recording, ImportError> {
        if has_times {
            leave_out(&mut self.samples, &self.rough);
        }
        let name = if has_devices {
            format!("{} {}", self.component, self.device)
        } else {
            self.component
        };
        let Ok(n_steps) = u32::try_from(self.samples.len()) else {
            return Err(ImportError::at(
                "there are more samples than can be counted",
                name,
                "profile fewer steps",
            ));
        };
        let order = (0_u32..)
            .zip(&self.samples)
            .map(|(row, sample)| (if has_times { sample.time } else { 0 }, row));
        let order = progress.sorted(order.collect::<Vec<(u64, u32)>>())?;
        let mut totals = [const { Vec::new() }; 3];
        for (step, (_, row)) in (0_u32..).zip(&order) {
            let sample = &self.samples[*row as usize];
            for (samples, bytes) in totals.iter_mut().zip(sample.totals) {
                if bytes != NONE {
                    samples.push((Step(step), Bytes(bytes)));
                }
            }
        }
        Ok(Recording {
            name,
            device: self.device,
            recorder: "Ascend profiler, memory by component".to_owned(),
            n_steps,
            times: if has_times {
                order.iter().map(|(time, _)| Nanos(*time)).collect()
            } else {
                EventTimes::default()
            },
            totals: RecordedTotal::known(KINDS.into_iter().zip(totals)),
            ..Recording::default()
        })
    }
}
