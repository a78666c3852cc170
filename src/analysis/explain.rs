//! Where a lane's peak comes from, and where it departs from policy 0, in sentences with figures.
//!
//! Every figure is counted from the event log at the step of its [`Remark`]. O(events * log blocks) per lane.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::lane::{Lane, Remark};
use super::name_context::NameContext;
use highwater_model::units::{Bytes, Step, percent_text};
use highwater_model::workload::GraphIdx;
use highwater_sim::fold::ReservedParts;
use highwater_sim::{ArenaBehaviour, DevicePicture, EventKind, PoolPicture, RegionKind, Simulation, picture};

/// The remarks about a lane; `reference` is the lane of policy 0 where this is another one.
pub(super) fn explain(lane: &Lane, reference: Option<&Lane>, names: &NameContext<'_>) -> Vec<Remark> {
    let Some(step) = lane
        .summary
        .peak_reserved_step
        .filter(|_| lane.summary.peak_reserved > Bytes::ZERO)
    else {
        return Vec::new();
    };
    let at_peak = picture(&lane.simulation, step);
    let mut texts = vec![peak(lane, step, names)];
    texts.extend(arenas(lane, &at_peak, names));
    texts.extend(pools(&at_peak, names));
    texts.extend(pages(&at_peak));
    texts.extend(rounding(lane, step));
    let mut remarks: Vec<Remark> = texts
        .into_iter()
        .map(|text| Remark { text, step: Some(step) })
        .collect();
    remarks.extend(unloads(lane).map(|text| Remark { text, step: None }));
    remarks.extend(ending(lane));
    if let Some(reference) = reference {
        remarks.extend(against(lane, reference));
        remarks.extend(divergence(lane, reference, names));
    }
    remarks
}

