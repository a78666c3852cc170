//! The story of an out-of-memory: text, Markdown and the window's page from one tree, and JSON.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::answer::{Answer, Page};
use super::blocks::{Block, Line, PagePart, Span, bytes, code, markdown, page, paragraph, text};
use super::cann_log::{event_rows, pool_rows};
use super::explain_json::{advice_json, n_more_requests, process_record, requests_json, statement_json};
use super::json_parts::{diagnostics_json, list};
use super::record::{Record, Rows, Value, known};
use highwater_analysis::{
    Advice, GraphMemory, GraphState, LogStory, ModuleMemory, NeedBasis, PolicyNeed, ProcessStory,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, counted, first_of};
use highwater_model::workload::{DriverRow, LogLevel, LoggedProcess, LoggedStatement, Workload};
use indexmap::IndexMap;

/// Rows of a table of graphs, loads or pools.
const MOST_ROWS: usize = 12;

/// Statements that a page lists.
const MOST_STATEMENTS: usize = 24;

/// More processes have only their names.
const MOST_IN_DETAIL: usize = 8;

/// The story as the window shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// The sentence for a ticket, with what to try.
    pub ticket: String,
    pub parts: Vec<PagePart>,
    /// The sentence and the parts.
    pub markdown: String,
    /// Whether a request failed.
    pub has_failures: bool,
}

impl LogPage {
    /// `None` where the workload tells of no out-of-memory.
    ///
    /// # Errors
    /// The work is cancelled.
    pub fn new(workload: &Workload, progress: &Progress<'_>) -> Result<Option<Arc<Self>>, Cancelled> {
        let story = LogStory::of_workload(workload, progress)?;
        Ok(story.map(|story| {
            Arc::new(Self {
                ticket: story.ticket(),
                parts: page(&story_blocks(&story)),
                markdown: markdown(&with_ticket(&story)),
                has_failures: story.has_failures(),
            })
        }))
    }
}

/// An out-of-memory explained.
#[derive(Clone, Copy, Debug)]
pub struct LogAnswer<'a> {
    pub story: &'a LogStory,
    /// The importer's diagnostics, for programs.
    pub import: &'a Diagnostics,
}

impl Answer for LogAnswer<'_> {
    /// The last line is the sentence for a ticket, with what to try.
    fn page(&self) -> Page {
        Page(with_ticket(self.story))
    }

    fn json(&self) -> impl Serialize {
        let story = self.story;
        Record::new()
            .key("sentence", &story.sentence)
            .key("try", story.advice.as_ref().map(advice_json))
            .key("processes", Rows::new(&story.processes, process_record))
            .key("missing", json!(story.missing))
            .key("requests", requests_json(story))
            .key("more_requests", n_more_requests(story))
            .key(
                "statements",
                list(story.statements(), |(process, one)| statement_json(process, one)),
            )
            .key("diagnostics", diagnostics_json(self.import))
    }
}

fn with_ticket(story: &LogStory) -> Vec<Block> {
    let mut blocks = story_blocks(story);
    blocks.extend([heading("For a ticket"), paragraph(story.ticket())]);
    blocks
}

/// What happened, process by process.
pub(super) fn story_blocks(story: &LogStory) -> Vec<Block> {
    let mut blocks = Vec::new();
    for process in story.processes.iter().take(MOST_IN_DETAIL) {
        blocks.extend(process_blocks(process));
    }
    let others = story.processes.iter().skip(MOST_IN_DETAIL);
    let others: Vec<&str> = others.map(|process| &*process.title).collect();
    if !others.is_empty() {
        blocks.push(paragraph(format!("Other processes: {}.", others.join(", "))));
    }
    blocks.extend(statements(story));
    if !story.missing.is_empty() {
        let items = story.missing.iter().map(|sentence| (0, text(sentence)));
        blocks.extend([heading("To see more"), Block::List(items.collect())]);
    }
    blocks
}

fn heading(words: &str) -> Block {
    Block::Heading(4, text(words))
}

