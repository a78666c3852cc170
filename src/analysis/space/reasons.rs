//! Why one configuration is taken and not the next, in sentences with figures; everything said is counted from event logs.

use super::sentence::{Link, Sentence, WhichChoice};
use super::{AxisOf, Chosen, Goal, PointFigures, Recommendation, Space};
use crate::analysis::scene::Scene;
use crate::analysis::{Comparison, Lane};
use crate::options::keys;
use crate::sim::fold::{Cause, Overhead, ReservedParts, blocks};
use crate::sim::{DevicePicture, RegionKind, Subject, picture};
use crate::units::{Bytes, Nanos, Step, counted};
use crate::workload::GraphIdx;

/// A configuration that is named, as a lane.
pub(super) struct Story {
    pub(super) chosen: Chosen,
    pub(super) comparison: Comparison,
}

impl Story {
    fn lane(&self) -> Option<&Lane> {
        self.comparison.simulated_lanes().next()
    }

    fn policy(&self) -> u8 {
        self.chosen.point.policy.number()
    }

    fn figures(&self) -> &PointFigures {
        self.chosen.figures()
    }

    fn peak_step(&self) -> Step {
        let step = self.lane().and_then(|lane| lane.summary.peak_reserved_step);
        step.unwrap_or(Step(0))
    }

    fn scene(&self) -> Scene<'_> {
        let Comparison {
            workload,
            axis,
            session,
            params,
            workspaces,
            requests,
            ..
        } = &self.comparison;
        Scene {
            workload,
            axis,
            session,
            arena_behaviour: params.arena_behaviour,
            copies: params.feature_copies.max(1),
            workspaces,
            requests,
        }
    }
}

/// Winner, and who comes next.
type Told<'a> = (&'a Story, Option<&'a Story>);

const WINNER: Link = Link::Lane(WhichChoice::Winner);
const RUNNER_UP: Link = Link::Lane(WhichChoice::RunnerUp);
const BASE: Link = Link::Lane(WhichChoice::Base);

/// Why, in the order in which it is asked: what wins, what comes next, what tells them apart, what changes.
pub(super) fn reasons(space: &Space, found: &Recommendation, told: Option<Told<'_>>) -> Vec<Sentence> {
    let Some((winner, runner_up)) = told else {
        return vec![Sentence::of(
            "No configuration that was tried runs to its end on its device.",
        )];
    };
    let mut sentences = vec![wins(space, found, winner)];
    sentences.extend(next_larger(space, found));
    if let Some(other) = runner_up {
        sentences.push(comes_next(winner, other));
        sentences.extend(parts(winner, other));
        sentences.extend(waiting(winner, other));
        sentences.extend(pools(winner, other));
        sentences.extend(causes(winner, other));
    } else if found.equals > 0 {
        sentences.push(Sentence::of(
            "Every configuration that fits comes to exactly these figures: the axes change nothing here.",
        ));
    }
    sentences.extend(largest_tensor(winner));
    sentences.push(against_base(found, winner));
    if found.equals > 0 && runner_up.is_some() {
        sentences.push(Sentence::of(format!(
            "{} exactly the same figures; the one that changes least is named.",
            if found.equals == 1 {
                "One other configuration comes to".to_owned()
            } else {
                format!("{} come to", counted(found.equals, "other configuration"))
            }
        )));
    }
    sentences
}

