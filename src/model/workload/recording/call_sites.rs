//! Call sites: which line of the program asked for a block.
//!
//! ```text
//! innermost                                                        outermost
//! allocator > empty > at::_ops::div_Tensor > torch/nn/... > model.py:138 forward > train.py:20 main
//! internal    internal  operator              library         user (the call site)    user
//! ```
//!
//! In: the stacks of a recording and the rules for lines. Out, by stack: the innermost line of the user; without one the
//! innermost line of Python; without Python (threads of autograd) the innermost node of the autograd graph, else the
//! innermost operator, else the innermost native line that no rule calls internal; else a note of the user. A node
//! without Python names the line of its forward pass where the recording states it, else has the call site of its forward
//! operator where exactly one line ran that operator. Call sites are
//! equal where their texts are. O(lines of all stacks).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::frame_rules::{FrameKind, FrameReader, FrameRules};
use super::line_patterns::LineText;
use super::parts::NoteKind;
use super::{RecordedFrame, RecordedName, Recording, StackIdx};
use crate::workload::Names;

/// What a call site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallSiteKind {
    /// A line of the user's program.
    User,
    /// A line of Python, where no line is the user's.
    Library,
    AutogradNode,
    Operator,
    Native,
    /// A note of the user, where no line names the block.
    Note,
    /// No line of the stack names the block.
    Unknown,
}

/// Where blocks were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    pub kind: CallSiteKind,
    /// The line, as a position in [`Recording::frames`]; of several equal ones the first.
    pub frame: Option<u32>,
    /// Of a node of the autograd graph: the call site that ran its forward operator.
    pub forward: Option<u32>,
}

/// The call sites of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSites {
    sites: Vec<CallSite>,
    /// By call site: `forward (model.py:138)`.
    texts: Names,
    /// By call site: `model.py`, with as many folders as make it unique; empty where it is no line of Python.
    files: Names,
    /// By call site: `forward`, or the text.
    functions: Names,
    /// By call site: `forward`, with the file where functions of several files have the name; or the text.
    function_labels: Names,
    /// By call site: `torch.nn.functional`; empty where it is no line of Python.
    modules: Names,
    of_stack: Vec<OfStack>,
    operators: Names,
    notes: Notes,
}

/// What was being compiled, and notes of the user, by stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Notes {
    /// By stack: positions in `texts`, in the order of [`STACK_NOTES`]; empty where no stack has a note.
    of_stack: Vec<[u32; STACK_NOTES.len()]>,
    texts: Names,
}

/// The kinds of notes that are kept by stack.
const STACK_NOTES: [NoteKind; 2] = [NoteKind::CompileContext, NoteKind::UserMetadata];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OfStack {
    site: u32,
    /// The position of the innermost operator (or node); [`NONE`] without one.
    operator: u32,
}

const NONE: u32 = u32::MAX;

/// The text of a call site that no line names.
const UNKNOWN: &str = "unnamed call stack";

/// Characters of a text that are kept.
const MOST_CHARS: usize = 160;

impl CallSites {
    /// Reads the stacks of a recording.
    pub fn new(recording: &Recording, rules: &FrameRules) -> Self {
        let lines = lines(recording, &mut rules.reader());
        let chosen: Vec<Chosen> = recording.stacks.iter().map(|stack| choose(stack, &lines)).collect();
        let files = short_files(recording, &chosen);
        let mut sites = Collector {
            recording,
            lines: &lines,
            files,
            sites: IndexMap::new(),
            operators: IndexMap::new(),
            of_stack: Vec::with_capacity(chosen.len()),
        };
        for chosen in &chosen {
            sites.add(*chosen);
        }
        let forward = sites.forward_sites();
        Self {
            notes: notes(recording, &lines),
            ..sites.finish(&forward)
        }
    }

