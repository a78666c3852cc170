//! Groups of tensors by an attribute: op type, data type, role, phase, scope, size, lifetime; of recorded blocks call
//! site, function, file, module, category, pool, annotation, notes.
//!
//! In: a comparison and an attribute. Out: the group of every tensor, and the groups' texts. Equal texts are one group
//! in all graphs. Tensors whose source states nothing form a group. O(tensors).

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexSet;

use highwater_analysis::{Comparison, LaneId, LaneKind, OpSource};
use highwater_model::graph::{Graph, Id as _, OpId, Phase, Role, TensorId};
use highwater_model::units::Bytes;
use highwater_model::workload::{
    Category, GraphIdx, NoteKind, RecordedBlock, RecordedName, RecordedPhase, Recording, Segments, segment_of,
};
use highwater_rewrite::op_of_workspace;

use super::{Selected, TensorKey};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    #[default]
    Role,
    /// Of the producing op.
    OpType,
    DType,
    /// Of the producing op.
    Phase,
    /// The first components of its path, such as `encoder/layer_0`; of a recorded block its file.
    Scope,
    /// Of a recorded block: the line that asked for it.
    CallSite,
    /// Of a recorded block: the source file of its call site.
    File,
    /// Of a recorded block: the function of its call site, with the file where several files have one of that name.
    Function,
    /// Of a recorded block: the Python module of its call site, as `import` names it.
    Module,
    /// Of a recorded block: what it is for, inferred.
    Category,
    /// Of a recorded block: the kind of its segment, with the private pool.
    Pool,
    /// Of a recorded block: the innermost annotation at its allocation.
    Annotation,
    /// Of a recorded block: what was being compiled.
    CompileContext,
    /// Of a recorded block: the user's note on its allocation.
    UserMetadata,
    /// In classes of bytes.
    Size,
    /// In classes of steps.
    Lifetime,
}

impl Attribute {
    /// In the order of menus.
    pub const ALL: [Self; 16] = [
        Self::CallSite,
        Self::File,
        Self::Function,
        Self::Module,
        Self::Category,
        Self::Pool,
        Self::Annotation,
        Self::CompileContext,
        Self::UserMetadata,
        Self::Role,
        Self::OpType,
        Self::DType,
        Self::Phase,
        Self::Scope,
        Self::Size,
        Self::Lifetime,
    ];