fn wins(space: &Space, found: &Recommendation, winner: &Story) -> Sentence {
    let figures = winner.figures();
    let title = Sentence::default().linked(winner.chosen.title.clone(), WINNER);
    let peak = Link::Step {
        of: WhichChoice::Winner,
        step: winner.peak_step(),
    };
    let capacity = Link::Option(keys::DEVICE_MEMORY.to_owned());
    let left = figures.capacity.saturating_sub(figures.peak_reserved);
    let title = match found.goal {
        Goal::LeastSlowdown => title
            .say(" fits in ")
            .bytes(figures.capacity, capacity)
            .say(" with the least estimated overhead, ")
            .time(figures.overhead, WINNER)
            .say(": its peak is ")
            .bytes(figures.peak_reserved, peak),
        Goal::LowestPeak => title
            .say(" has the lowest peak, ")
            .bytes(figures.peak_reserved, peak)
            .say(", at an estimated overhead of ")
            .time(figures.overhead, WINNER)
            .say(" on a device with ")
            .bytes(figures.capacity, capacity),
        Goal::Largest(axis) => {
            let axis_name = space.axes()[axis].name();
            let value = space.values(winner.chosen.point.idx)[axis].to_string();
            title
                .say(format!(" has the largest {axis_name} that fits in "))
                .bytes(figures.capacity, capacity)
                .say(format!(", {value}: its peak is "))
                .bytes(figures.peak_reserved, peak)
        }
    };
    title.say(", which leaves ").bytes(left, WINNER).say(".")
}

/// Of the largest value of an axis: what the next larger one runs into.
fn next_larger(space: &Space, found: &Recommendation) -> Option<Sentence> {
    let Goal::Largest(axis) = found.goal else { return None };
    let value = |idx: u64| space.values(idx)[axis].as_int();
    let best = value(found.winner.as_ref()?.point.idx)?;
    let larger = space.axes()[axis]
        .values
        .iter()
        .filter_map(crate::options::Value::as_int)
        .filter(|value| *value > best);
    let name = space.axes()[axis].name();
    Some(match larger.min() {
        None => Sentence::of(format!(
            "That is the largest {name} of the axis: a larger one may fit too."
        )),
        Some(next) => {
            let tried = found
                .points
                .iter()
                .filter(|point| value(point.idx) == Some(next))
                .count() as u64;
            Sentence::of(format!(
                "The next larger value, {next}, fits under none of {} that were tried with it.",
                counted(tried, "configuration")
            ))
        }
    })
}

fn comes_next(winner: &Story, other: &Story) -> Sentence {
    let (own, next) = (winner.figures(), other.figures());
    let step = Link::Step {
        of: WhichChoice::RunnerUp,
        step: other.peak_step(),
    };
    let sentence = Sentence::of("Next comes ")
        .linked(other.chosen.title.clone(), RUNNER_UP)
        .say(": its peak is ")
        .bytes(next.peak_reserved, step);
    let sentence = bytes_beside(sentence, next.peak_reserved, own.peak_reserved);
    let sentence = sentence.say(", its estimated overhead ").time(next.overhead, RUNNER_UP);
    time_beside(sentence, next.overhead, own.overhead).say(".")
}

/// ` (12 MiB more)`.
fn bytes_beside(sentence: Sentence, bytes: Bytes, other: Bytes) -> Sentence {
    match bytes.cmp(&other) {
        std::cmp::Ordering::Equal => sentence.say(" (the same)"),
        std::cmp::Ordering::Greater => sentence.say(" (").bytes(bytes - other, RUNNER_UP).say(" more)"),
        std::cmp::Ordering::Less => sentence.say(" (").bytes(other - bytes, RUNNER_UP).say(" less)"),
    }
}

fn time_beside(sentence: Sentence, time: Nanos, other: Nanos) -> Sentence {
    let by = Nanos(time.0.abs_diff(other.0));
    match time.cmp(&other) {
        std::cmp::Ordering::Equal => sentence.say(" (the same)"),
        std::cmp::Ordering::Greater => sentence.say(" (").time(by, RUNNER_UP).say(" more)"),
        std::cmp::Ordering::Less => sentence.say(" (").time(by, RUNNER_UP).say(" less)"),
    }
}