    /// The note of a kind on a stack: what was being compiled, or the user's; empty without one.
    pub fn note(&self, stack: StackIdx, kind: NoteKind) -> &str {
        let notes = self.notes.of_stack.get(stack.idx());
        let kind = STACK_NOTES.iter().position(|known| *known == kind);
        let text = notes.zip(kind).map_or(NONE, |(notes, kind)| notes[kind]);
        self.notes.texts.get(text as usize)
    }

    /// Whether any stack has such a note. O(stacks).
    pub fn has_note(&self, kind: NoteKind) -> bool {
        let kind = STACK_NOTES.iter().position(|known| *known == kind);
        kind.is_some_and(|kind| self.notes.of_stack.iter().any(|notes| notes[kind] != NONE))
    }

    /// Number of call sites.
    pub const fn len(&self) -> usize {
        self.sites.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// `None` for an unknown stack.
    pub fn of_stack(&self, stack: StackIdx) -> Option<u32> {
        Some(self.of_stack.get(stack.idx())?.site)
    }

    pub fn get(&self, site: u32) -> Option<&CallSite> {
        self.sites.get(site as usize)
    }

    /// `forward (model.py:138)`, with folders where several would be equal, or `MeanBackward0`; empty for an unknown one.
    pub fn text(&self, site: u32) -> &str {
        self.texts.get(site as usize)
    }

    /// `model.py`, with as many folders as tell it from other files; empty where it is no line of Python.
    pub fn file(&self, site: u32) -> &str {
        self.files.get(site as usize)
    }

    /// `forward`; the text where it is no line of Python.
    pub fn function(&self, site: u32) -> &str {
        self.functions.get(site as usize)
    }

    /// `forward`, with its file where functions of several files have the name: `forward (model.py)`; the text where it
    /// is no line of Python.
    pub fn function_label(&self, site: u32) -> &str {
        self.function_labels.get(site as usize)
    }

    /// The Python module that its file is, as `import` names it: of an installed package or the standard library from
    /// its root on (`torch.nn.functional`), else the file as [`Self::file`] shows it (`model`); empty where it is no
    /// line of Python.
    pub fn module(&self, site: u32) -> &str {
        self.modules.get(site as usize)
    }

    /// The innermost operator of a stack, else the innermost node of the autograd graph; empty without either.
    pub fn operator(&self, stack: StackIdx) -> &str {
        let of_stack = self.of_stack.get(stack.idx());
        of_stack.map_or("", |of| self.operators.get(of.operator as usize))
    }
}

/// A line of the stacks.
struct Line<'a> {
    kind: FrameKind,
    /// What a rule calls it, else its function.
    name: &'a str,
    note: Option<NoteKind>,
    /// What a note says.
    text: &'a str,
}

/// The file, the line and the function of a line of the forward pass.
fn place_of(text: &str) -> Option<(&str, u32, &str)> {
    let (place, function) = text.rsplit_once(' ')?;
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?, function))
}

fn lines<'a>(recording: &'a Recording, reader: &mut FrameReader<'_>) -> Vec<Line<'a>> {
    // Texts within notes, numbered behind all names.
    let mut within: IndexMap<&'a str, ()> = IndexMap::new();
    let mut part = |text: &'a str| LineText {
        position: NONE - narrow(within.insert_full(text, ()).0),
        text,
    };
    let line = |frame: &RecordedFrame| {
        let note = frame.note(recording);
        let (text, function) = (recording.text(frame.file), recording.text(frame.function));
        let place = place_of(text).filter(|_| note == Some(NoteKind::ForwardPass));
        let (kind, name) = match place {
            Some((file, _, function)) => reader.kind(part(file), part(function)),
            None => reader.kind(recording.line_text(frame.file), recording.line_text(frame.function)),
        };
        Line {
            kind,
            name: name.unwrap_or(function),
            note,
            text,
        }
    };
    recording.frames.iter().map(line).collect()
}

/// The lines of a stack that matter.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    kind: CallSiteKind,
    line: u32,
    operator: u32,
    /// A line of the forward pass.
    forward: u32,
}

