//! Workloads: graphs, a schedule of runs, the values of symbolic dimensions, and the device.
//!
//! The data that travel between stages are here too ([`Lifetimes`], [`Program`]), so that planning and simulation do
//! not depend on liveness.

mod alignment;
mod allocation_order;
mod block_program;
mod cann_log;
mod device;
mod dumped;
mod evaluation;
mod generator;
mod learn;
mod lifetimes;
mod logged;
mod names;
mod op_list;
mod op_matching;
mod parts;
mod problem;
mod problem_text;
mod recording;
mod samples;
mod schedule;
mod shapes;
mod tape;
mod trace;
mod trace_lifetimes;
mod unique_names;
mod uses;

pub use alignment::Alignment;
pub use allocation_order::{AllocationOrder, IoBlock};
pub use block_program::{Block, BlockOp, BlockProgram, BlockVariable, Slots};
pub use cann_log::{
    ArenaLoad, DeviceFree, DriverRow, Holder, Library, LogLevel, LogTime, LoggedEvent, LoggedEventKind, LoggedFailure,
    LoggedGraph, LoggedPlace, LoggedPool, LoggedProcess, LoggedStatement, LoggedVariables, MemoryPlace, OpKind,
    OpKinds, PolicyFrom, RefusedBy,
};
pub use device::{AiCores, Basis, Device, DeviceError, DeviceFigure, DeviceProfiles, FigureUnit};
pub use dumped::{Dumped, DumpedOffsets, DumpedOption};
pub use evaluation::{evaluation_entry, evaluation_graph};
pub use generator::{Generator, GeneratorError, MAX_VALUES};
pub use learn::{LearnedOps, learn_ops};
pub use lifetimes::{Lifetime, Lifetimes, Program};
pub use logged::{LOG_MAKER, LoggedEntry, LoggedSession};
pub use names::Names;
pub use op_list::{DATA, ListedArena, ListedInput, ListedOp, ListedPlace, ListedPlaces, NET_OUTPUT, OpList};
pub use op_matching::{MatchedBy, MatchedOps, match_ops};
pub use parts::{Part, PartOf};
pub use problem::{Buffer, Gap, PlacementProblem, ProblemEntry, ProblemError, RecordedPlan};
pub use recording::{
    AllocatorSimulation, BlockAddress, CallSite, CallSiteKind, CallSites, Category, CategoryBasis, CategoryRule,
    CategoryRules, EndedAtFirst, EventAction, EventLog, EventRange, EventTimes, FailedRequest, FrameKind, FrameRule,
    FrameRuleError, FrameRules, MarkKind, NO_STEP_MARKS, NoteKind, PhasePairs, REQUESTER_RULES, RecordedBlock,
    RecordedEvent, RecordedFrame, RecordedMark, RecordedMemory, RecordedName, RecordedNames, RecordedOp, RecordedPeaks,
    RecordedPhase, RecordedRange, RecordedRegion, RecordedStacks, RecordedTotal, Recording, RecordingRules, Requester,
    RequesterRule, Segment, Segments, StackIdx, TotalKind, WholeRecording, call_site_text, is_python_file, pooled_kind,
    segment_of,
};
pub use samples::samples;
pub use schedule::{
    Axis, AxisRun, DimValues, EntryKind, EntryTextError, GraphIdx, LoadChange, Run, Schedule, ScheduleEntry,
    ScheduleError, SchedulePlan, ScheduledGraph, SlotOp,
};
pub use shapes::{Item, Piece, Shapes};
pub use tape::{Tape, TapeCall, TapeOp, TapeTensor};
pub use trace::{AllocationTrace, ArenaSegment, TraceCommand, TraceName};
pub use trace_lifetimes::{TraceLifetime, TraceOwner};
pub use unique_names::UniqueNames;
pub use uses::{BodyMap, BodyUse, CallOrder, UseKind, ops_to_steps};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::Graph;

/// One graph of a session, with the bodies of its control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEntry {
    /// The name shown to users: the graph's own, otherwise the file's.
    pub name: String,
    pub graph: Arc<Graph>,
    /// Subgraphs and functions that ops run.
    pub bodies: Vec<Arc<Graph>>,
    /// The ops that run bodies.
    pub uses: Vec<BodyUse>,
    /// Content of a compiler's dump beyond the graph.
    pub dumped: Option<Arc<Dumped>>,
}

impl GraphEntry {
    /// A graph without bodies.
    pub const fn new(name: String, graph: Arc<Graph>) -> Self {
        Self {
            name,
            graph,
            bodies: Vec::new(),
            uses: Vec::new(),
            dumped: None,
        }
    }
}