    /// Label, and name in JSON and on the command line.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Role => ("role", "role"),
            Self::OpType => ("op type", "op_type"),
            Self::DType => ("data type", "dtype"),
            Self::Phase => ("phase", "phase"),
            Self::Scope => ("scope", "scope"),
            Self::CallSite => ("call site", "call_site"),
            Self::File => ("file", "file"),
            Self::Function => ("function", "function"),
            Self::Module => ("module", "module"),
            Self::Category => ("inferred category", "category"),
            Self::Pool => ("pool", "pool"),
            Self::Annotation => ("annotation", "annotation"),
            Self::CompileContext => ("compile context", "compile_context"),
            Self::UserMetadata => ("user metadata", "user_metadata"),
            Self::Size => ("size", "size"),
            Self::Lifetime => ("lifetime", "lifetime"),
        }
    }

    pub const fn words(self) -> &'static str {
        self.names().0
    }

    pub const fn key(self) -> &'static str {
        self.names().1
    }

    /// By key or label; `op` is short for `op_type`.
    pub fn find(name: &str) -> Option<Self> {
        if name == "op" {
            return Some(Self::OpType);
        }
        let is_meant = |attribute: &Self| attribute.key() == name || attribute.words() == name;
        Self::ALL.into_iter().find(is_meant)
    }

    /// Of a recorded block; empty where the recording states none: O(1), of a pool O(segments). A block without a call stack has the text that the
    /// file states, such as the name of an op.
    pub fn of_block<'a>(self, recording: &'a Recording, block: &RecordedBlock) -> &'a str {
        recorded_text(recording, block, self)
    }

    /// Whether the lanes of a comparison can have it: recorded blocks have no role, data type and phase, tensors of
    /// graphs no call site.
    pub fn is_of(self, comparison: &Comparison) -> bool {
        let has_recordings = comparison
            .lanes
            .iter()
            .any(|lane| matches!(lane.id, LaneId::Measured(_)));
        let has_only_recordings = comparison.lane_kind() == LaneKind::Recordings;
        match self {
            Self::CallSite | Self::File | Self::Function | Self::Module | Self::Category => has_recordings,
            Self::Pool => has(comparison, |recording| !recording.regions.is_empty()),
            Self::Annotation => has(comparison, |recording| !recording.phases.is_empty()),
            Self::CompileContext => has(comparison, |recording| {
                recording.call_sites.has_note(NoteKind::CompileContext)
            }),
            Self::UserMetadata => has(comparison, |recording| {
                recording.call_sites.has_note(NoteKind::UserMetadata)
            }),
            Self::Role | Self::DType | Self::Phase | Self::Scope => !has_only_recordings,
            Self::OpType | Self::Size | Self::Lifetime => true,
        }
    }

    /// The attribute that says most where none is chosen. Nearly all live tensors of a graph are activations, so their
    /// roles say little.
    pub fn usual(comparison: &Comparison, lane: usize) -> Self {
        if comparison.is_measured_lane(lane) {
            return Self::CallSite;
        }
        match comparison.ops() {
            OpSource::Graphs(_) => Self::OpType,
            OpSource::Tape(_) | OpSource::Program(_) | OpSource::None => Self::Scope,
        }
    }

    /// The attribute of an explained peak where none is chosen.
    pub fn of_peak(comparison: &Comparison, lane: usize) -> Self {
        if comparison.is_measured_lane(lane) {
            Self::CallSite
        } else {
            Self::Role
        }
    }

    /// What its groups are divided into where nothing else is chosen: files into their lines.
    pub const fn usual_parts(self) -> Option<Self> {
        match self {
            Self::File => Some(Self::CallSite),
            _ => None,
        }
    }

    /// The text of the class of a value; empty where tensors are grouped by text.
    pub(super) fn class_of(self, value: u64) -> &'static str {
        let classes = self.classes();
        let class = classes.iter().find(|(end, _)| value < *end).or(classes.last());
        class.map_or("", |(_, text)| text)
    }

    /// Exclusive upper ends and texts of ordered classes; empty where tensors are grouped by text.
    pub(super) const fn classes(self) -> &'static [(u64, &'static str)] {
        match self {
            Self::Size => &SIZES,
            Self::Lifetime => &LIFETIMES,
            Self::Role
            | Self::OpType
            | Self::DType
            | Self::Phase
            | Self::Scope
            | Self::CallSite
            | Self::File
            | Self::Function
            | Self::Module
            | Self::Category
            | Self::Pool
            | Self::Annotation
            | Self::CompileContext
            | Self::UserMetadata => &[],
        }
    }
}

/// A tensor while a lane holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldTensor {
    pub tensor: Selected,
    pub bytes: Bytes,
    pub n_steps: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouping {
    attribute: Attribute,
    texts: IndexSet<Box<str>>,
    /// By graph, by tensor; empty for sizes and lifetimes. Graphs after the last have its tensors.
    graphs: Vec<Vec<u32>>,
}

const UNSTATED: &str = "not stated";

/// Exclusive upper ends of the classes.
const SIZES: [(u64, &str); 6] = [
    (4 << 10, "below 4 KiB"),
    (64 << 10, "4 to 64 KiB"),
    (1 << 20, "64 KiB to 1 MiB"),
    (16 << 20, "1 to 16 MiB"),
    (256 << 20, "16 to 256 MiB"),
    (u64::MAX, "256 MiB and more"),
];

/// Exclusive upper ends of the classes.
const LIFETIMES: [(u64, &str); 6] = [
    (2, "1 step"),
    (10, "2 to 9 steps"),
    (100, "10 to 99 steps"),
    (1_000, "100 to 999 steps"),
    (10_000, "1,000 to 9,999 steps"),
    (u64::MAX, "10,000 steps and more"),
];

/// The depth of scopes is the smallest that makes more than this many groups.
const LEAST_SCOPES: usize = 4;
const MOST_DEPTH: usize = 6;