/// By stack, the notes that are kept. O(lines of all stacks).
fn notes(recording: &Recording, lines: &[Line<'_>]) -> Notes {
    let is_kept = |line: &Line<'_>| line.note.is_some_and(|note| STACK_NOTES.contains(&note));
    if !lines.iter().any(is_kept) {
        return Notes::default();
    }
    let mut texts: IndexMap<&str, ()> = IndexMap::new();
    let of_stack = recording.stacks.iter().map(|stack| {
        let mut of_stack = [NONE; STACK_NOTES.len()];
        for line in stack.iter().filter_map(|line| lines.get(*line as usize)) {
            let kind = STACK_NOTES.iter().position(|kind| line.note == Some(*kind));
            if let Some(kind) = kind {
                of_stack[kind] = narrow(texts.insert_full(cut(line.text), ()).0);
            }
        }
        of_stack
    });
    Notes {
        of_stack: of_stack.collect(),
        texts: texts.keys().copied().collect(),
    }
}

/// One pass over a stack, innermost line first.
fn choose(stack: &[u32], lines: &[Line<'_>]) -> Chosen {
    let mut first = [NONE; 6];
    let [user, python, node, operator, native, remark] = &mut first;
    let [mut forward, mut any_forward] = [NONE; 2];
    for position in stack {
        let Some(line) = lines.get(*position as usize) else {
            continue;
        };
        let place = match line.kind {
            kind if line.note == Some(NoteKind::ForwardPass) => {
                let place = if kind == FrameKind::User {
                    &mut forward
                } else {
                    &mut any_forward
                };
                if *place == NONE {
                    *place = *position;
                }
                continue;
            }
            _ if line.note == Some(NoteKind::UserMetadata) => &mut *remark,
            _ if line.note.is_some() => continue,
            FrameKind::User => &mut *user,
            FrameKind::Library | FrameKind::Generated => &mut *python,
            FrameKind::AutogradNode => &mut *node,
            FrameKind::Operator => &mut *operator,
            FrameKind::Native => &mut *native,
            FrameKind::Internal => continue,
        };
        if *place == NONE {
            *place = *position;
        }
    }
    let kinds = [
        CallSiteKind::User,
        CallSiteKind::Library,
        CallSiteKind::AutogradNode,
        CallSiteKind::Operator,
        CallSiteKind::Native,
        CallSiteKind::Note,
    ];
    let operator = if first[3] == NONE { first[2] } else { first[3] };
    let chosen = kinds.into_iter().zip(first).find(|(_, line)| *line != NONE);
    let (kind, line) = chosen.unwrap_or((CallSiteKind::Unknown, NONE));
    Chosen {
        kind,
        line,
        operator,
        forward: if forward == NONE { any_forward } else { forward },
    }
}

/// Files of the chosen lines of Python, each with as many folders as tell it from the others. O(bytes log files).
fn short_files<'a>(recording: &'a Recording, chosen: &[Chosen]) -> BTreeMap<RecordedName, Cow<'a, str>> {
    let is_python = |chosen: &&Chosen| matches!(chosen.kind, CallSiteKind::User | CallSiteKind::Library);
    let frames = chosen.iter().filter(is_python);
    let frames = frames.filter_map(|chosen| recording.frames.get(chosen.line as usize));
    let files: BTreeSet<RecordedName> = frames.map(|frame| frame.file).collect();
    let path = |file: RecordedName| {
        let text = recording.text(file);
        let path = if text.contains('\\') {
            Cow::Owned(text.replace('\\', "/"))
        } else {
            Cow::Borrowed(text)
        };
        (path, file)
    };
    let mut paths: Vec<(Cow<'a, str>, RecordedName)> = files.into_iter().map(path).collect();
    // Paths that end alike are neighbours.
    paths.sort_by(|(one, _), (other, _)| one.rsplit('/').cmp(other.rsplit('/')));
    let alike: Vec<usize> = paths.windows(2).map(|pair| n_alike(&pair[0].0, &pair[1].0)).collect();
    let n_parts = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| alike.get(before));
        before.max(alike.get(at)).map_or(1, |alike| alike.saturating_add(1))
    };
    let n_parts: Vec<usize> = (0..paths.len()).map(n_parts).collect();
    let short = paths.into_iter().zip(n_parts).map(|((path, file), n_parts)| {
        let short = match path {
            Cow::Borrowed(path) => Cow::Borrowed(suffix(path, n_parts)),
            Cow::Owned(path) => Cow::Owned(suffix(&path, n_parts).to_owned()),
        };
        (file, short)
    });
    short.collect()
}

