//! What the worker is asked for, and what it answers.
//!
//! Invariant: both are values that cross threads; nothing here works.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::budget_sweep::BudgetSweepSubject;
use super::document::SourceSpec;
use super::document_file::{DocumentFile, OpenedDocument, SourceState};
use super::export::ExportOrder;
use super::known_names::{KnownNames, rename_in_plan};
use super::name_reuse::{NamesQuestion, NamesReport};
use super::painter::{LanePicture, RowsPicture};
use super::planner::{PlannerRow, PlannerSubject};
use super::report::SourceReport;
use highwater_analysis::sweep::{Explorer, Goal, Recommendation, SmallestDevice, Space, SweepPoint};
use highwater_analysis::{BudgetSweepPoint, BudgetSweepTask, Comparison, LaneId, Request};
use highwater_export::{ConfigDocument, Picture, SvgColors};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, Part, SchedulePlan, Workload};
use highwater_options::{DumpedSettings, SeenFiles};
use highwater_plan::Strategy;
use highwater_sim::DevicePicture;
use highwater_timeline::{
    Areas, AxisKind, Coloring, ColoringRequest, LaneChanges, LaneDifference, LaneRows, Matches, PeakReport,
    PeakRequest, Query, RowOrder, TableRows, TableSpec, TableSubject, Timeline, Viewport,
};

/// Work to do.
#[derive(Debug)]
pub enum Job {
    /// Read sources and make a workload.
    Load {
        /// What to read.
        sources: Vec<SourceSpec>,
        /// Whether to add evaluation graphs.
        with_evaluation: bool,
        /// What the document calls graphs.
        known: KnownNames,
    },
    /// Simulate every policy; of an answer that differs in its pins alone, only new pins.
    Compare(Box<Request>, Option<Arc<Comparison>>),
    /// Write a file whole or not at all.
    Write {
        /// Where.
        path: PathBuf,
        /// What.
        bytes: Vec<u8>,
    },
    /// Find what the planner's table of a graph is about.
    PlannerSubject {
        /// The answer on the screen.
        comparison: Arc<Comparison>,
        /// The graph.
        graph: GraphIdx,
        /// What the table on the screen is about; kept where it is the same.
        known: Option<Arc<PlannerSubject>>,
    },
    /// Run one strategy for the planner's table.
    PlannerRow(Arc<PlannerSubject>, &'static Strategy),
    /// Make the tape of a graph, for running it under many budgets.
    BudgetSweepSubject(Box<Request>, GraphIdx),
    /// Run a tape under some budgets.
    SweepPoints(Arc<BudgetSweepSubject>, Vec<BudgetSweepTask>),
    /// Make ready to try the points of a space.
    SpaceStart(Box<Request>, Box<Space>),
    /// Try some points of a space.
    SpacePoints(Arc<Explorer>, Vec<u64>),
    /// Find the smallest device for the points that were tried.
    SmallestDevice(Arc<Explorer>, Vec<SweepPoint>),
    /// Recommend one of the points that were tried.
    Recommend(Arc<Explorer>, Goal, Vec<SweepPoint>),
    /// Reuse names at both levels.
    NameReuse(Box<NamesQuestion>),
    /// Work out what the device holds at a step of a lane, by position.
    DevicePicture {
        /// The answer on the screen.
        comparison: Arc<Comparison>,
        /// Which of its lanes.
        lane: usize,
        /// When.
        step: Step,
    },
    /// Look for tensors in a lane.
    Search {
        /// The answer on the screen.
        comparison: Arc<Comparison>,
        /// Its view-model.
        timeline: Arc<Timeline>,
        /// Which of its lanes.
        lane: usize,
        /// What is looked for.
        query: Query,
    },
    /// Make a table.
    Table(Box<TableSpec>, TableSubject),
    /// Write a table as CSV.
    WriteTable(PathBuf, Arc<TableRows>),
    /// Explain a step of a lane.
    Peak {
        /// The answer on the screen.
        comparison: Arc<Comparison>,
        /// What is asked.
        ask: PeakRequest,
    },
    /// Write an explained step, in the form that the extension says.
    WritePeak {
        /// Where.
        path: PathBuf,
        /// What the report is of.
        comparison: Arc<Comparison>,
        /// The report.
        report: Arc<PeakReport>,
    },
    /// Read a configuration file.
    ReadConfig(PathBuf),
    /// Look at the paths that options name.
    ProbeFiles(Vec<String>),
    /// Take one lane from another.
    Difference(Arc<Comparison>, (LaneId, LaneId)),
    /// Find out what the peak of the second lane holds otherwise than that of the first.
    LaneChanges(Arc<Comparison>, (LaneId, LaneId)),
    /// Work out the colours of all blocks.
    Colors {
        /// The answer on the screen.
        comparison: Arc<Comparison>,
        /// Its view-model.
        timeline: Arc<Timeline>,
        /// What colours stand for.
        order: ColoringRequest,
        /// What a search found: everything else steps back.
        found: Option<Arc<Matches>>,
    },
    /// Work out what lanes show instead of memory maps.
    Content {
        /// The answer on the screen.
        comparison: Arc<Comparison>,
        /// Its view-model.
        timeline: Arc<Timeline>,
        /// The colours of its blocks.
        look: Arc<Coloring>,
        /// What is wanted.
        order: ContentOrder,
    },
    /// Write a picture, as PNG.
    WritePicture {
        /// Where.
        path: PathBuf,
        /// What.
        picture: Picture,
    },
    /// Write a drawing of a lane, as SVG.
    WriteDrawing(Box<Drawing>),
    /// Write a file of an answer.
    Export(Box<ExportOrder>),
    /// Find out which of these files and folders are gone.
    FindMissing(Vec<PathBuf>),
    /// Write a document, with the hashes of its sources; where its file is known by the hash of its content, only over that.
    SaveDocument(PathBuf, Box<DocumentFile>, Option<String>),
    /// Find out what became of sources that had these hashes.
    CheckSources(Vec<SourceSpec>, Vec<Option<String>>),
}

/// What lanes show instead of memory maps, and has to be worked out for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentOrder {
    /// Nothing: they show memory maps.
    #[default]
    Maps,
    /// What every group holds, as areas.
    Areas,
    /// The rows of a lane.
    Lifetimes {
        /// The lane, by position.
        lane: usize,
        /// What rows are sorted by.
        by: RowOrder,
    },
}