impl Grouping {
    pub fn new(comparison: &Comparison, attribute: Attribute) -> Self {
        let mut grouping = Self {
            attribute,
            texts: IndexSet::new(),
            graphs: Vec::new(),
        };
        let classes = attribute.classes();
        grouping.texts.extend(classes.iter().map(|(_, text)| Box::from(*text)));
        if classes.is_empty() {
            let depth = if attribute == Attribute::Scope {
                scope_depth(comparison)
            } else {
                0
            };
            for (graph, n_tensors) in (0_u32..).zip(comparison.study().tensor_counts(comparison)) {
                let groups = if let Some(recording) = comparison.recording_of(GraphIdx(graph)) {
                    grouping.of_blocks(recording)
                } else {
                    let text = |tensor: u32| text_of(comparison, key(graph, tensor), attribute, depth);
                    let n_tensors = u32::try_from(n_tensors).unwrap_or(u32::MAX);
                    (0..n_tensors).map(|tensor| grouping.intern(&text(tensor))).collect()
                };
                grouping.graphs.push(groups);
            }
        }
        grouping
    }

    /// By block of a recording. Texts are made once for each stack and each name.
    fn of_blocks(&mut self, recording: &Recording) -> Vec<u32> {
        match self.attribute {
            Attribute::Pool => return self.of_pools(recording),
            Attribute::Annotation => return self.of_annotations(recording),
            _ => {}
        }
        let mut known: BTreeMap<(Option<u32>, u32, Option<Category>), u32> = BTreeMap::new();
        let groups = recording.blocks.iter().map(|block| {
            let stack = block.stack.and_then(|stack| u32::try_from(stack.idx()).ok());
            let name = if stack.is_some() { 0 } else { block.name.0 };
            let category = (self.attribute == Attribute::Category).then_some(block.category);
            *known
                .entry((stack, name, category))
                .or_insert_with(|| self.intern(recorded_text(recording, block, self.attribute)))
        });
        groups.collect()
    }

    fn of_pools(&mut self, recording: &Recording) -> Vec<u32> {
        let segments = Segments::new(recording);
        let mut known: BTreeMap<Option<RecordedName>, u32> = BTreeMap::new();
        let groups = recording.blocks.iter().map(|block| {
            let kind = segments.of(block).map(|segment| segment.kind);
            let text = || kind.map_or("", |kind| recording.text(kind));
            *known.entry(kind).or_insert_with(|| self.intern(text()))
        });
        groups.collect()
    }

    /// O(blocks + annotations).
    fn of_annotations(&mut self, recording: &Recording) -> Vec<u32> {
        let mut next = recording.phases.iter().peekable();
        let mut open: Vec<&RecordedPhase> = Vec::new();
        let groups = recording.blocks.iter().map(|block| {
            while let Some(phase) = next.next_if(|phase| phase.start <= block.birth) {
                open.push(phase);
            }
            while open.pop_if(|phase| phase.end <= block.birth).is_some() {}
            self.intern(annotation_text(recording, block, open.last().copied()))
        });
        groups.collect()
    }

    fn intern(&mut self, text: &str) -> u32 {
        let text = if text.is_empty() { UNSTATED } else { text };
        let position = match self.texts.get_index_of(text) {
            Some(position) => position,
            None => self.texts.insert_full(Box::from(text)).0,
        };
        u32::try_from(position).unwrap_or(u32::MAX)
    }

