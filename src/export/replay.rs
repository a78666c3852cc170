//! The answer of `replay`: a summary object, or a JSON line per command with all its effects.
//!
//! ```text
//! {"header":1,"policy":0,"device":...}
//! {"i":0,"ev":"a","k":0,"id":"x",...,"addr":["dev",1966080],...,"dev":[["malloc",0,2097152]],"used":...}
//! {"final":1,"pools":{...},"l1":{...},"dev":{...}}
//! ```
//!
//! In: answers. Out: one line each, without a line break. Fields and their order are a contract; addresses are pairs of a space (`dev` or
//! `va`) and an offset.

mod fields;

use serde::Serialize;

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::paragraph;
use super::record::Record;
use fields::{Fields, address, calls, pool_vector};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Nanos;
use highwater_model::workload::{AllocationTrace, TraceCommand, TraceName};
use highwater_sim::ArenaBehaviour;
use highwater_sim::alloc::{Address, ArenaFigures, CallCounts, LoadedSegments, PoolFigures};
use highwater_sim::replay::{Answer as CommandAnswer, Finish, Outcome, ReplayRules, ReplaySummary};

/// The figures of a replayed trace.
#[derive(Clone, Copy, Debug)]
pub struct ReplayAnswer<'a> {
    pub trace: &'a AllocationTrace,
    pub rules: &'a ReplayRules,
    pub summary: &'a ReplaySummary,
    pub elapsed: Nanos,
    /// The importer's.
    pub diagnostics: &'a Diagnostics,
}

impl Answer for ReplayAnswer<'_> {
    fn page(&self) -> Page {
        let Self {
            trace, rules, summary, ..
        } = *self;
        let behaviour = rules.arena_behaviour();
        let behaviour = behaviour.map_or_else(String::new, |behaviour| format!(", {}", behaviour.label()));
        let title = format!("policy {}, {}{behaviour}", rules.policy.number(), rules.allocator());
        let mut blocks = vec![self.record().facts(&trace.name, &title).into()];
        blocks.extend(summary.first_failure.map(|first| {
            let position = first as usize;
            let word = trace.commands.get(position).map_or("", |command| command.word());
            let line = trace.lines.get(position).copied().unwrap_or(0);
            paragraph(format!(
                "{} of them failed, out of memory; the first is \"{word}\" in line {line}",
                summary.failed
            ))
        }));
        blocks.extend(diagnostics_blocks(self.diagnostics));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        self.record()
    }
}

impl<'a> ReplayAnswer<'a> {
    fn record(&self) -> Record<'a> {
        let Self { rules, summary, .. } = *self;
        let calls = &summary.calls;
        Record::new()
            .key("allocator", rules.allocator())
            .key("policy", u64::from(rules.policy.number()))
            .optional("arena_behaviour", rules.arena_behaviour().map(ArenaBehaviour::name))
            .field("device_bytes", "device", rules.device_bytes)
            .field("events", "commands", summary.commands)
            .key("failed", summary.failed)
            .field("peak_reserved_bytes", "peak reserved", summary.peak_reserved)
            .field("peak_live_bytes", "peak live", summary.peak_live)
            .field("reserved_bytes", "reserved at the end", summary.reserved)
            .field("device_mallocs", "device mallocs", calls.mallocs)
            .field("device_frees", "device frees", calls.frees)
            .field("pages_allocated", "pages allocated", calls.page_allocs)
            .field("pages_mapped", "pages mapped", calls.maps)
            .field("elapsed_ns", "time", self.elapsed)
    }
}

/// The first line. The policy of the legacy allocator is 0.
pub fn replay_header(rules: &ReplayRules) -> String {
    const GIB: u64 = 1 << 30;
    let policy = if rules.is_legacy { 0 } else { rules.policy.number() };
    // The engine computes this size, and no decision depends on it.
    let uncacheable = if rules.device_bytes.get() > 32 * GIB { 32 } else { 16 };
    let mut line = Fields::new();
    line.number("header", 1);
    line.number("policy", u64::from(policy));
    line.number("device", rules.device_bytes.get());
    line.number("threshold", rules.threshold.get());
    line.number("uncacheable", uncacheable * GIB);
    line.finish()
}

