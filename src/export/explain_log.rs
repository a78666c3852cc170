//! The story of a log of CANN: text, Markdown and the window's page from one tree, and JSON.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::blocks::{Block, Line, PagePart, Span, Table, bytes, code, markdown, page, paragraph, plain_text, text};
use super::cann_log::{arena_json, pool_json};
use super::json_parts::{diagnostics_json, list};
use highwater_analysis::{
    Advice, FailedRequest, GraphMemory, GraphState, LogStory, ModuleMemory, NeedBasis, ProcessStory,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, counted, grouped};
use highwater_model::workload::{LogLevel, LoggedEvent, LoggedPool, Workload};

/// Rows of a table of graphs, loads or pools.
const MOST_ROWS: usize = 12;

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
    /// `None` where the workload is no log.
    pub fn new(workload: &Workload) -> Option<Arc<Self>> {
        let story = LogStory::of_workload(workload)?;
        Some(Arc::new(Self {
            ticket: story.ticket(),
            parts: page(&blocks(&story)),
            markdown: log_story_markdown(&story),
            has_failures: story.has_failures(),
        }))
    }
}

/// The last line is the sentence for a ticket, with what to try.
pub fn log_story_text(story: &LogStory) -> String {
    plain_text(&with_ticket(story))
}

pub fn log_story_markdown(story: &LogStory) -> String {
    markdown(&with_ticket(story))
}

/// `import` are the importer's diagnostics.
pub fn log_story_json(story: &LogStory, import: &Diagnostics) -> Json {
    json!({
        "sentence": story.sentence,
        "try": story.advice.as_ref().map(advice_json),
        "processes": list(&story.processes, process_json),
        "missing": story.missing,
        "diagnostics": diagnostics_json(import),
    })
}

fn with_ticket(story: &LogStory) -> Vec<Block> {
    let mut blocks = blocks(story);
    blocks.extend([heading("For a ticket"), paragraph(story.ticket())]);
    blocks
}

fn blocks(story: &LogStory) -> Vec<Block> {
    let mut blocks = Vec::new();
    for process in story.processes.iter().take(MOST_IN_DETAIL) {
        blocks.extend(process_blocks(process));
    }
    let others = story.processes.iter().skip(MOST_IN_DETAIL);
    let others: Vec<&str> = others.map(|process| &*process.title).collect();
    if !others.is_empty() {
        blocks.push(paragraph(format!("Other processes: {}.", others.join(", "))));
    }
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
    let device = process
        .device
        .map_or_else(String::new, |device| format!(", device {device}"));
    let mut blocks = vec![
        Block::Heading(3, text(format!("{}{device}", story.title))),
        paragraph(facts(story)),
    ];
    for request in &story.requests {
        blocks.push(Block::Paragraph(Span::Strong(request.sentence.clone()).into()));
        let remarks = request.remarks.iter().map(|remark| (0, text(remark)));
        let first = story.requests.first().filter(|first| first.advice == request.advice);
        let is_repeated = first.is_some_and(|first| !std::ptr::eq(first, request));
        let tries = request.advice.iter().filter(|_| !is_repeated);
        let items: Vec<(usize, Line)> = remarks.chain(tries.map(|advice| (0, advice_line(advice)))).collect();
        blocks.push(Block::List(items));
    }
    if story.n_more_requests > 0 {
        let more = counted(story.n_more_requests as u64, "more request");
        blocks.push(paragraph(format!("{more} failed after these.")));
    }
    if process.failures.is_empty() {
        blocks.push(paragraph("The log of this process has no failed request for memory."));
    }
    if process.failures.is_empty() {
        blocks.extend(events(&process.events));
    }
    blocks.extend(modules(&story.modules));
    blocks.extend(graphs(&story.graphs));
    blocks.extend(arena(story));
    blocks.extend(pools(&process.pools));
    blocks.extend(needs(story));
    blocks
}