    pub const fn attribute(&self) -> Attribute {
        self.attribute
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub fn text(&self, group: u32) -> &str {
        self.texts.get_index(group as usize).map_or(UNSTATED, |text| text)
    }

    /// `None` for a tensor that the sources do not know.
    pub fn group(&self, held: &HeldTensor) -> Option<u32> {
        let classes = self.attribute.classes();
        let value = match self.attribute {
            Attribute::Size => held.bytes.get(),
            Attribute::Lifetime => u64::from(held.n_steps),
            Attribute::Role
            | Attribute::OpType
            | Attribute::DType
            | Attribute::Phase
            | Attribute::Scope
            | Attribute::CallSite
            | Attribute::File
            | Attribute::Function
            | Attribute::Module
            | Attribute::Category
            | Attribute::Pool
            | Attribute::Annotation
            | Attribute::CompileContext
            | Attribute::UserMetadata => {
                let tensors = self.graphs.get(held.tensor.graph.idx()).or(self.graphs.last())?;
                return tensors.get(held.tensor.tensor.idx()).copied();
            }
        };
        let class = classes.iter().position(|(end, _)| value < *end);
        u32::try_from(class.unwrap_or(classes.len() - 1)).ok()
    }
}

/// Whether a recorded lane has something.
fn has(comparison: &Comparison, is_there: impl Fn(&Recording) -> bool) -> bool {
    let mut recordings = comparison.lanes.iter().filter_map(|lane| comparison.recording(lane.id));
    recordings.any(is_there)
}

/// The annotation during which a block is allocated.
fn annotation_text<'a>(
    recording: &'a Recording,
    block: &RecordedBlock,
    innermost: Option<&'a RecordedPhase>,
) -> &'a str {
    match innermost {
        _ if block.is_older => "predates recording",
        Some(phase) => recording.text(phase.name),
        None => "outside every annotation",
    }
}

const fn key(graph: u32, tensor: u32) -> TensorKey {
    TensorKey {
        graph: GraphIdx(graph),
        tensor: TensorId(tensor),
    }
}

/// Empty where the source states nothing.
fn text_of(comparison: &Comparison, of: TensorKey, attribute: Attribute, depth: usize) -> Cow<'_, str> {
    let TensorKey { graph, tensor } = of;
    if let Some((recording, block)) = comparison.recorded_block(graph, tensor) {
        return Cow::Borrowed(recorded_text(recording, block, attribute));
    }
    if attribute == Attribute::Scope {
        return Cow::Borrowed(prefix(path_of(comparison, of), depth));
    }
    Cow::Borrowed(match comparison.ops() {
        OpSource::Graphs(entries) => {
            let entry = entries.get(graph.idx());
            entry.map_or("", |entry| text_in_graph(&entry.graph, tensor, attribute))
        }
        OpSource::Program(program) if attribute == Attribute::DType => {
            let variable = program.variable(graph, tensor);
            variable.map_or("", |(_, variable)| &variable.dtype)
        }
        OpSource::Program(_) | OpSource::Tape(_) | OpSource::None => "",
    })
}

/// The op that computes a tensor or needs an estimated workspace.
pub(super) fn producer(graph: &Graph, tensor: TensorId) -> Option<OpId> {
    match graph.tensors().get(tensor) {
        Some(known) => known.producer,
        None => op_of_workspace(graph, tensor),
    }
}

fn text_in_graph(graph: &Graph, tensor: TensorId, attribute: Attribute) -> &str {
    let known = graph.tensors().get(tensor);
    let op = producer(graph, tensor).and_then(|op| graph.ops().get(op).map(|row| (op, row)));
    match attribute {
        Attribute::Role => known.map_or(Role::Workspace, |known| known.role).name(),
        Attribute::DType => known.map_or("", |known| known.dtype.name()),
        Attribute::OpType => op.map_or("no op", |(op, _)| graph.op_kind(op)),
        Attribute::Phase => op.map_or(Phase::Unknown, |(_, row)| row.phase).name(),
        Attribute::Scope
        | Attribute::CallSite
        | Attribute::File
        | Attribute::Function
        | Attribute::Module
        | Attribute::Category
        | Attribute::Pool
        | Attribute::Annotation
        | Attribute::CompileContext
        | Attribute::UserMetadata
        | Attribute::Size
        | Attribute::Lifetime => "",
    }
}