/// The number of parts that two paths have in common from their ends on; all for equal ones.
fn n_alike(one: &str, other: &str) -> usize {
    if one == other {
        return usize::MAX;
    }
    let parts = one.rsplit('/').zip(other.rsplit('/'));
    parts.take_while(|(one, other)| one == other).count()
}

/// The last parts of a path.
fn suffix(path: &str, parts: usize) -> &str {
    let start = path.rmatch_indices('/').nth(parts - 1);
    start.map_or(path, |(at, _)| &path[at + 1..])
}

struct Collector<'a, 'l> {
    recording: &'a Recording,
    lines: &'l [Line<'a>],
    files: BTreeMap<RecordedName, Cow<'a, str>>,
    sites: IndexMap<String, Found<'a>>,
    operators: IndexMap<&'a str, ()>,
    of_stack: Vec<OfStack>,
}

struct Found<'a> {
    kind: CallSiteKind,
    frame: Option<u32>,
    file: String,
    /// 0 where there is none.
    line: u32,
    function: Cow<'a, str>,
}

impl Found<'_> {
    /// `forward (model.py:138)`; `None` where it is no line of Python.
    fn text(&self, file: impl Fn(&str) -> &str) -> Option<String> {
        let Self { line, function, .. } = self;
        let file = file(&self.file);
        (!file.is_empty()).then(|| call_site_text(function, file, *line))
    }
}

/// `forward (model.py:138)`; without a line where it is 0.
pub fn call_site_text(function: &str, file: &str, line: u32) -> String {
    match line {
        0 => format!("{function} ({file})"),
        line => format!("{function} ({file}:{line})"),
    }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    suffix(path, 1)
}

fn cut(text: &str) -> &str {
    text.char_indices()
        .nth(MOST_CHARS)
        .map_or(text, |(end, _)| &text[..end])
}