/// Which parts of reserved memory make the difference of the peaks.
fn parts(winner: &Story, other: &Story) -> Option<Sentence> {
    let (own, next) = (winner.figures(), other.figures());
    if own.peak_reserved == next.peak_reserved {
        return None;
    }
    let (high, low, which) = if own.peak_reserved > next.peak_reserved {
        (own, next, WhichChoice::Winner)
    } else {
        (next, own, WhichChoice::RunnerUp)
    };
    let figures = |parts: &ReservedParts| [parts.features, parts.weights, parts.variables, parts.io];
    let names = ["feature memory", "weights", "variables", "inputs and outputs"];
    let grown = figures(&high.reserved)
        .into_iter()
        .zip(figures(&low.reserved))
        .zip(names);
    let mut grown: Vec<(Bytes, &str)> = grown
        .map(|((high, low), name)| (high.saturating_sub(low), name))
        .filter(|(bytes, _)| *bytes > Bytes::ZERO)
        .collect();
    grown.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let mut sentence = Sentence::of("The higher of the two peaks holds ");
    for (position, (bytes, name)) in grown.iter().enumerate() {
        if position > 0 {
            sentence = sentence.say(" and ");
        }
        sentence = sentence
            .bytes(*bytes, Link::Lane(which))
            .say(format!(" more of {name}"));
    }
    (!grown.is_empty()).then(|| sentence.say("."))
}

/// The story with the higher peak and the other, each with what it is called.
fn by_peak<'a>(winner: &'a Story, other: &'a Story) -> [(&'a Story, WhichChoice); 2] {
    let (own, next) = ((winner, WhichChoice::Winner), (other, WhichChoice::RunnerUp));
    if winner.figures().peak_reserved > other.figures().peak_reserved {
        [own, next]
    } else {
        [next, own]
    }
}

/// Memory that static graphs hold while they do not run, where policies treat it differently.
fn waiting(winner: &Story, other: &Story) -> Option<Sentence> {
    let [(high, which), (low, _)] = by_peak(winner, other);
    let (high_row, low_row) = (high.chosen.point.policy.row(), low.chosen.point.policy.row());
    let step = high.peak_step();
    let link = Link::Step { of: which, step };
    let scene = high.scene();
    let at_peak = picture(&high.lane()?.simulation, step);
    let arenas = at_peak.regions.iter().filter(|region| region.kind == RegionKind::Arena);
    if !high_row.shares_static_arena && low_row.shares_static_arena {
        let running = scene.running(step);
        let idle: Vec<(GraphIdx, Bytes)> = arenas
            .filter_map(|region| Some((region.graph.filter(|graph| Some(*graph) != running)?, region.held)))
            .collect();
        let bytes: Bytes = idle.iter().map(|(_, bytes)| *bytes).sum();
        let mut names: Vec<&str> = Vec::new();
        for (graph, _) in &idle {
            if !names.contains(&scene.graph(*graph)) {
                names.push(scene.graph(*graph));
            }
        }
        let kept = match &names[..] {
            [] => return None,
            [one] => format!(" in the arena of {one}"),
            [one, two] => format!(" in the arenas of {one} and {two}"),
            [one, more @ ..] => format!(" in the arenas of {one} and {} other graphs", more.len()),
        };
        let shared = if low_row.expands_pools {
            "maps the pages of a static graph only while it runs"
        } else {
            "lets static graphs take turns in one arena"
        };
        return Some(
            Sentence::of(format!("Policy {} keeps ", high.policy()))
                .bytes(bytes, link)
                .say(format!(
                    "{kept} while other graphs run; policy {} {shared}.",
                    low.policy()
                )),
        );
    }
    let is_returned = high_row.shares_static_arena && !high_row.expands_pools && low_row.shares_static_arena;
    if is_returned && low_row.expands_pools && is_same_axis(high, low) {
        let held: Bytes = arenas.map(|region| region.held).sum();
        let then = picture(&low.lane()?.simulation, step);
        let mapped = then.regions.iter().filter(|region| region.kind == RegionKind::Arena);
        let mapped: Bytes = mapped.map(|region| region.held).sum();
        return (held > mapped).then(|| {
            Sentence::of(format!("Policy {} returns ", low.policy()))
                .bytes(held - mapped, link)
                .say(format!(
                    " of the static graphs' arena between runs; policy {} keeps it from load on.",
                    high.policy()
                ))
        });
    }
    None
}