fn recorded_text<'a>(recording: &'a Recording, block: &RecordedBlock, attribute: Attribute) -> &'a str {
    if attribute == Attribute::Category {
        return block.category.name();
    }
    if attribute == Attribute::Pool {
        return segment_of(recording, block).map_or("", |segment| recording.text(segment.kind));
    }
    if attribute == Attribute::Annotation {
        let phases = recording.phases.iter();
        let begun = phases.take_while(|phase| phase.start <= block.birth);
        return annotation_text(recording, block, begun.filter(|phase| phase.end > block.birth).last());
    }
    let stack = block.stack.zip(recording.site_of(block));
    let Some((stack, site)) = stack else {
        return match attribute {
            Attribute::CallSite | Attribute::Function => recording.text(block.name),
            Attribute::OpType if recording.stacks.is_empty() => recording.text(block.name),
            _ => "",
        };
    };
    let sites = &recording.call_sites;
    match attribute {
        Attribute::Function => sites.function_label(site),
        // Lines that are not Python have no file: their call site says more.
        Attribute::File | Attribute::Scope if !sites.file(site).is_empty() => sites.file(site),
        Attribute::Module if !sites.module(site).is_empty() => sites.module(site),
        Attribute::CallSite | Attribute::File | Attribute::Scope | Attribute::Module => sites.text(site),
        Attribute::OpType => sites.operator(stack),
        Attribute::CompileContext => sites.note(stack, NoteKind::CompileContext),
        Attribute::UserMetadata => sites.note(stack, NoteKind::UserMetadata),
        Attribute::Category
        | Attribute::Pool
        | Attribute::Annotation
        | Attribute::Role
        | Attribute::DType
        | Attribute::Phase
        | Attribute::Size
        | Attribute::Lifetime => "",
    }
}

/// The tensor's name if that is a path, else that of its op.
fn path_of(comparison: &Comparison, of: TensorKey) -> &str {
    let TensorKey { graph, tensor } = of;
    let own = comparison.tensor_name(graph, tensor);
    let Some(entry) = comparison.workload.graphs().get(graph.idx()) else {
        return own;
    };
    let op = producer(&entry.graph, tensor).map_or("", |op| entry.graph.op_name(op));
    if own.contains(is_separator) || op.is_empty() {
        own
    } else {
        op
    }
}

/// The text of an attribute; empty where the source states none. O(1).
pub(super) fn stated(comparison: &Comparison, tensor: TensorKey, attribute: Attribute) -> Cow<'_, str> {
    text_of(comparison, tensor, attribute, MOST_DEPTH)
}

/// The path of a tensor without its last component; empty where that is all. Of a recorded block its name.
pub(super) fn full_scope(comparison: &Comparison, tensor: TensorKey) -> &str {
    prefix(path_of(comparison, tensor), usize::MAX)
}

const fn is_separator(letter: char) -> bool {
    matches!(letter, '/' | '.')
}

/// The first components of a path, without the last, which is the tensor's name.
fn prefix(path: &str, depth: usize) -> &str {
    let body = path.trim_start_matches(is_separator);
    let lead = path.len() - body.len();
    let ends = body.match_indices(is_separator).map(|(at, _)| at);
    match ends.take(depth).last() {
        Some(end) => &path[lead..lead + end],
        None => "",
    }
}

/// The smallest depth that makes more than [`LEAST_SCOPES`] groups.
fn scope_depth(comparison: &Comparison) -> usize {
    let mut groups: IndexSet<&str> = IndexSet::new();
    for depth in 1..MOST_DEPTH {
        groups.clear();
        for (graph, n_tensors) in (0_u32..).zip(comparison.study().tensor_counts(comparison)) {
            let n_tensors = u32::try_from(n_tensors).unwrap_or(u32::MAX);
            for tensor in 0..n_tensors {
                groups.insert(prefix(path_of(comparison, key(graph, tensor)), depth));
                if groups.len() > LEAST_SCOPES {
                    return depth;
                }
            }
        }
    }
    MOST_DEPTH
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn a_path_is_cut_to_its_first_components() {
        for (path, depth, wanted) in [
            ("encoder/layer_0/dense/kernel", 2, "encoder/layer_0"),
            ("encoder/layer_0/dense/kernel", 9, "encoder/layer_0/dense"),
            ("/layer1/conv/Conv_output_0", 1, "layer1"),
            ("layer1.0.weight", 2, "layer1.0"),
            ("relu", 1, ""),
            ("", 3, ""),
            ("/", 3, ""),
            ("..", 1, ""),
        ] {
            assert_eq!(prefix(path, depth), wanted, "{path} to {depth}");
        }
    }
}