/// The end of a path, which tells more than its beginning.
fn cut_front(text: &str) -> &str {
    let start = text.char_indices().rev().nth(MOST_CHARS - 1);
    start.map_or(text, |(at, _)| &text[at..])
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

impl<'a> Collector<'a, '_> {
    fn add(&mut self, chosen: Chosen) {
        let (text, found) = self.found(chosen);
        let site = match self.sites.get_index_of(&text) {
            Some(site) => site,
            None => self.sites.insert_full(text, found).0,
        };
        let operator = match self.lines.get(chosen.operator as usize) {
            Some(line) => narrow(self.operators.insert_full(cut(line.name), ()).0),
            None => NONE,
        };
        self.of_stack.push(OfStack {
            site: narrow(site),
            operator,
        });
    }

    fn found(&self, chosen: Chosen) -> (String, Found<'a>) {
        let frame = self.recording.frames.get(chosen.line as usize);
        let plain = |text: &'a str, frame| {
            let found = Found {
                kind: chosen.kind,
                frame,
                file: String::new(),
                line: 0,
                function: Cow::Borrowed(cut(text)),
            };
            (cut(text).to_owned(), found)
        };
        let (Some(frame), Some(line)) = (frame, self.lines.get(chosen.line as usize)) else {
            return plain(UNKNOWN, None);
        };
        match chosen.kind {
            CallSiteKind::User | CallSiteKind::Library => {
                let file = self.files.get(&frame.file).map_or("", |file| cut_front(file));
                let function = cut(line.name);
                let text = match frame.line {
                    0 => format!("{file} {function}"),
                    line => format!("{file}:{line} {function}"),
                };
                let found = Found {
                    kind: chosen.kind,
                    frame: Some(chosen.line),
                    file: file.to_owned(),
                    line: frame.line,
                    function: Cow::Borrowed(function),
                };
                (text, found)
            }
            CallSiteKind::Note => plain(self.recording.text(frame.file), Some(chosen.line)),
            CallSiteKind::AutogradNode | CallSiteKind::Operator | CallSiteKind::Native | CallSiteKind::Unknown => {
                let forward = self.lines.get(chosen.forward as usize);
                let forward = forward.and_then(|forward| place_of(forward.text));
                let (mut text, mut found) = plain(line.name, Some(chosen.line));
                if let Some((file, line, function)) = forward {
                    let forward = call_site_text(cut(function), cut_front(file_name(file)), line);
                    text = format!("{text} for {forward}");
                    found.function = Cow::Owned(text.clone());
                }
                (text, found)
            }
        }
    }

    /// By call site of a node of the autograd graph: the only call site of the user that ran its forward operator.
    fn forward_sites(&self) -> BTreeMap<u32, u32> {
        let is_node = |found: &Found<'_>| found.kind == CallSiteKind::AutogradNode;
        let mut ran: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        if !self.sites.values().any(is_node) {
            return BTreeMap::new();
        }
        for (stack, of) in self.recording.stacks.iter().zip(&self.of_stack) {
            if self.sites[of.site as usize].kind != CallSiteKind::User {
                continue;
            }
            let lines = stack.iter().filter_map(|line| self.lines.get(*line as usize));
            for line in lines.filter(|line| line.kind == FrameKind::Operator) {
                ran.entry(operator_base(line.name).to_owned())
                    .or_default()
                    .insert(of.site);
            }
        }
        let nodes = (0_u32..).zip(&self.sites).filter(|(_, (_, found))| is_node(found));
        let forward = nodes.filter_map(|(node, (text, _))| {
            let sites = ran.get(&forward_operator(text)?)?;
            let only = sites.first().filter(|_| sites.len() == 1)?;
            Some((node, *only))
        });
        forward.collect()
    }

    fn finish(self, forward: &BTreeMap<u32, u32>) -> CallSites {
        let mut sites = CallSites {
            of_stack: self.of_stack,
            operators: self.operators.keys().copied().collect(),
            ..CallSites::default()
        };
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        let named: Vec<Option<String>> = self.sites.values().map(|found| found.text(file_name)).collect();
        for name in named.iter().flatten() {
            *times.entry(name.clone()).or_default() += 1;
        }
        let mut files_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for found in self.sites.values().filter(|found| !found.file.is_empty()) {
            files_of.entry(&found.function).or_default().insert(&found.file);
        }
        for (position, ((text, found), name)) in (0_u32..).zip(self.sites.iter().zip(named)) {
            let name = name.map(|name| match times.get(&name) {
                Some(1) => name,
                _ => found.text(|file| file).unwrap_or(name),
            });
            sites.texts.push(name.as_deref().unwrap_or(text));
            sites.files.push(&found.file);
            sites.functions.push(&found.function);
            let is_of_several = files_of.get(&*found.function).is_some_and(|files| files.len() > 1);
            if is_of_several && !found.file.is_empty() {
                let label = call_site_text(&found.function, &found.file, 0);
                sites.function_labels.push(&label);
            } else {
                sites.function_labels.push(&found.function);
            }
            let path = found.frame.and_then(|frame| self.recording.frames.get(frame as usize));
            let path = path.map_or("", |frame| self.recording.text(frame.file));
            sites.modules.push(&module_name(path, &found.file));
            sites.sites.push(CallSite {
                kind: found.kind,
                frame: found.frame,
                forward: forward.get(&position).copied(),
            });
        }
        sites
    }
}

/// Folders below which paths are names of modules.
const MODULE_ROOTS: &[&str] = &["site-packages", "dist-packages"];