fn process_blocks(story: &ProcessStory) -> Vec<Block> {
    let process = &story.process;
    let device = story
        .device()
        .map_or_else(String::new, |device| format!(", device {device}"));
    let mut blocks = vec![Block::Heading(3, text(format!("{}{device}", story.title)))];
    blocks.extend(facts(story).map(paragraph));
    for request in story.shown_requests() {
        blocks.push(Block::Paragraph(Span::Strong(request.sentence.clone()).into()));
        let remarks = request.remarks.iter().map(|remark| (0, text(remark)));
        let first = story.requests.first().filter(|first| first.advice == request.advice);
        let is_repeated = first.is_some_and(|first| !std::ptr::eq(first, request));
        let tries = request.advice.iter().filter(|_| !is_repeated);
        let size = request.failure.requested.filter(|bytes| *bytes >= 1024);
        let size = size.map(|bytes| (0, text(stated_size(bytes, request.failure.is_rounded))));
        let items: Vec<(usize, Line)> = size
            .into_iter()
            .chain(remarks)
            .chain([(0, text(request.verdict.sentence()))])
            .chain(tries.map(|advice| (0, advice_line(advice))))
            .collect();
        blocks.push(Block::List(items));
    }
    if story.n_not_shown() > 0 {
        let more = counted(story.n_not_shown() as u64, "more request");
        blocks.push(paragraph(format!("{more} failed after these.")));
    }
    if process.failures.is_empty() {
        let what = if story.is_process() {
            "The log of this process"
        } else {
            "The text"
        };
        blocks.push(paragraph(format!("{what} has no failed request for memory.")));
    }
    if process.failures.is_empty() {
        blocks.extend(stated(&event_rows(&process.events), process.events.len()));
    }
    let modules = module_rows(&story.modules).blocks(usize::MAX);
    let note = "The peaks are of different times, so their sum is only an upper bound.";
    let note = (!modules.is_empty()).then(|| Block::Note(text(note)));
    blocks.extend(modules.into_iter().chain(note));
    blocks.extend(kinds(&process.driver));
    blocks.extend(largest_graphs(story));
    blocks.extend(arena(story));
    blocks.extend(stated(&pool_rows(&process.pools), process.pools.len()));
    blocks.extend(needs(story));
    blocks
}

/// The requested bytes; of a text that rounds them its own figure.
fn stated_size(bytes: u64, is_rounded: bool) -> String {
    if !is_rounded {
        return format!("Exactly {}.", Bytes(bytes).exact());
    }
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or((1, "B"));
    // Rounded to hundredths, as it was printed.
    let hundredths = (u128::from(bytes) * 100 + u128::from(unit) / 2) / u128::from(unit);
    format!(
        "Printed as {}.{:02} {name}, which is rounded.",
        hundredths / 100,
        hundredths % 100
    )
}

fn advice_line(advice: &Advice) -> Line {
    let action = advice.setting.as_ref().map_or_else(
        || Span::Strong(advice.action.clone()).into(),
        |setting| text("Set ").and(code(setting)),
    );
    let needs = advice.needs_version.as_ref();
    let needs = needs.map_or_else(String::new, |version| format!(" (needs torch {version} or newer)"));
    action.and(text(format!("{needs}: {}.", advice.reason)))
}

/// What the texts state besides failed requests.
fn statements(story: &LogStory) -> Vec<Block> {
    let all: Vec<(&ProcessStory, &LoggedStatement)> = story.statements().collect();
    let is_several = all.iter().any(|(process, _)| process.title != all[0].0.title);
    let items = all.iter().take(MOST_STATEMENTS).map(|(process, one)| {
        let whose = if is_several {
            format!("{}: ", process.title)
        } else {
            String::new()
        };
        (0, text(format!("{whose}{}", one.text)))
    });
    let items: Vec<(usize, Line)> = items.collect();
    if items.is_empty() {
        return Vec::new();
    }
    let more = all.len().checked_sub(MOST_STATEMENTS).filter(|more| *more > 0);
    let more = more.map(|more| paragraph(format!("{} follow.", counted(more as u64, "more statement"))));
    [heading("What the text states of memory"), Block::List(items)]
        .into_iter()
        .chain(more)
        .collect()
}