fn peak(lane: &Lane, step: Step, names: &NameContext<'_>) -> String {
    let ReservedParts {
        features,
        weights,
        variables,
        io,
    } = lane.summary.reserved;
    let parts = [
        (features, "feature memory"),
        (weights, "weights"),
        (variables, "variables"),
        (io, "inputs and outputs"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(bytes, _)| *bytes > Bytes::ZERO)
        .map(|(bytes, name)| format!("{bytes} of {name}"))
        .collect();
    format!(
        "The peak, {}, is reached at {}: {}.",
        lane.summary.peak_reserved,
        names.place(step),
        list(&parts)
    )
}

/// The graphs whose arenas are held at the peak.
fn arenas(lane: &Lane, at_peak: &DevicePicture, names: &NameContext<'_>) -> Option<String> {
    let held: Vec<(Option<GraphIdx>, Bytes)> = at_peak
        .regions
        .iter()
        .filter(|region| region.kind == RegionKind::Arena)
        .map(|region| (region.graph, region.held))
        .collect();
    if held.is_empty() {
        return None;
    }
    let sum: Bytes = held.iter().map(|(_, bytes)| *bytes).sum();
    let row = lane.policy.row();
    Some(match (row.shares_static_arena, row.expands_pools) {
        (false, _) => own_arenas(&held, names.running(at_peak.step), names),
        (true, true) => format!(
            "Static graphs hold pages only while they run; their range maps {sum}, which other graphs use in between."
        ),
        (true, false) => shared_arena(sum, held.len(), largest_graph(lane, at_peak.step, names), names),
    })
}

fn own_arenas(held: &[(Option<GraphIdx>, Bytes)], running: Option<GraphIdx>, names: &NameContext<'_>) -> String {
    const SHOWN: usize = 4;
    let mut by_graph: BTreeMap<GraphIdx, Bytes> = BTreeMap::new();
    for (graph, bytes) in held {
        if let Some(graph) = graph {
            *by_graph.entry(*graph).or_default() += *bytes;
        }
    }
    let mut sorted: Vec<(GraphIdx, Bytes)> = by_graph.into_iter().collect();
    sorted.sort_by_key(|(graph, bytes)| (std::cmp::Reverse(*bytes), *graph));
    let mut names: Vec<String> = sorted
        .iter()
        .take(SHOWN)
        .map(|(graph, bytes)| format!("{} {bytes}", names.graph(*graph)))
        .collect();
    if sorted.len() > SHOWN {
        let rest: Bytes = sorted[SHOWN..].iter().map(|(_, bytes)| *bytes).sum();
        names.push(format!("{} others {rest}", sorted.len() - SHOWN));
    }
    let waiting: Bytes = sorted
        .iter()
        .filter(|(graph, _)| Some(*graph) != running)
        .map(|(_, bytes)| *bytes)
        .sum();
    match (&sorted[..], waiting) {
        ([_], Bytes::ZERO) => format!("One static graph holds a separate block: {}.", list(&names)),
        ([_], _) => format!(
            "One static graph holds a separate block although it does not run at that step: {}.",
            list(&names)
        ),
        (_, Bytes::ZERO) => format!("Static graphs hold a block each: {}.", list(&names)),
        _ => format!(
            "{} static graphs hold a block each from load to unload: {}. {waiting} of that belong to graphs that do \
             not run at that step.",
            sorted.len(),
            list(&names)
        ),
    }
}

/// The largest static graph loaded until a step, with all its copies.
fn largest_graph(lane: &Lane, step: Step, names: &NameContext<'_>) -> Option<(GraphIdx, Bytes)> {
    let refused = lane.simulation.out_of_memory.as_ref().map(|failed| failed.step);
    let was_loaded = |start: Step| start <= step && refused.is_none_or(|refused| start < refused);
    let runs = names.session.runs.iter().filter(|run| was_loaded(run.start));
    let bound = runs.filter_map(|run| {
        let plan = run.bound.plan.as_ref()?;
        let bytes = (0..names.copies).map(|_| plan.footprint).sum();
        Some((run.graph, bytes))
    });
    bound.max_by_key(|(graph, bytes)| (*bytes, std::cmp::Reverse(*graph)))
}

fn shared_arena(sum: Bytes, n_blocks: usize, largest: Option<(GraphIdx, Bytes)>, names: &NameContext<'_>) -> String {
    let Some((graph, bytes)) = largest else {
        return format!("The shared arena holds {sum}.");
    };
    let name = names.graph(graph);
    if names.arena_behaviour == ArenaBehaviour::Documented {
        return format!(
            "As documented, the shared arena is as large as the largest graph so far: {sum} (the tensors of {name} \
             need {bytes})."
        );
    }
    let blocks = if n_blocks == 1 {
        "one block".to_owned()
    } else {
        format!("{n_blocks} blocks")
    };
    if sum <= bytes + Bytes::mib(2) {
        return format!("The shared arena is {blocks}, {sum}: exactly what its largest graph, {name}, needs.");
    }
    format!(
        "The shared arena is {blocks}, {sum}; its largest graph, {name}, places tensors in {bytes}. The rest, {}, is \
         inputs and outputs, rounding to 2 MiB, and gaps that no later graph fits: GE does not free or merge blocks \
         while a graph is loaded.",
        sum - bytes
    )
}

/// With a capital first letter.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The largest pools.
fn pools(at_peak: &DevicePicture, names: &NameContext<'_>) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut texts = Vec::new();
    let mut graphs: Vec<&PoolPicture> = at_peak.pools.iter().filter(|pool| pool.graph.is_some()).collect();
    graphs.sort_by_key(|pool| (std::cmp::Reverse(pool.occupied), pool.graph));
    for pool in graphs.iter().take(SHOWN).filter(|pool| pool.occupied > Bytes::ZERO) {
        let name = pool.graph.map_or_else(String::new, |graph| names.pool(graph));
        let mut text = format!(
            "{} reserves {}: {} in tensors",
            capital(&name),
            pool.occupied,
            pool.given
        );
        if pool.idle() > Bytes::ZERO {
            let n_spans: u64 = pool.idle_spans.iter().map(|(_, count)| count).sum();
            text.push_str(&format!(
                ", {} idle in {}, the largest {}",
                pool.idle(),
                counted(n_spans, "span"),
                pool.largest_idle()
            ));
        }
        if pool.idle_pages > Bytes::ZERO {
            text.push_str(&format!(", {} in idle pages until it is recycled", pool.idle_pages));
        }
        let rest = pool.occupied.saturating_sub(pool.given + pool.idle() + pool.idle_pages);
        if rest > Bytes::ZERO {
            text.push_str(&format!(", {rest} in unused parts of pages"));
        }
        text.push('.');
        texts.push(text);
    }
    let device = at_peak.pools.first().filter(|pool| pool.idle() > Bytes::ZERO);
    if let Some(device) = device {
        texts.push(format!(
            "The device's pool keeps {} unused, the largest piece {}.",
            device.idle(),
            device.largest_idle()
        ));
    }
    texts
}

fn pages(at_peak: &DevicePicture) -> Option<String> {
    let pages = at_peak.pages;
    (pages.count > 0).then(|| {
        format!(
            "{} ({}) {} reserved; tensors use {} at that step.",
            counted(pages.count, "physical page"),
            pages.bytes,
            if pages.count == 1 { "was" } else { "were" },
            pages.touched
        )
    })
}

/// The cost of the allocators' rounding.
fn rounding(lane: &Lane, step: Step) -> Option<String> {
    let (live, rounded) = (
        *lane.curves.live.get(step.idx())?,
        *lane.curves.rounded.get(step.idx())?,
    );
    let cost = rounded.saturating_sub(live);
    (cost > Bytes::ZERO).then(|| {
        format!(
            "Live at that step: {live}, rounded {rounded}; rounding costs {cost} ({}).",
            percent_text(rounded.percent_over(live))
        )
    })
}

fn unloads(lane: &Lane) -> Option<String> {
    let events = lane.simulation.events.iter();
    let reloads = events.filter(|event| event.kind == EventKind::Reload);
    (lane.summary.unloads > 0).then(|| {
        let again = match reloads.count() {
            0 => "none of them was loaded again".to_owned(),
            count => format!("and loaded again {}", counted(count as u64, "time")),
        };
        let unloaded = counted(lane.summary.unloads, "time");
        let comma = if again.starts_with("none") { ";" } else { "" };
        format!("Memory ran short: graphs were unloaded {unloaded}{comma} {again}.")
    })
}

/// That the run ended early.
fn ending(lane: &Lane) -> Option<Remark> {
    let failed = lane.simulation.out_of_memory.as_ref()?;
    Some(Remark {
        text: format!(
            "The run ends at step {} of {}, out of memory: figures are those until then.",
            failed.step, lane.simulation.n_steps
        ),
        step: Some(failed.step),
    })
}

/// The peak against that of policy 0.
fn against(lane: &Lane, reference: &Lane) -> Option<Remark> {
    let (own, other) = (lane.summary.peak_reserved, reference.summary.peak_reserved);
    let is_partial = |lane: &Lane| lane.summary.out_of_memory || lane.refusals.is_some();
    if is_partial(lane) || is_partial(reference) {
        return None;
    }
    let text = match own.cmp(&other) {
        Ordering::Less => format!(
            "That is {} ({}) less than policy 0.",
            other - own,
            percent_text((other - own).percent_of(other))
        ),
        Ordering::Greater => format!(
            "That is {} ({}) more than policy 0: policy {} does not save memory in this session.",
            own - other,
            percent_text(own.percent_over(other)),
            lane.policy.number()
        ),
        Ordering::Equal => "That equals policy 0.".to_owned(),
    };
    Some(Remark { text, step: None })
}

/// The first step at which the lanes differ, and the driver's calls of each there.
fn divergence(lane: &Lane, reference: &Lane, names: &NameContext<'_>) -> Option<Remark> {
    let step = lane.first_divergence?;
    Some(Remark {
        text: format!(
            "It first differs from policy 0 at {}: here the device {}; under policy 0 it {}.",
            names.place(step),
            what_happens(&lane.simulation, step, names),
            what_happens(&reference.simulation, step, names)
        ),
        step: Some(step),
    })
}

/// The driver's calls on a step, in a clause.
fn what_happens(simulation: &Simulation, step: Step, names: &NameContext<'_>) -> String {
    let first = simulation.events.partition_point(|event| event.step < step);
    let mut given: BTreeMap<(RegionKind, Option<GraphIdx>), Bytes> = BTreeMap::new();
    let (mut back, mut pages, mut mapped, mut is_reused) = (Bytes::ZERO, (0_u64, Bytes::ZERO), 0_u64, false);
    let mut other: Vec<String> = Vec::new();
    for event in simulation.events.from(first).take_while(|event| event.step == step) {
        let region = simulation.region(event.region);
        match event.kind {
            EventKind::DeviceMalloc => *given.entry((region.kind, region.graph)).or_default() += event.bytes,
            EventKind::DeviceFree | EventKind::PageFree => back += event.bytes,
            EventKind::PageAlloc => pages = (pages.0 + 1, pages.1 + event.bytes),
            EventKind::Map => mapped += 1,
            EventKind::Reuse => is_reused = true,
            EventKind::Unload => other.push("unloads a graph to make room".to_owned()),
            EventKind::OutOfMemory => other.push("has no memory left for a request".to_owned()),
            _ => {}
        }
    }
    let mut clauses: Vec<String> = given
        .into_iter()
        .map(|((kind, graph), bytes)| format!("gives {bytes} for {}", names.region(kind, graph)))
        .collect();
    if pages.0 > 0 {
        clauses.push(format!("gives {} ({})", counted(pages.0, "page"), pages.1));
    }
    if mapped > pages.0 {
        clauses.push(format!("maps {} existing pages", counted(mapped - pages.0, "page")));
    }
    if back > Bytes::ZERO {
        clauses.push(format!("frees {back}"));
    }
    clauses.extend(other);
    if clauses.is_empty() && is_reused {
        return "gives nothing, the arena is reused".to_owned();
    }
    if clauses.is_empty() {
        return "gives nothing".to_owned();
    }
    list(&clauses)
}

/// `1 page`, `2000 pages`: the count without grouped digits.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
fn list(parts: &[String]) -> String {
    match parts {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