impl Job {
    /// The file that is to be written; `None` where nothing is.
    pub(super) fn target(&self) -> Option<&Path> {
        match self {
            Self::Write { path, .. }
            | Self::WriteTable(path, _)
            | Self::WritePeak { path, .. }
            | Self::WritePicture { path, .. }
            | Self::SaveDocument(path, ..) => Some(path),
            Self::WriteDrawing(drawing) => Some(&drawing.path),
            Self::Export(order) => Some(&order.path),
            _ => None,
        }
    }
}

/// A drawing of a lane.
#[derive(Debug)]
pub struct Drawing {
    /// Where it is written.
    pub path: PathBuf,
    /// The answer on the screen.
    pub comparison: Arc<Comparison>,
    /// Its view-model.
    pub timeline: Arc<Timeline>,
    /// Which of its lanes.
    pub lane: usize,
    /// What of the lane.
    pub view: LaneInView,
    /// The colours of its blocks.
    pub look: Arc<Coloring>,
}

/// What is seen of a lane, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneInView {
    /// Steps and addresses.
    pub viewport: Viewport,
    /// What the axis counts; steps where the answer has no such times.
    pub axis: AxisKind,
    /// Width and height in points.
    pub size: (f64, f64),
    /// Colours.
    pub colors: SvgColors,
}

/// What a load found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The graphs, or the part of them that is looked at.
    pub workload: Arc<Workload>,
    /// All that was read.
    pub whole: Arc<Workload>,
    /// What of it can be looked at by itself.
    pub parts: Vec<Part>,
    /// Settings that dumps carry and that differ from the defaults, by graph.
    pub stamped: Vec<(String, DumpedSettings)>,
    /// What graphs may be called besides their names: the name that they have when opened beside other files, or alone.
    pub aliases: BTreeMap<String, String>,
    /// Names by which the document knew graphs, each with the name that the graph has in its place: sources were located.
    pub renamed: BTreeMap<String, String>,
    /// What was read, in order; configurations among the sources stand apart.
    pub sources: Vec<SourceSpec>,
    /// Configurations that were named among the sources.
    pub configs: Vec<ReadConfig>,
    /// What was read of each source, by position.
    pub reports: Vec<SourceReport>,
    /// Oddities of all sources.
    pub diagnostics: Diagnostics,
}

impl Loaded {
    /// Whether some source could not be read: what is set for it waits until it is located.
    pub fn lacks_a_source(&self) -> bool {
        self.reports.iter().any(SourceReport::is_failed)
    }