/// `None` where the heading tells all.
fn facts(story: &ProcessStory) -> Option<String> {
    let process = &story.process;
    let mut parts = Vec::new();
    if let Some(total) = process.device_total {
        parts.push(format!("device memory {}", Bytes(total)));
    }
    if process.level != LogLevel::Terminal {
        parts.push(match process.policy {
            Some((policy, _)) => format!("policy {policy} ({})", story.policy_line),
            None => format!("policy unknown ({})", story.policy_line),
        });
    }
    if let Some(peak) = process.reserved_peak {
        parts.push(format!("GE reserved {} at most", Bytes(peak)));
    }
    parts.extend(match (&story.recorder, process.level) {
        (Some(recorder), _) => Some(recorder.clone()),
        (None, LogLevel::Info) => Some("log level info".to_owned()),
        (None, LogLevel::Default) => Some("log level default".to_owned()),
        (None, LogLevel::Terminal) => story.is_process().then(|| "terminal text".to_owned()),
    });
    let versions = process
        .versions
        .iter()
        .map(|(name, version)| format!("{name} {version}"));
    let settings = process.settings.iter().map(|(name, value)| format!("{name}={value}"));
    let stated: Vec<String> = versions.chain(settings).collect();
    parts.extend((!stated.is_empty()).then(|| format!("states {}", first_of(stated.iter(), MOST_ROWS, ", "))));
    let facts = parts.join("; ");
    let mut letters = facts.chars();
    let first = letters.next()?.to_uppercase();
    Some(format!("{first}{}.", letters.as_str()))
}

pub(super) fn module_rows(modules: &[ModuleMemory]) -> Rows<'_> {
    let size = |value: Option<u64>| known(value.map(Bytes));
    let heading = |is_shown: bool, heading| if is_shown { heading } else { "" };
    let device = heading(modules.iter().any(|one| one.device != modules[0].device), ">device");
    let at_failure = heading(modules.iter().any(|one| one.at_failure.is_some()), ">at the failure");
    Rows::new(modules, move |one| {
        Record::new()
            .field("device", device, one.device)
            .field("module", "driver's module", &one.module)
            .field("at_failure", at_failure, size(one.at_failure))
            .field("last", ">last", size(one.last))
            .field("peak", ">peak", size(one.peak))
            .shown(">exact", one.peak.map(|bytes| Bytes(bytes).exact()))
    })
    .captioned("Device memory by module of the driver", "")
}

/// Each kind of memory, where a module has several: one of them may be unknown, and so its sum.
fn kinds(rows: &[DriverRow]) -> Vec<Block> {
    let of_devices = rows.iter().filter(|row| row.device.is_some());
    let of_devices: Vec<&DriverRow> = of_devices.collect();
    let is_again = |(at, row): (usize, &&DriverRow)| {
        let mut before = of_devices[..at].iter();
        before.any(|other| other.device == row.device && other.module == row.module)
    };
    if !of_devices.iter().enumerate().any(is_again) {
        return Vec::new();
    }
    let size = |value: Option<u64>| known(value.map(Bytes));
    let has_devices = of_devices.iter().any(|one| one.device != of_devices[0].device);
    let rows = Rows::indexed(of_devices.len(), |position| {
        let row = of_devices[position];
        Record::new()
            .shown("module and kind", format!("{} {}", row.module, row.kind))
            .shown(">device", row.device.filter(|_| has_devices))
            .shown(">at the failure", size(row.at_main_failure))
            .shown(">last", size(row.current))
            .shown(">peak", size(row.peak))
            .shown(">exact", row.peak.map(|bytes| Bytes(bytes).exact()))
    });
    let mut table = rows.captioned("Device memory by kind", "").table(usize::MAX);
    table.remove_columns_of(&["unknown"]);
    vec![table.into()]
}

pub(super) fn graph_record(graph: &GraphMemory) -> Record<'_> {
    let size = |value: Option<u64>| known(value.map(Bytes));
    let state = match graph.loaded {
        2.. => format!("loaded {} times", graph.loaded),
        _ => graph.state.name().to_owned(),
    };
    Record::new()
        .field("graph_id", "graph", Value::Digits(graph.id))
        .key("name", graph.name.as_ref())
        .key("state", graph.state.name())
        .key("loaded", graph.loaded)
        .shown("state", state)
        .field("weights", ">weights", size(graph.weights))
        .field("feature_map", ">feature map", size(graph.feature_map))
        .shown(">exact", graph.feature_map.map(|bytes| Bytes(bytes).exact()))
        .field("lower_bound", ">lower bound", size(graph.lower_bound))
}