/// Whether steps mean the same in both.
fn is_same_axis(one: &Story, other: &Story) -> bool {
    one.comparison.axis == other.comparison.axis
}

/// What the pools of dynamic graphs hold.
fn pools(winner: &Story, other: &Story) -> Option<Sentence> {
    let held = |at: &DevicePicture| -> (Bytes, Bytes) {
        let pools = at.pools.iter().filter(|pool| pool.graph.is_some());
        pools.fold((Bytes::ZERO, Bytes::ZERO), |(all, given), pool| {
            (all + pool.occupied, given + pool.given)
        })
    };
    let [(high, which), (low, low_which)] = by_peak(winner, other);
    let at = |story: &Story| Some(picture(&story.lane()?.simulation, story.peak_step()));
    let ((high_all, high_given), (low_all, low_given)) = (held(&at(high)?), held(&at(low)?));
    let (high_idle, low_idle) = (high_all.saturating_sub(high_given), low_all.saturating_sub(low_given));
    let link = Link::Step {
        of: which,
        step: high.peak_step(),
    };
    (high_idle > low_idle && high.policy() != low.policy()).then(|| {
        Sentence::of("At their peaks the pools of dynamic graphs hold ")
            .bytes(high_idle, link)
            .say(format!(" that no tensor uses under policy {}, ", high.policy()))
            .bytes(low_idle, Link::Lane(low_which))
            .say(format!(" under policy {}.", low.policy()))
    })
}

/// What the slower one spends more time on.
fn causes(winner: &Story, other: &Story) -> Option<Sentence> {
    const SHOWN: usize = 2;
    let (own, next) = (winner.figures().overhead, other.figures().overhead);
    let (slow, fast, which) = match own.cmp(&next) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Greater => (winner, other, WhichChoice::Winner),
        std::cmp::Ordering::Less => (other, winner, WhichChoice::RunnerUp),
    };
    let (slow_causes, fast_causes) = (&slow.lane()?.summary.overhead, &fast.lane()?.summary.overhead);
    let of = |list: &[Overhead], cause: Cause| {
        let found = list.iter().find(|overhead| overhead.cause == cause);
        found.map_or((0, Nanos(0)), |overhead| (overhead.count, overhead.time))
    };
    let mut more: Vec<(Nanos, Cause, (u64, u64))> = Vec::new();
    for cause in Cause::ALL {
        let ((slow_count, slow_time), (fast_count, fast_time)) = (of(slow_causes, cause), of(fast_causes, cause));
        if slow_time > fast_time {
            more.push((Nanos(slow_time.0 - fast_time.0), cause, (slow_count, fast_count)));
        }
    }
    more.sort_by_key(|(time, _, _)| std::cmp::Reverse(*time));
    let mut sentence = Sentence::of(if which == WhichChoice::Winner {
        "The recommended one spends "
    } else {
        "The next one spends "
    });
    for (position, (time, cause, (count, before))) in more.iter().take(SHOWN).enumerate() {
        if position > 0 {
            sentence = sentence.say(" and ");
        }
        sentence = sentence
            .time(*time, Link::Lane(which))
            .say(format!(" more on {} ({count} instead of {before})", cause.label()));
    }
    (!more.is_empty()).then(|| sentence.say("."))
}