fn advice_line(advice: &Advice) -> Line {
    let action = advice.setting.as_ref().map_or_else(
        || Span::Strong(advice.action.clone()).into(),
        |setting| text("Set ").and(code(setting)),
    );
    action.and(text(format!(": {}.", advice.reason)))
}

fn facts(story: &ProcessStory) -> String {
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
    parts.push(match process.level {
        LogLevel::Info => "log level info".to_owned(),
        LogLevel::Default => "log level default".to_owned(),
        LogLevel::Terminal => "terminal text".to_owned(),
    });
    let facts = parts.join("; ");
    let mut letters = facts.chars();
    let first = letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().to_string());
    format!("{first}{}.", letters.as_str())
}

fn size(value: Option<u64>) -> Line {
    value.map_or_else(|| text("unknown"), |value| bytes(Bytes(value)))
}

fn modules(modules: &[ModuleMemory]) -> Vec<Block> {
    let has_failure = modules.iter().any(|one| one.at_failure.is_some());
    let has_devices = modules.iter().any(|one| one.device != modules[0].device);
    let mut headings = vec!["driver's module"];
    headings.extend(has_devices.then_some(">device"));
    headings.extend(has_failure.then_some(">at the failure"));
    headings.extend([">last", ">peak"]);
    let mut table = Table::captioned("Device memory by module of the driver", &headings);
    for one in modules {
        let mut cells = vec![text(&one.module)];
        cells.extend(has_devices.then(|| one.device.map_or_else(Line::default, text)));
        cells.extend(has_failure.then(|| size(one.at_failure)));
        cells.extend([size(one.last), size(one.peak)]);
        table.cells(cells);
    }
    if table.is_empty() {
        return Vec::new();
    }
    let note = "The peaks are of different times, so their sum is only an upper bound.";
    vec![table.into(), Block::Note(text(note))]
}

/// Loads and unloads, the first ones.
fn events(events: &[LoggedEvent]) -> Vec<Block> {
    let headings = ["event", ">graph", ">weights", ">feature map", ">GE reserved"];
    let mut table = Table::captioned("Loads and unloads", &headings);
    let some = |value: Option<u64>| value.map_or_else(Line::default, |value| bytes(Bytes(value)));
    for event in events.iter().take(MOST_ROWS) {
        table.cells(vec![
            text(event.kind.name()),
            event.graph.map_or_else(|| text("unknown"), text),
            some(event.weights),
            some(event.feature_map),
            some(event.reserved),
        ]);
    }
    with_rest(table, events.len())
}

/// The graphs with most memory, in the order of the log.
fn graphs(graphs: &[GraphMemory]) -> Vec<Block> {
    let mut table = Table::captioned(
        "Graphs",
        &["graph", "state", ">weights", ">feature map", ">lower bound"],
    );
    let known = |graph: &&GraphMemory| graph.feature_map.is_some() || graph.weights.is_some();
    let known: Vec<&GraphMemory> = graphs.iter().filter(known).collect();
    let mut sizes: Vec<Option<u64>> = known.iter().map(|graph| graph.feature_map).collect();
    sizes.sort_unstable();
    let least = sizes.len().checked_sub(MOST_ROWS).and_then(|at| sizes[at]);
    let shown = known.iter().filter(|graph| graph.feature_map >= least).take(MOST_ROWS);
    for graph in shown {
        let state = match graph.loaded {
            2.. => format!("loaded {} times", graph.loaded),
            _ => graph.state.name().to_owned(),
        };
        table.cells(vec![
            text(graph.id),
            text(state),
            size(graph.weights),
            size(graph.feature_map),
            size(graph.lower_bound),
        ]);
    }
    with_rest(table, known.len())
}