/// The content of the opened files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the order of the files; the schedule says what runs when.
    Graphs(Vec<GraphEntry>),
    /// A file without a graph: live ranges only.
    Lifetimes(Vec<(String, Arc<Lifetimes>)>),
    /// Buffers to place, perhaps with a recorded plan.
    Problems(Vec<Arc<ProblemEntry>>),
    /// Allocation traces: requests without a graph, for replaying.
    Traces(Vec<Arc<AllocationTrace>>),
    /// Tapes: ops with costs and references, for running under a memory budget.
    Tapes(Vec<Arc<Tape>>),
    /// Programs of blocks, variables and ops, for name reuse.
    Blocks(Vec<Arc<BlockProgram>>),
    /// Recordings of real runs, one per device, component or rank.
    Recordings(Vec<Arc<Recording>>),
}

/// Everything that one session on one device runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The name shown to users.
    pub name: String,
    pub source: Source,
    /// Recordings opened together with graphs; alone they are the source.
    pub measured: Vec<Arc<Recording>>,
    /// What the source says runs, where the user has no schedule.
    pub schedule: Vec<ScheduleEntry>,
}

impl Workload {
    pub const fn new(name: String, source: Source) -> Self {
        Self {
            name,
            source,
            measured: Vec::new(),
            schedule: Vec::new(),
        }
    }

    /// The recordings: the source's, or those opened together with graphs.
    pub fn recordings(&self) -> &[Arc<Recording>] {
        match &self.source {
            Source::Recordings(recordings) => recordings,
            _ => &self.measured,
        }
    }

    /// A copy with call sites and categories by the rules of a document; `None` without rules or without call stacks.
    /// O(blocks + lines of all stacks).
    pub fn with_rules(&self, rules: &RecordingRules) -> Option<Self> {
        let has_stacks = self.recordings().iter().any(|one| !one.stacks.is_empty());
        if rules.is_empty() || !has_stacks {
            return None;
        }
        let mut own = self.clone();
        let recordings = match &mut own.source {
            Source::Recordings(recordings) => recordings,
            _ => &mut own.measured,
        };
        for recording in recordings {
            Arc::make_mut(recording).apply_rules(rules);
        }
        Some(own)
    }

    /// Empty for other sources.
    pub fn graphs(&self) -> &[GraphEntry] {
        match &self.source {
            Source::Graphs(graphs) => graphs,
            _ => &[],
        }
    }

    /// A copy whose ops that read only shapes keep no tensor live.
    #[must_use]
    pub fn without_shape_reads(&self) -> Self {
        let mut workload = self.clone();
        if let Source::Graphs(entries) = &mut workload.source {
            for entry in entries {
                entry.graph = Arc::new(entry.graph.without_shape_reads());
                for body in &mut entry.bodies {
                    *body = Arc::new(body.without_shape_reads());
                }
            }
        }
        workload
    }

    /// The graphs as input of a schedule.
    pub fn scheduled_graphs(&self) -> Vec<ScheduledGraph> {
        let one = |entry: &GraphEntry| ScheduledGraph {
            name: entry.name.clone(),
            symbols: entry.graph.symbols(),
        };
        self.graphs().iter().map(one).collect()
    }

    /// A copy whose graphs have the names of a schedule.
    ///
    /// # Errors
    /// [`ScheduleError::SameName`].
    pub fn renamed(&self, plan: &SchedulePlan) -> Result<Self, ScheduleError> {
        let mut workload = self.clone();
        let Source::Graphs(entries) = &mut workload.source else {
            return Ok(workload);
        };
        let mut taken = BTreeSet::new();
        for entry in entries {
            entry.name = plan.shown_name(&entry.name).to_owned();
            if !taken.insert(entry.name.clone()) {
                return Err(ScheduleError::SameName {
                    name: entry.name.clone(),
                });
            }
        }
        Ok(workload)
    }

    /// Empty for other sources.
    pub fn problems(&self) -> &[Arc<ProblemEntry>] {
        match &self.source {
            Source::Problems(problems) => problems,
            _ => &[],
        }
    }

    /// Empty for other sources.
    pub fn traces(&self) -> &[Arc<AllocationTrace>] {
        match &self.source {
            Source::Traces(traces) => traces,
            _ => &[],
        }
    }

    /// Empty for other sources.
    pub fn tapes(&self) -> &[Arc<Tape>] {
        match &self.source {
            Source::Tapes(tapes) => tapes,
            _ => &[],
        }
    }

    /// Empty for other sources.
    pub fn programs(&self) -> &[Arc<BlockProgram>] {
        match &self.source {
            Source::Blocks(programs) => programs,
            _ => &[],
        }
    }

    /// Names of symbolic dimensions over all graphs, each once, in the order of first use.
    pub fn symbols(&self) -> Vec<String> {
        let mut symbols: Vec<String> = Vec::new();
        for entry in self.graphs() {
            for symbol in entry.graph.symbols() {
                if !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            }
        }
        symbols
    }
}