/// The largest tensor that lives where the winner's graphs ask for most: what to look at to get lower still.
fn largest_tensor(winner: &Story) -> Option<Sentence> {
    let lane = winner.lane()?;
    let step = lane.summary.peak_live_step?;
    let is_live = |start: Step, end: Step| start <= step && step < end;
    let blocks = blocks(&lane.simulation);
    let live = blocks.iter().filter(|block| is_live(block.start, block.end));
    let tensors = live.filter_map(|block| {
        let row = lane.simulation.subject(block.subject);
        let Subject::Tensor { run, tensor, .. } = row.who else {
            return None;
        };
        Some((row.requested, std::cmp::Reverse(block.subject.0), run, tensor))
    });
    let (bytes, _, run, tensor) = tensors.max()?;
    let graph = winner.comparison.axis.runs.get(run as usize)?.run.graph;
    let name = winner.comparison.tensor_name(graph, tensor);
    let of = WhichChoice::Winner;
    let link = Link::Tensor {
        of,
        step,
        graph,
        tensor,
    };
    Some(
        Sentence::of("Its graphs ask for most at ")
            .linked(winner.scene().place(step), Link::Step { of, step })
            .say(": the largest tensor there is ")
            .linked(if name.is_empty() { "one without a name" } else { name }, link.clone())
            .say(" with ")
            .bytes(bytes, link)
            .say("."),
    )
}

/// What taking the winner changes.
fn against_base(found: &Recommendation, winner: &Story) -> Sentence {
    let own = winner.figures();
    let start = Sentence::of("The ").linked("configuration at hand", BASE);
    match found.base.fitting() {
        Some(base) if base == own => start.say(" comes to the same figures: there is nothing to gain by a change."),
        Some(base) => {
            let start = start
                .say(" peaks at ")
                .bytes(base.peak_reserved, BASE)
                .say(" with an estimated overhead of ");
            let start = start.time(base.overhead, BASE);
            let is_less = own.peak_reserved < base.peak_reserved;
            let by = Bytes(own.peak_reserved.get().abs_diff(base.peak_reserved.get()));
            let start = start.say(": the recommended one needs ").bytes(by, WINNER);
            start.say(if is_less { " less." } else { " more." })
        }
        None => {
            let why = found.base.why();
            let label = why.first().map_or_else(|| found.base.label().to_owned(), Clone::clone);
            start.say(format!(" does not run to its end: {label}."))
        }
    }
}

/// What the figures rest on that is not certain.
pub(super) fn uncertain(space: &Space, found: &Recommendation, winner: Option<&Story>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    if !found.searched.is_whole() {
        sentences.push(Sentence::of(format!(
            "{} of {} were tried: there may be a better one.",
            crate::units::grouped(found.searched.tried),
            counted(found.searched.of, "configuration")
        )));
    }
    let Some(winner) = winner else { return sentences };
    let comparison = &winner.comparison;
    sentences.push(
        Sentence::of("Overhead is an estimate: calls are counted exactly, and what each costs is a figure of ")
            .linked(comparison.device.name.clone(), Link::Option(keys::DEVICE.to_owned()))
            .say("."),
    );
    if space.axes().iter().any(|axis| !matches!(axis.of, AxisOf::Option(_))) {
        sentences.push(Sentence::of(
            "Overhead is of the whole schedule: where an axis changes what runs, it does not compare like with like.",
        ));
    }
    if let Some(note) = comparison.scratch.note() {
        sentences.push(Sentence::of(note));
    } else if comparison.lower_bound {
        sentences.push(Sentence::of(
            "Figures are lower bounds: tensors of unknown size count 0 bytes.",
        ));
    }
    for estimate in &comparison.estimates {
        sentences.push(
            Sentence::default()
                .linked(estimate.key, Link::Option(estimate.key.to_owned()))
                .say(format!(" {}: an estimate.", estimate.effect)),
        );
    }
    let entries = comparison.diagnostics.entries().iter();
    let warnings = entries.filter(|entry| entry.severity != crate::diagnostics::Severity::Info);
    sentences.extend(warnings.map(|entry| Sentence::of(format!("{}.", entry.message))));
    sentences
}