/// The name of the Python module that a file is: its path below an installation, else as it is shown.
fn module_name(path: &str, shown: &str) -> String {
    if shown.is_empty() || shown.starts_with('<') {
        return shown.to_owned();
    }
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path.split('/').collect();
    let is_library = |at: usize| {
        let version = parts[at].strip_prefix("python");
        version.is_some_and(|version| version.starts_with(|letter: char| letter.is_ascii_digit()))
            && at > 0
            && parts[at - 1].starts_with("lib")
    };
    let root = (0..parts.len()).rfind(|at| MODULE_ROOTS.contains(&parts[*at]));
    let root = root.or_else(|| (0..parts.len()).rfind(|at| is_library(*at)));
    let name = match root {
        Some(root) if root + 1 < parts.len() => parts[root + 1..].join("."),
        _ => shown.replace('/', "."),
    };
    let name = [".pyx", ".pyi", ".pyw", ".py"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    name.strip_suffix(".__init__").unwrap_or(name).to_owned()
}

/// First words of overloads that begin with a small letter.
const OVERLOADS: &[&str] = &[
    "correction",
    "default",
    "dim",
    "int",
    "mode",
    "names",
    "out",
    "p",
    "self",
];

/// The operator without namespace and overload: `at::_ops::mean_dim` is `mean`.
fn operator_base(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name).trim_start_matches('_');
    let is_overload = |at: usize| {
        let rest = &name[at + 1..];
        let word = rest.split('_').next().unwrap_or(rest);
        rest.starts_with(|letter: char| letter.is_ascii_uppercase()) || OVERLOADS.contains(&word)
    };
    let end = name.match_indices('_').map(|(at, _)| at).find(|at| is_overload(*at));
    name[..end.unwrap_or(name.len())].trim_end_matches('_')
}

/// The operator whose gradient a node computes: `NativeLayerNormBackward0` is `native_layer_norm`.
fn forward_operator(node: &str) -> Option<String> {
    let (stem, number) = node.rsplit_once("Backward")?;
    if stem.is_empty() || !number.chars().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut operator = String::new();
    for letter in stem.chars() {
        // PyTorch writes MaxPool2DWithIndices and Log1P.
        let is_word = !operator.is_empty() && !operator.ends_with(|last: char| last.is_ascii_digit());
        if letter.is_ascii_uppercase() && is_word {
            operator.push('_');
        }
        operator.push(letter.to_ascii_lowercase());
    }
    Some(operator)
}

#[cfg(test)]
mod tests {
    use super::super::{RecordedBlock, RecordedNames};
    use super::*;
    use crate::units::{Bytes, Step};

    /// One block for each stack; a stack is lines `file:line function`, innermost first, with `|` between them.
    fn recording(stacks: &[&str], rules: &FrameRules) -> Recording {
        let mut names = RecordedNames::default();
        let mut recording = Recording {
            n_steps: 1,
            ..Recording::default()
        };
        for stack in stacks {
            let lines = stack.split('|').map(|line| {
                let mut colons = line.trim().rmatch_indices(':');
                let parts = colons.find_map(|(at, _)| {
                    let (number, function) = line.trim()[at + 1..].split_once(' ')?;
                    Some((&line.trim()[..at], number.parse().ok()?, function))
                });
                let (file, line, function) = parts.expect("file:line function");
                let frame = RecordedFrame {
                    function: names.intern(function),
                    file: names.intern(file),
                    line,
                };
                recording.frames.push(frame);
                narrow(recording.frames.len() - 1)
            });
            let lines = lines.collect();
            recording.stacks.push(lines);
            let mut block = RecordedBlock::new(names.intern("block"), Step(0), Step(1), Bytes(1));
            block.stack = StackIdx::new(narrow(recording.stacks.len() - 1));
            recording.blocks.push(block);
        }
        recording.names = names.finish();
        recording.call_sites = CallSites::new(&recording, rules);
        assert_eq!(recording.check(), Ok(()));
        recording
    }