pub fn replay_line(trace: &AllocationTrace, rules: &ReplayRules, answer: &CommandAnswer<'_>) -> String {
    let mut line = Fields::new();
    line.number("i", u64::from(answer.index));
    line.text("ev", event(answer));
    subject(&mut line, trace, answer);
    outcome(&mut line, rules, answer);
    if let Some(figures) = &answer.legacy
        && is_dynamic(&answer.command)
    {
        let idle = [figures.idle, figures.idle_parts];
        line.raw(
            "v1",
            &format!("[{},{},{},{}]", figures.held, figures.used, idle[0], idle[1]),
        );
    }
    arena(&mut line, answer);
    let ending = match &answer.outcome {
        Outcome::Ran { calls_before, .. } if has_two_parts(rules, answer) => &answer.calls[*calls_before..],
        _ => answer.calls,
    };
    line.raw("dev", &calls(ending));
    line.number("used", answer.in_use.get());
    line.number("phys", answer.pages.get());
    line.raw("pool", &vector(answer.pool_figures.as_ref()));
    line.raw("l1", &vector(answer.device_pool.as_ref()));
    line.finish()
}

pub fn replay_final(finish: &Finish) -> String {
    let mut pools = Fields::new();
    for (key, figures) in &finish.pools {
        pools.raw(&key.0.to_string(), &final_pool(figures));
    }
    let mut line = Fields::new();
    line.number("final", 1);
    line.raw("pools", &pools.finish());
    let device_pool = finish.device_pool.as_ref().map(final_device_pool);
    line.raw("l1", device_pool.as_deref().unwrap_or("null"));
    line.raw("dev", &final_driver(finish));
    line.finish()
}