    /// The name that a graph has here.
    pub fn name_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Calls graphs in a schedule as they are called here. O(entries log graphs).
    pub fn follow(&self, plan: &mut SchedulePlan) {
        rename_in_plan(&self.aliases, plan);
    }

    /// Looks at a part alone, by name; at everything where there is no such part. Says whether there is.
    pub fn show(&mut self, part: Option<&str>) -> bool {
        let shown = part.and_then(|name| self.parts.iter().find(|part| part.name == self.name_of(name)));
        let is_there = shown.is_some() || part.is_none();
        self.workload = shown.map_or_else(|| Arc::clone(&self.whole), |part| Arc::new(self.whole.of_part(part)));
        is_there
    }
}

/// A configuration that was read from a file.
#[derive(Clone, Debug)]
pub struct ReadConfig {
    /// The file as the user named it.
    pub name: String,
    /// What it says.
    pub config: ConfigDocument,
    /// What could not be read, and what is odd.
    pub remarks: Diagnostics,
}

/// What the worker says.
#[derive(Clone, Debug)]
pub enum Answer {
    /// How far the current job is.
    Progress {
        /// The stage's name.
        stage: &'static str,
        /// 0.0 to 1.0.
        fraction: f32,
    },
    /// Sources were read.
    Loaded(Loaded),
    /// What was named is a document; its sources are not read yet.
    DocumentOpened(Box<OpenedDocument>),
    /// A document was written: where, what, and the hash of the file.
    DocumentSaved(PathBuf, Box<DocumentFile>, String),
    /// A document was not written: the file holds something else than it is known to hold.
    DocumentDiffers(PathBuf),
    /// What became of sources.
    SourcesChecked(Vec<SourceState>),
    /// Policies were simulated.
    Compared(Arc<Comparison>, Arc<Timeline>),
    /// The same, with searches for plans cut short; the whole follows.
    Preview(Arc<Comparison>, Arc<Timeline>),
    /// What the planner's table is about, with its lower bound; `None` where the graph has no arena.
    PlannerSubject(Option<(Arc<PlannerSubject>, Bytes)>),
    /// A strategy has made its plan.
    Planned(PlannerRow),
    /// What is swept; `None` where there is nothing to sweep.
    BudgetSweepSubject(Option<Arc<BudgetSweepSubject>>),
    /// A space can be tried: by whom, and its points in an order in which those that share most follow each other.
    SpaceReady(Arc<Explorer>, Vec<u64>),
    /// Some points of a space.
    SpacePoints(Vec<SweepPoint>),
    /// The smallest device for a space; `None` where none is large enough.
    SmallestDevice(Option<Box<SmallestDevice>>),
    /// The configuration to take.
    Recommended(Arc<Recommendation>),
    /// Some points of the sweep.
    Swept(Vec<BudgetSweepPoint>),
    /// Names were reused; `None` where there is neither a graph nor a program.
    NamesReused(Option<Arc<NamesReport>>),
    /// What the device holds.
    DevicePicture(Box<DevicePicture>),
    /// What a search found.
    Searched(Arc<Matches>),
    /// A table was made.
    Table(Arc<TableRows>),
    /// A step is explained; `None` where there is nothing to explain.
    Peak(Option<Arc<PeakReport>>),
    /// A file was written.
    Written(PathBuf),
    /// Configuration files were read.
    ConfigsRead(Vec<ReadConfig>),
    /// What stands at the paths.
    ProbedFiles(SeenFiles),
    /// One lane less another; `None` where one of them is not there.
    Difference(Option<Arc<LaneDifference>>),
    /// What a lane holds otherwise than another; `None` where one of them is not there.
    LaneChanges(Option<Arc<LaneChanges>>),
    /// The colours of all blocks.
    Colored(Arc<Coloring>),
    /// What groups hold, lane by lane.
    Areas(Arc<Areas>),
    /// The rows of a lane, in an order.
    Lifetimes(Arc<LaneRows>),
    /// A picture of rows was drawn.
    PaintedRows(Arc<RowsPicture>),
    /// A picture was drawn; `None` where the order is done or gave way to a newer one.
    Painted(Option<Arc<LanePicture>>),
    /// A picture could not be drawn; a sentence for the user.
    Unpainted(String),
    /// These files and folders are gone.
    Missing(BTreeSet<PathBuf>),
    /// The job failed; a sentence for the user.
    Failed(String),
    /// The job was cancelled.
    Cancelled,
}
