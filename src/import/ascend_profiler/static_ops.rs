//! `static_op_mem`: the memory that a static graph's ops hold, as intervals of node indexes.
//!
//! In: rows `[Device_id,] Op Name, Model Name, Graph ID, Node Index Start, Node Index End, Size(KB)`. Out: one placement
//! problem per device and graph, named `host/0`, its buffers called like the ops. Rules: both ends of an interval are
//! within it; an end of 4294967295 (or one less, as older tools write) is the life of the graph, up to the last index that
//! the table names; the row TOTAL is what the engine reserves, no interval: it is compared and reported. Where indexes are too
//! large to count, steps are the ends of intervals.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::header::{Header, SizeColumn};
use super::table::{Fault, Row, Sink, Table};
use crate::ImportError;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Buffer, Names, PlacementProblem, ProblemEntry};

/// Ends from here on are the life of the graph.
const WHOLE_LIFE: u32 = u32::MAX - 1;

/// The last index that is a step.
const MOST_STEPS: u32 = 1 << 24;

#[derive(Clone, Debug)]
struct Columns {
    device: Option<usize>,
    op: usize,
    model: Option<usize>,
    graph: Option<usize>,
    start: usize,
    end: usize,
    size: SizeColumn,
}

#[derive(Debug, Default)]
struct Graph {
    /// First and last index of each interval; a life of the graph keeps [`WHOLE_LIFE`] or more.
    intervals: Vec<(u32, u32)>,
    sizes: Vec<Bytes>,
    ids: Names,
    total: Option<Bytes>,
}

#[derive(Debug)]
pub(super) struct StaticOps {
    columns: Columns,
    /// By device, id and model.
    graphs: IndexMap<(String, String, String), Graph>,
}

pub(super) fn is_header(header: &Header) -> bool {
    header.has_all(&["op name", "node index start", "node index end", "size"])
}

impl StaticOps {
    pub(super) fn new(header: &Header) -> Result<Self, ImportError> {
        let column = |name: &str| Header::needed(header.find(&[name]));
        Ok(Self {
            columns: Columns {
                device: header.find(&["device id", "device"]),
                op: column("op name")?,
                model: header.find(&["model name"]),
                graph: header.find(&["graph id"]),
                start: column("node index start")?,
                end: column("node index end")?,
                size: Header::needed(header.size(&["size"])?)?,
            },
            graphs: IndexMap::new(),
        })
    }
}

impl Table for StaticOps {
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let Some(bytes) = row.size(Some(self.columns.size))? else {
            return Err(Fault::new(
                "the size is missing or negative",
                row.field(Some(self.columns.op)),
            ));
        };
        let index = |at: usize| {
            let text = row.field(Some(at));
            let index = super::number_of(text).and_then(|index| u32::try_from(index).ok());
            index.ok_or_else(|| Fault::new("a node index cannot be read", text))
        };
        let (start, end) = (index(self.columns.start)?, index(self.columns.end)?);
        let op = row.field(Some(self.columns.op));
        let is_total = op == b"TOTAL" && end >= WHOLE_LIFE;
        if !is_total && (end < start || start >= WHOLE_LIFE) {
            return Err(Fault::new("the interval ends before it begins", op));
        }
        let text = |at: Option<usize>| String::from_utf8_lossy(row.field(at)).into_owned();
        let key = (
            text(self.columns.device),
            text(self.columns.graph),
            text(self.columns.model),
        );
        let graph = self.graphs.entry(key).or_default();
        if is_total {
            graph.total = Some(Bytes(bytes));
        } else {
            graph.intervals.push((start, end));
            graph.sizes.push(Bytes(bytes));
            graph.ids.push(&String::from_utf8_lossy(op));
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        let mut models: BTreeMap<(String, String), u32> = BTreeMap::new();
        for (device, id, _) in self.graphs.keys() {
            *models.entry((device.clone(), id.clone())).or_default() += 1;
        }
        for (key, graph) in std::mem::take(&mut self.graphs) {
            sink.progress.check()?;
            let (device, id, model) = &key;
            let is_alone = models.get(&(device.clone(), id.clone())) == Some(&1);
            let mut name = if device.is_empty() {
                id.clone()
            } else {
                format!("{device}/{id}")
            };
            if !is_alone {
                name = format!("{name} model {model}");
            }
            graph.finish(name, sink)?;
        }
        Ok(())
    }
}

impl Graph {
    fn finish(self, name: String, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        let finite = |end: u32| Some(end).filter(|end| *end < WHOLE_LIFE);
        let last = self
            .intervals
            .iter()
            .map(|(start, end)| finite(*end).unwrap_or(*start))
            .max();
        let Some(last) = last else {
            let message = "the graph has no row but its total; it is left out";
            sink.diagnostics.info(message, &name);
            return Ok(());
        };
        let half_open: Vec<(u32, u32)> = self
            .intervals
            .iter()
            .map(|(start, end)| (*start, finite(*end).unwrap_or(last) + 1))
            .collect();
        let times = if last < MOST_STEPS {
            Vec::new()
        } else {
            ends_of(&half_open, sink)?
        };
        let step = |index: u32| match times.binary_search(&u64::from(index)) {
            Ok(position) => Step(u32::try_from(position).unwrap_or(u32::MAX)),
            Err(_) => Step(index),
        };
        let buffers = half_open.iter().zip(&self.sizes).map(|((lower, upper), size)| Buffer {
            lower: step(*lower),
            upper: step(*upper),
            size: *size,
            alignment: 1,
            offset: None,
        });
        let problem = PlacementProblem::of(buffers);
        let shapes = problem.checked(sink.progress)?.map_err(|error| {
            ImportError::at(
                error.to_string(),
                format!("graph \"{name}\""),
                "the file is damaged, export it again",
            )
        })?;
        if let Some(total) = self.total {
            let sum = self
                .sizes
                .iter()
                .fold(0_u64, |sum, size| sum.saturating_add(size.get()));
            let message = format!(
                "the row TOTAL is no interval and left out; it says {} bytes, the ops in sum are {sum} bytes and at most {} \
                 bytes at once",
                total.get(),
                shapes.lower_bound().get()
            );
            sink.diagnostics.info(message, &name);
        }
        sink.problems.push(ProblemEntry {
            name,
            problem,
            ids: self.ids,
            times,
            ..ProblemEntry::default()
        });
        Ok(())
    }
}

/// The distinct ends of intervals, ascending.
fn ends_of(half_open: &[(u32, u32)], sink: &Sink<'_, '_>) -> Result<Vec<u64>, ImportError> {
    let ends = half_open
        .iter()
        .flat_map(|(lower, upper)| [u64::from(*lower), u64::from(*upper)]);
    let mut ends = sink.progress.sorted(ends.collect())?;
    ends.dedup();
    Ok(ends)
}