fn event(answer: &CommandAnswer<'_>) -> &'static str {
    let is_legacy = answer.legacy.is_some();
    match answer.command {
        TraceCommand::Allocate { .. } if is_legacy => "v1a",
        TraceCommand::Free { .. } if is_legacy => "v1f",
        TraceCommand::Recycle if is_legacy => "v1try",
        command => command.word(),
    }
}

fn is_dynamic(command: &TraceCommand) -> bool {
    matches!(
        command,
        TraceCommand::Allocate { .. } | TraceCommand::Free { .. } | TraceCommand::Recycle
    )
}

/// The subject of the command: `k`, `id`, `g`, `n`, `size`.
fn subject(line: &mut Fields, trace: &AllocationTrace, answer: &CommandAnswer<'_>) {
    let is_legacy = answer.legacy.is_some();
    let is_skipped = answer.outcome == Outcome::Skipped;
    let name = |line: &mut Fields, key: &str, name: TraceName| line.text(key, trace.name(name));
    match answer.command {
        TraceCommand::Use(_) | TraceCommand::Synchronize => line.number("k", u64::from(answer.pool.0)),
        TraceCommand::Recycle if !is_legacy => line.number("k", u64::from(answer.pool.0)),
        TraceCommand::Destroy(pool) => line.number("k", u64::from(pool)),
        TraceCommand::Allocate { id, bytes } => {
            if !is_legacy {
                line.number("k", u64::from(answer.pool.0));
            }
            name(line, "id", id);
            line.number("size", bytes.get());
        }
        TraceCommand::Free { id } => {
            if !is_legacy && !is_skipped {
                line.number("k", u64::from(answer.pool.0));
            }
            name(line, "id", id);
        }
        TraceCommand::EndIteration(marker) => name(line, "n", marker),
        TraceCommand::Load { graph, first, count } => {
            name(line, "g", graph);
            line.number("size", trace.load_bytes(first, count).get());
        }
        TraceCommand::Execute(graph)
        | TraceCommand::Begin(graph)
        | TraceCommand::Finish(graph)
        | TraceCommand::Unload(graph)
        | TraceCommand::Unfixed(graph) => name(line, "g", graph),
        TraceCommand::Weights { id, bytes } => {
            name(line, "id", id);
            line.number("size", bytes.get());
        }
        TraceCommand::FreeWeights { id } => name(line, "id", id),
        TraceCommand::Fixed { graph, bytes } => {
            name(line, "g", graph);
            line.number("size", bytes.get());
        }
        TraceCommand::Recycle | TraceCommand::RecycleDevice => {}
    }
}

fn outcome(line: &mut Fields, rules: &ReplayRules, answer: &CommandAnswer<'_>) {
    let is_legacy = answer.legacy.is_some();
    match &answer.outcome {
        Outcome::Done => {}
        Outcome::Skipped => skipped(line, answer),
        Outcome::Allocated(grant, slots) => {
            line.flag("ok", true);
            line.raw("addr", &address(Some(grant.at)));
            if is_legacy {
                line.number("block", grant.bytes.get());
            } else {
                line.number("span", grant.bytes.get());
                line.number("nv", u64::from(grant.is_stitched));
            }
            if grant.is_stitched {
                line.raw("pa", &fields::list(slots.iter().map(u32::to_string)));
            }
        }
        Outcome::NotAllocated => {
            line.flag("ok", false);
            if is_legacy {
                line.raw("addr", "null");
            }
        }
        Outcome::Loaded(loaded) => load(line, true, loaded, answer),
        Outcome::NotLoaded(loaded) => load(line, false, loaded, answer),
        Outcome::Ran {
            status,
            calls_before,
            in_use,
        } => {
            line.number("st", u64::from(status.number()));
            if has_two_parts(rules, answer) {
                line.raw("pre_dev", &calls(&answer.calls[..*calls_before]));
                line.number("used_run", in_use.get());
            }
        }
        Outcome::Placed(at) => placed(line, true, *at),
        Outcome::NotPlaced => placed(line, false, None),
    }
    if matches!(answer.command, TraceCommand::Fixed { .. } | TraceCommand::Unfixed(_)) {
        line.number("pool_size", answer.fixed.get());
    }
}

/// Marks a skipped command, unless it unloads or frees something that is not there, which the engine allows.
fn skipped(line: &mut Fields, answer: &CommandAnswer<'_>) {
    let is_request = matches!(
        answer.command,
        TraceCommand::Allocate { .. } | TraceCommand::Load { .. } | TraceCommand::Weights { .. }
    );
    if is_request {
        line.flag("ok", false);
    }
    let is_silent = matches!(
        answer.command,
        TraceCommand::Unload(_) | TraceCommand::Unfixed(_) | TraceCommand::FreeWeights { .. }
    );
    if !is_silent && answer.legacy.is_none() {
        line.flag("skip", true);
    }
}

fn placed(line: &mut Fields, is_ok: bool, at: Option<Address>) {
    line.flag("ok", is_ok);
    line.raw("addr", &address(at));
}

fn load(line: &mut Fields, is_ok: bool, loaded: &LoadedSegments, answer: &CommandAnswer<'_>) {
    line.flag("ok", is_ok);
    line.raw("base", &address(loaded.base.filter(|_| is_ok)));
    if answer.arena.is_none() {
        return;
    }
    let segments = loaded.segments.iter();
    let segment = |piece: &highwater_sim::alloc::JoinedSegment| {
        format!("[{},{},{}]", piece.logical, piece.bytes.get(), address(piece.at))
    };
    line.raw("seg", &fields::list(segments.map(segment)));
    let active = loaded.active.iter();
    let part =
        |(at, bytes): &(Address, highwater_model::units::Bytes)| format!("[{},{}]", address(Some(*at)), bytes.get());
    line.raw("active", &fields::list(active.map(part)));
}

/// Whether a run first maps and then unmaps pages: arenas have pages only while their graph runs.
fn has_two_parts(rules: &ReplayRules, answer: &CommandAnswer<'_>) -> bool {
    let row = rules.policy.row();
    row.shares_static_arena && row.expands_pools && matches!(answer.command, TraceCommand::Execute(_))
}

fn arena(line: &mut Fields, answer: &CommandAnswer<'_>) {
    let is_half = matches!(answer.command, TraceCommand::Begin(_) | TraceCommand::Finish(_));
    let is_static = matches!(
        answer.command,
        TraceCommand::Load { .. } | TraceCommand::Execute(_) | TraceCommand::Unload(_)
    );
    let figures = match &answer.arena {
        Some(figures) if is_static || is_half => figures,
        None if is_half => &ArenaFigures::default(),
        _ => return,
    };
    let block = |block: &highwater_sim::alloc::ArenaBlock| {
        let (total, used) = (block.total.get(), block.used.get());
        format!(
            "[{},{total},{used},{}]",
            address(Some(block.at)),
            u8::from(block.is_new)
        )
    };
    let mut state = Fields::new();
    state.raw("blocks", &fields::list(figures.blocks.iter().map(block)));
    state.number("total", figures.blocks.iter().map(|block| block.total.get()).sum());
    state.number("used", figures.blocks.iter().map(|block| block.used.get()).sum());
    state.number("peak", figures.peak.get());
    state.number("used_count", figures.users);
    state.number("va_used", figures.range_used.get());
    state.number("expand_phys", figures.pages.get());
    line.raw("am", &state.finish());
}

fn vector(figures: Option<&PoolFigures>) -> String {
    figures.map_or_else(|| "null".to_owned(), pool_vector)
}

fn final_pool(figures: &PoolFigures) -> String {
    let mut pool = Fields::new();
    pool.number("dev_alloc", figures.blocks_requested);
    pool.number("dev_free", figures.blocks_returned);
    pool.number("total_size", figures.occupied);
    pool.number("max_occupied", figures.occupied_peak);
    pool.number("new_va_size", figures.stitched_reserved);
    pool.number("real_theory_min", figures.requested_peak);
    pool.number("theory_min", figures.theory_peak);
    pool.raw("reach_theory_rate", &format!("{:.4}", figures.reach_rate()));
    pool.number("alloc_succ", figures.requests_met);
    pool.number("free_succ", figures.grants_freed);
    pool.number("recycles", figures.recycles);
    pool.finish()
}

fn final_device_pool(figures: &PoolFigures) -> String {
    let mut pool = Fields::new();
    pool.number("dev_alloc", figures.blocks_requested);
    pool.number("dev_free", figures.blocks_returned);
    pool.number("total_size", figures.occupied);
    pool.number("max_occupied", figures.occupied_peak);
    pool.number("theory_min", figures.theory_peak);
    pool.number("recycles", figures.recycles);
    pool.finish()
}

fn final_driver(finish: &Finish) -> String {
    let CallCounts {
        mallocs,
        frees,
        page_allocs,
        page_frees,
        maps,
        unmaps,
        reserves,
        releases,
        synchronizations,
        memsets,
        memset_bytes,
        failures,
    } = finish.calls;
    let mut driver = Fields::new();
    driver.number("peak_used", finish.peak.get());
    driver.number("used", finish.in_use.get());
    for (key, count) in [
        ("malloc", mallocs),
        ("free", frees),
        ("palloc", page_allocs),
        ("pfree", page_frees),
        ("map", maps),
        ("unmap", unmaps),
        ("reserve", reserves),
        ("release", releases),
        ("sync", synchronizations),
        ("memset", memsets),
        ("memset_bytes", memset_bytes),
        ("fail", failures),
    ] {
        driver.number(key, count);
    }
    driver.finish()
}