/// A table of what the log states, whose first rows are shown, with the number of the others.
fn with_rest(mut table: Table, n_all: usize) -> Vec<Block> {
    if table.is_empty() {
        return Vec::new();
    }
    table.remove_columns_of(&["unknown"]);
    let more = n_all.saturating_sub(MOST_ROWS);
    let note = (more > 0).then(|| Block::Note(text(format!("and {} more", grouped(more as u64)))));
    std::iter::once(table.into()).chain(note).collect()
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

fn pools(pools: &[LoggedPool]) -> Vec<Block> {
    let headings = ["pool", ">graph", ">occupied at most", ">lower bound", ">requests"];
    let mut table = Table::captioned("Pools of dynamic graphs", &headings);
    for pool in pools.iter().take(MOST_ROWS) {
        table.cells(vec![
            text(pool.allocator.as_deref().unwrap_or("unknown")),
            pool.graph.map_or_else(|| text("unknown"), text),
            size(pool.occupied_peak),
            size(pool.real_theory_min),
            pool.mallocs
                .map_or_else(|| text("unknown"), |count| text(grouped(count))),
        ]);
    }
    with_rest(table, pools.len())
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
    let mut table = Table::captioned(caption, &["policy", ">GE needs", "from"]);
    for need in needs {
        let active = if need.is_active { " (active)" } else { "" };
        let figure = match need.bytes {
            Some(value) => match need.basis {
                NeedBasis::AtLeast | NeedBasis::Estimate => text("at least ").and(bytes(Bytes(value))),
                NeedBasis::Logged | NeedBasis::Sum | NeedBasis::Unknown => bytes(Bytes(value)),
            },
            None => text("unknown"),
        };
        let basis = match need.basis {
            NeedBasis::Estimate => "estimate: ",
            _ => "",
        };
        table.cells(vec![
            text(format!("{}{active}", need.policy)),
            figure,
            text(format!("{basis}{}", need.why)),
        ]);
    }
    (!table.is_empty()).then(|| table.into())
}

fn process_json(story: &ProcessStory) -> Json {
    let process = &story.process;
    json!({
        "pid": process.pid,
        "name": process.name,
        "device": process.device,
        "device_total": process.device_total,
        "level": process.level.name(),
        "policy": {
            "value": process.policy.map(|(value, _)| value),
            "from": process.policy.map(|(_, from)| from.name()),
            "line": story.policy_line,
        },
        "ge_reserved_peak": process.reserved_peak,
        "requests": list(&story.requests, request_json),
        "more_requests": story.n_more_requests,
        "modules": list(&story.modules, |one| json!({
            "device": one.device,
            "module": one.module,
            "at_failure": one.at_failure,
            "last": one.last,
            "peak": one.peak,
        })),
        "graphs": list(&story.graphs, |graph| json!({
            "graph_id": graph.id,
            "name": graph.name,
            "state": graph.state.name(),
            "loaded": graph.loaded,
            "weights": graph.weights,
            "feature_map": graph.feature_map,
            "lower_bound": graph.lower_bound,
        })),
        "arena": process.arena_loads.last().map(arena_json),
        "pools": list(&process.pools, pool_json),
        "policies": list(&story.needs, |need| json!({
            "policy": need.policy,
            "active": need.is_active,
            "bytes": need.bytes,
            "basis": need.basis.name(),
            "why": need.why,
        })),
    })
}

fn request_json(request: &FailedRequest) -> Json {
    let failure = &request.failure;
    json!({
        "time": failure.at.map(|at| at.to_string()),
        "who": failure.who,
        "requested": failure.requested,
        "device": failure.device,
        "graph_id": failure.graph,
        "purpose": failure.purpose,
        "refused_by": failure.refused.name(),
        "driver_lines": failure.driver_lines,
        "allocated": failure.allocated,
        "reserved": failure.reserved,
        "free": failure.free,
        "total": failure.total,
        "allowed": failure.allowed,
        "outside_pool": request.outside_pool,
        "allocated_by_modules": request.allocated_by_modules,
        "of_no_module": request.of_no_module,
        "evicted": request.evicted,
        "sentence": request.sentence,
        "remarks": request.remarks,
        "try": list(&request.advice, advice_json),
    })
}

fn advice_json(advice: &Advice) -> Json {
    json!({ "action": advice.action, "setting": advice.setting, "reason": advice.reason })
}