    fn texts(recording: &Recording) -> Vec<&str> {
        recording
            .blocks
            .iter()
            .map(|block| recording.block_name(block))
            .collect()
    }

    const ALLOCATOR: &str = "??:0 torch::unwind::unwind() | ??:0 c10::cuda::CUDACachingAllocator::malloc() \
                             | ??:0 at::_ops::empty_memory_format::call()";

    #[test]
    fn the_innermost_line_of_the_user_is_the_call_site() {
        let python =
            "/env/site-packages/torch/nn/functional.py:9 linear | /w/model.py:138 forward | /w/train.py:3 main";
        let stacks = [
            python.to_owned(),
            format!("{ALLOCATOR} | ??:0 at::_ops::addmm::call() | {python}"),
            "/env/site-packages/a/b.py:4 f | /env/site-packages/c/d.py:5 g".to_owned(),
            "/tmp/torchinductor_me/x/y.py:7 call | /w/model.py:20 step".to_owned(),
            format!(
                "{ALLOCATOR} | ??:0 at::_ops::mul_Tensor::call() | ??:0 torch::autograd::generated::MulBackward0::apply()"
            ),
            format!(
                "{ALLOCATOR} | ??:0 at::_ops::div_Tensor::redispatch() | ??:0 torch::autograd::Engine::thread_main()"
            ),
            format!("{ALLOCATOR} | ??:0 ncclCommInitRank"),
            format!("{ALLOCATOR} | ??:0 clone"),
            "my tensor:0 user metadata".to_owned(),
        ];
        let stacks: Vec<&str> = stacks.iter().map(String::as_str).collect();
        let found = recording(&stacks, &FrameRules::default());
        let wanted = [
            "forward (model.py:138)",
            "forward (model.py:138)",
            "f (b.py:4)",
            "step (model.py:20)",
            "MulBackward0",
            "at::_ops::div_Tensor",
            "ncclCommInitRank",
            UNKNOWN,
            "my tensor",
        ];
        assert_eq!(texts(&found), wanted);
        let operator = |number: usize| found.call_sites.operator(found.blocks[number].stack.expect("a stack"));
        assert_eq!(operator(1), "at::_ops::addmm");
        assert_eq!(operator(4), "at::_ops::mul_Tensor");
        assert_eq!(operator(0), "");
    }

    #[test]
    fn files_with_the_same_name_have_their_folders() {
        let stacks = [
            "/w/a/model.py:1 f",
            "/w/b/model.py:1 f",
            "/w/train.py:1 f",
            r"C:\w\deep\a\model.py:1 f",
        ];
        let found = recording(&stacks, &FrameRules::default());
        assert_eq!(
            texts(&found),
            [
                "f (w/a/model.py:1)",
                "f (b/model.py:1)",
                "f (train.py:1)",
                "f (deep/a/model.py:1)"
            ]
        );
        assert_eq!(found.call_sites.file(1), "b/model.py");
        assert_eq!(found.call_sites.function(1), "f");
    }

    #[test]
    fn file_function_and_module_name_one_thing_each() {
        let found = recording(
            &[
                "/env/lib/python3.11/site-packages/torch/nn/functional.py:9 linear",
                "/env/lib/python3.11/site-packages/timm/__init__.py:2 <module>",
                "/usr/lib/python3.12/json/decoder.py:3 decode",
                "/w/model.py:4 forward",
                "/w/loss.py:5 forward",
                "/w/a/train.py:6 main",
                r"C:\w\b\train.py:7 step",
                "<eval_with_key>.3:8 forward",
                "??:0 torch::autograd::generated::MulBackward0::apply()",
            ],
            &FrameRules::default(),
        );
        let sites = &found.call_sites;
        let texts = |site: u32| [sites.file(site), sites.function_label(site), sites.module(site)];
        for (site, wanted) in (0..).zip([
            ["functional.py", "linear", "torch.nn.functional"],
            ["__init__.py", "<module>", "timm"],
            ["decoder.py", "decode", "json.decoder"],
            ["model.py", "forward (model.py)", "model"],
            ["loss.py", "forward (loss.py)", "loss"],
            ["a/train.py", "main", "a.train"],
            ["b/train.py", "step", "b.train"],
            ["<eval_with_key>.3", "forward (<eval_with_key>.3)", "<eval_with_key>.3"],
            ["", "MulBackward0", ""],
        ]) {
            assert_eq!(texts(site), wanted, "{site}");
        }
    }