/// The parts of a graph's feature map, for people.
fn parts_record<'a>(graph: &GraphMemory, process: &LoggedProcess) -> Record<'a> {
    let compiled = process.graphs.iter().rfind(|one| one.id == graph.id);
    let size = |value: Option<u64>| known(value.map(Bytes));
    let plan = compiled.and_then(|one| process.plans.get(one.plan.as_ref()?));
    Record::new()
        .shown(">arena", size(compiled.and_then(|one| one.arena)))
        .shown(">inputs and outputs", size(compiled.and_then(|one| one.zero_copy)))
        .shown(">placed tensors", known(plan.map(IndexMap::len)))
}

/// The graphs with most memory, in the order of the log.
fn largest_graphs(story: &ProcessStory) -> Vec<Block> {
    let graphs = &story.graphs;
    let is_known = |graph: &&GraphMemory| graph.feature_map.is_some() || graph.weights.is_some();
    let known: Vec<&GraphMemory> = graphs.iter().filter(is_known).collect();
    let mut sizes: Vec<Option<u64>> = known.iter().map(|graph| graph.feature_map).collect();
    sizes.sort_unstable();
    let least = sizes.len().checked_sub(MOST_ROWS).and_then(|at| sizes[at]);
    let n_known = known.len();
    let shown: Vec<&GraphMemory> = known.into_iter().filter(|graph| graph.feature_map >= least).collect();
    let row = |row: usize| graph_record(shown[row]).and(parts_record(shown[row], &story.process));
    let rows = Rows::indexed(shown.len(), row).captioned("Graphs", "");
    stated(&rows, n_known)
}

/// The first of `n_all` rows without what the log does not state.
fn stated(rows: &Rows<'_>, n_all: usize) -> Vec<Block> {
    let mut table = rows.table(MOST_ROWS);
    if table.is_empty() {
        return Vec::new();
    }
    table.remove_columns_of(&["unknown"]);
    std::iter::once(table.into())
        .chain(rows.left_out(n_all, MOST_ROWS))
        .collect()
}

/// The shared arena after its last load.
fn arena(story: &ProcessStory) -> Option<Block> {
    let load = story.process.arena_loads.last()?;
    let used = load
        .used
        .map_or_else(String::new, |used| format!(", {} used", Bytes(used)));
    Some(paragraph(format!(
        "Shared arena after its last load: {} reserved in {}{used}.",
        Bytes(load.held?),
        counted(load.blocks.len() as u64, "block")
    )))
}

fn needs(story: &ProcessStory) -> Option<Block> {
    let needs = &story.needs;
    if let Some(unknown) = needs.iter().find(|need| need.basis == NeedBasis::Unknown) {
        return Some(paragraph(format!(
            "Needs under other policies are unknown: {}.",
            unknown.why
        )));
    }
    let with_features = story.graphs.iter().filter(|graph| graph.feature_map > Some(0));
    if !needs.is_empty() && with_features.count() == 1 {
        return Some(paragraph(
            "There is one graph with feature memory, so policies differ in rounding alone.",
        ));
    }
    let is_evicted = story.graphs.iter().any(|graph| graph.state == GraphState::Evicted);
    let caption = if is_evicted {
        "Memory of GE by policy, with the evicted graphs loaded, too"
    } else {
        "Memory of GE by policy"
    };
    let table = need_rows(needs).captioned(caption, "").table(usize::MAX);
    (!table.is_empty()).then(|| table.into())
}

pub(super) fn need_rows(needs: &[PolicyNeed]) -> Rows<'_> {
    Rows::new(needs, |need| {
        let active = if need.is_active { " (active)" } else { "" };
        let is_bound = matches!(need.basis, NeedBasis::AtLeast | NeedBasis::Estimate);
        let bound = text(if is_bound { "at least " } else { "" });
        let figure = need.bytes.map(|value| bound.and(bytes(Bytes(value))));
        let basis = if need.basis == NeedBasis::Estimate {
            "estimate: "
        } else {
            ""
        };
        Record::new()
            .key("policy", need.policy)
            .shown("policy", format!("{}{active}", need.policy))
            .key("active", need.is_active)
            .key("bytes", need.bytes)
            .shown(">GE needs", known(figure))
            .key("basis", need.basis.name())
            .key("why", &need.why)
            .shown("from", format!("{basis}{}", need.why))
    })
}
