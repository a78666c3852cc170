//! Why one configuration is recommended and not the next, in sentences with figures that are counted from event logs.

mod chosen_lane;
mod costs;
mod memory;
mod uncertain;

use super::sentence::{Link, Sentence, WhichChoice};
use super::{Goal, Recommendation, Space, SweepPoint};
use crate::selection::LaneGoal;
pub(super) use chosen_lane::ChosenLane;
use costs::{LEAST, causes};
use highwater_model::units::{Bytes, Nanos, Step, counted};
use highwater_options::keys;
use highwater_sim::Subject;
use highwater_sim::fold::blocks;
use memory::{parts, pools, waiting};
pub(super) use uncertain::uncertain;

const WINNER: Link = Link::Lane(WhichChoice::Winner);
const RUNNER_UP: Link = Link::Lane(WhichChoice::RunnerUp);
const BASE: Link = Link::Lane(WhichChoice::Base);

/// In this order: the winner, the runner-up, their differences, the changes against the base.
pub(super) fn reasons(
    space: &Space,
    found: &Recommendation,
    winner: &ChosenLane,
    runner_up: Option<&ChosenLane>,
) -> Vec<Sentence> {
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
            "All configurations that fit have these figures: the axes have no effect.",
        ));
    }
    sentences.extend(largest_tensor(winner));
    sentences.push(against_base(found, winner));
    if found.equals > 0 && runner_up.is_some() {
        sentences.push(Sentence::of(format!(
            "{} exactly the same figures; the one with the fewest changes is named.",
            if found.equals == 1 {
                "One other configuration has".to_owned()
            } else {
                format!("{} have", counted(found.equals, "other configuration"))
            }
        )));
    }
    sentences
}

fn wins(space: &Space, found: &Recommendation, winner: &ChosenLane) -> Sentence {
    let figures = winner.figures();
    let title = Sentence::default().linked(winner.chosen.title.clone(), WINNER);
    let peak = Link::Step {
        of: WhichChoice::Winner,
        step: winner.peak_step(),
    };
    let capacity = Link::Option(keys::DEVICE_MEMORY.to_owned());
    let left = figures.capacity.saturating_sub(figures.peak_reserved);
    let title = match found.goal {
        Goal::Lane(LaneGoal::LeastOverhead) => title
            .say(" fits in ")
            .bytes(figures.capacity, capacity)
            .say(" with an estimated overhead of ")
            .time(figures.overhead, WINNER)
            .say(least_overhead_words(found, figures.overhead))
            .say(": its peak is ")
            .bytes(figures.peak_reserved, peak),
        Goal::Lane(LaneGoal::LowestPeak) => title
            .say(lowest_peak_words(found, figures.peak_reserved))
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

/// Whether an overhead is the least of all points that fit, or near it.
fn least_overhead_words(found: &Recommendation, overhead: Nanos) -> &'static str {
    let fitting = found.points.iter().filter_map(SweepPoint::fitting);
    let least = fitting.map(|figures| figures.overhead).min();
    if least.is_none_or(|least| overhead <= least) {
        ", the least"
    } else {
        ", within 1 % or 0.1 ms of the least"
    }
}

/// Whether a peak is the lowest of all points that fit, or near it.
fn lowest_peak_words(found: &Recommendation, peak: Bytes) -> &'static str {
    let fitting = found.points.iter().filter_map(SweepPoint::fitting);
    let lowest = fitting.map(|figures| figures.peak_reserved).min();
    if lowest.is_none_or(|lowest| peak <= lowest) {
        " has the lowest peak, "
    } else {
        " has a peak that is not significantly above the lowest, "
    }
}

/// Of the largest value of an axis: why the next larger one fails.
fn next_larger(space: &Space, found: &Recommendation) -> Option<Sentence> {
    let Goal::Largest(axis) = found.goal else { return None };
    let value = |idx: u64| space.values(idx)[axis].as_int();
    let best = value(found.winner.as_ref()?.point.idx)?;
    let larger = space.axes()[axis]
        .values
        .iter()
        .filter_map(highwater_options::Value::as_int)
        .filter(|value| *value > best);
    let name = space.axes()[axis].name();
    Some(match larger.min() {
        None => Sentence::of(format!(
            "That is the largest {name} of the axis; larger values may fit."
        )),
        Some(next) => {
            let tried = found
                .points
                .iter()
                .filter(|point| value(point.idx) == Some(next))
                .count() as u64;
            Sentence::of(format!(
                "The next larger value, {next}, fits under none of {} simulated with it.",
                counted(tried, "configuration")
            ))
        }
    })
}

fn comes_next(winner: &ChosenLane, other: &ChosenLane) -> Sentence {
    let (own, next) = (winner.figures(), other.figures());
    let step = Link::Step {
        of: WhichChoice::RunnerUp,
        step: other.peak_step(),
    };
    let sentence = Sentence::of("Runner-up: ")
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
    if by < LEAST && time >= LEAST && time != other {
        return sentence.say(format!(" (differs by less than {LEAST})"));
    }
    match time.cmp(&other) {
        std::cmp::Ordering::Equal => sentence.say(" (the same)"),
        std::cmp::Ordering::Greater => sentence.say(" (").time(by, RUNNER_UP).say(" more)"),
        std::cmp::Ordering::Less => sentence.say(" (").time(by, RUNNER_UP).say(" less)"),
    }
}

/// The largest tensor live at the peak of the winner: the place to reduce memory further.
fn largest_tensor(winner: &ChosenLane) -> Option<Sentence> {
    let lane = winner.lane()?;
    let step = lane.summary.peak_live_step?;
    let is_live = |start: Step, end: Step| start <= step && step < end;
    let blocks = blocks(&lane.simulation);
    let live = blocks.iter().filter(|block| is_live(block.start, block.end));
    let tensors = live.filter_map(|block| {
        let row = lane.simulation.subject(block.subject);
        let Subject::Tensor { run, tensor, .. } = row.subject else {
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
        Sentence::of("Its live bytes peak at ")
            .linked(winner.names().place(step), Link::Step { of, step })
            .say(": the largest tensor there is ")
            .linked(if name.is_empty() { "one without a name" } else { name }, link.clone())
            .say(" with ")
            .bytes(bytes, link)
            .say("."),
    )
}

/// What changes from the base to the winner.
fn against_base(found: &Recommendation, winner: &ChosenLane) -> Sentence {
    let own = winner.figures();
    let start = Sentence::of("The ").linked("active configuration", BASE);
    match found.base.fitting() {
        Some(base) if base == own => start.say(" has the same figures: a change gains nothing."),
        Some(base) => {
            let start = start
                .say(" peaks at ")
                .bytes(base.peak_reserved, BASE)
                .say(" with an estimated overhead of ");
            let start = start.time(base.overhead, BASE);
            let is_less = own.peak_reserved < base.peak_reserved;
            let by = Bytes(own.peak_reserved.get().abs_diff(base.peak_reserved.get()));
            let start = start.say(": the recommended configuration needs ").bytes(by, WINNER);
            start.say(if is_less { " less." } else { " more." })
        }
        None => {
            let why = found.base.why();
            let label = why.first().map_or_else(|| found.base.label().to_owned(), Clone::clone);
            start.say(format!(" does not complete: {label}."))
        }
    }
}