    #[test]
    fn a_node_has_the_call_site_of_its_forward_operator_where_only_one_ran_it() {
        let forward =
            |operator: &str, line: u32| format!("??:0 at::_ops::{operator}::call() | /w/model.py:{line} forward");
        let node = |node: &str| format!("{ALLOCATOR} | ??:0 torch::autograd::generated::{node}::apply()");
        let stacks = [
            forward("mean_dim", 10),
            forward("max_pool2d_with_indices", 11),
            forward("div_Tensor", 12),
            forward("div_Tensor", 13),
            node("MeanBackward1"),
            node("MaxBackward0"),
            node("DivBackward0"),
            node("MaxPool2DWithIndicesBackward0"),
        ];
        let stacks: Vec<&str> = stacks.iter().map(String::as_str).collect();
        let found = recording(&stacks, &FrameRules::default());
        let sites = &found.call_sites;
        let forward: Vec<Option<&str>> = found.blocks[4..]
            .iter()
            .map(|block| sites.get(found.site_of(block)?)?.forward.map(|site| sites.text(site)))
            .collect();
        assert_eq!(
            forward,
            [Some("forward (model.py:10)"), None, None, Some("forward (model.py:11)")]
        );
    }

    #[test]
    fn notes_of_a_stack_are_no_calls() {
        let node = "??:0 torch::autograd::generated::MulBackward0::apply()";
        let stacks = [
            format!(
                "{node} | /env/site-packages/torch/f.py:3 mul:0 forward pass | /w/model.py:9 forward:0 forward pass"
            ),
            format!("{node} | /w/model.py:11 forward:0 forward pass | 0/1:0 compile context"),
            "<eval_with_key>.1:5 forward | mul (call_function):0 FX node | /w/model.py:7 forward".to_owned(),
            "0/2:0 compile context | epoch 3:0 user metadata".to_owned(),
        ];
        let stacks: Vec<&str> = stacks.iter().map(String::as_str).collect();
        let found = recording(&stacks, &FrameRules::default());
        let wanted = [
            "MulBackward0 for forward (model.py:9)",
            "MulBackward0 for forward (model.py:11)",
            "forward (model.py:7)",
            "epoch 3",
        ];
        assert_eq!(texts(&found), wanted);
        let sites = &found.call_sites;
        let notes = |kind: NoteKind| {
            let stacks = found.blocks.iter().filter_map(|block| block.stack);
            stacks.map(|stack| sites.note(stack, kind)).collect::<Vec<&str>>()
        };
        assert_eq!(notes(NoteKind::CompileContext), ["", "0/1", "", "0/2"]);
        assert_eq!(notes(NoteKind::UserMetadata), ["", "", "", "epoch 3"]);
        assert!(sites.has_note(NoteKind::UserMetadata) && !sites.has_note(NoteKind::FxNode));
    }

    #[test]
    fn rules_of_a_document_change_call_sites() {
        let stacks = ["/w/megatron/layers.py:7 forward | /w/pretrain.py:80 main"];
        assert_eq!(
            texts(&recording(&stacks, &FrameRules::default())),
            ["forward (layers.py:7)"]
        );
        let own = serde_json::from_str(r#"[{"kind": "library", "file": "/megatron/"}]"#).expect("rules");
        let rules = FrameRules::new(own).expect("patterns");
        assert_eq!(texts(&recording(&stacks, &rules)), ["main (pretrain.py:80)"]);
    }
}
