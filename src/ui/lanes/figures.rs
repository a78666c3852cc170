//! The figures of a lane in its header or picture, and the order in which they give way where there is little room.

use eframe::egui::{Color32, Label, RichText, TextWrapMode, Ui};

use super::LanesInput;
pub(super) use crate::panels::width_of;
use crate::theme::Theme;
use highwater_analysis::{Fit, Lane, LaneKind, ScratchSource};
use highwater_model::units::{Bytes, grouped, signed_percent_text};
use highwater_model::workload::{Recording, TotalKind};
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{LaneRemat, RematOutcome};

pub(super) const SPACING: f32 = 7.0;
/// Size of figures; the peak is larger.
pub(super) const SIZE: f32 = 13.0;
const PEAK_SIZE: f32 = 14.5;
const LOWER_BOUND: &str = "≥\u{a0}";

/// Figures of lower rank give way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Fragmentation,
    Behaviour,
    Percent,
    Costs,
    Difference,
    Counts,
    Verdict,
    Status,
    Peak,
}

pub(super) struct Figure {
    rank: Rank,
    text: RichText,
    /// On hover; empty in pictures.
    explanation: String,
    width: f32,
}

impl Figure {
    fn new(ui: &Ui, rank: Rank, text: String, color: Color32) -> Self {
        let size = if rank == Rank::Peak { PEAK_SIZE } else { SIZE };
        let width = width_of(ui, &text, size);
        let words = RichText::new(text).size(size).color(color);
        Self {
            rank,
            text: if rank == Rank::Peak { words.strong() } else { words },
            explanation: String::new(),
            width,
        }
    }

    /// Bold where it is bad.
    fn judged(ui: &Ui, rank: Rank, (text, is_good): (String, bool), theme: &Theme) -> Self {
        let color = if is_good { theme.good } else { theme.bad };
        Self::new(ui, rank, text, color).strong(!is_good)
    }

    fn strong(self, is_strong: bool) -> Self {
        let text = if is_strong { self.text.strong() } else { self.text };
        Self { text, ..self }
    }

    fn explained(self, explanation: String) -> Self {
        Self { explanation, ..self }
    }

    pub(super) fn ui(self, ui: &mut Ui) {
        let shown = ui.add(Label::new(self.text).wrap_mode(TextWrapMode::Extend));
        if !self.explanation.is_empty() {
            shown.on_hover_text(self.explanation);
        }
    }
}

/// Total width with spacing.
pub(super) fn width(figures: &[Figure]) -> f32 {
    figures.iter().map(|figure| figure.width + SPACING).sum()
}

/// Removes the figures of the lowest rank; returns `false` where only the peak is left.
pub(super) fn drop_one(figures: &mut Vec<Figure>) -> bool {
    let least = figures.iter().map(|figure| figure.rank).min();
    let Some(least) = least.filter(|rank| *rank < Rank::Peak) else {
        return false;
    };
    figures.retain(|figure| figure.rank != least);
    true
}

/// The peak alone, as it is stated: with its sign where it is a lower bound.
pub(super) fn peak(ui: &Ui, lane: &Lane, input: &LanesInput<'_>) -> Figure {
    let comparison = input.comparison;
    let position = comparison.position(lane.id).unwrap_or(0);
    let bound = comparison.bound_sign(position);
    let mut exact = format!("Peak reserved: {}", lane.summary.peak_reserved.exact());
    if !bound.is_empty() {
        exact.push_str(match comparison.scratch_of(position) {
            ScratchSource::Missing => "\nA lower bound: no op states its scratch memory",
            _ => "\nA lower bound: tensors of unknown size count 0 bytes",
        });
    }
    let text = format!("{bound}{}", lane.summary.peak_reserved);
    Figure::new(ui, Rank::Peak, text, input.theme.text).explained(exact)
}

/// The figures of a picture from left to right.
pub(super) fn figures(ui: &Ui, lane: &Lane, remat: Option<&LaneRemat>, input: &LanesInput<'_>) -> Vec<Figure> {
    let (comparison, theme) = (input.comparison, input.theme);
    let position = comparison.position(lane.id).unwrap_or(0);
    let weak = |rank: Rank, text: String| Figure::new(ui, rank, text, theme.text_weak);
    let fragmentation = |share: f64| weak(Rank::Fragmentation, format!("fragmentation {:.1} %", share * 100.0));
    if let Some(recording) = comparison.recording(lane.id) {
        let (peak, live) = measured_peaks(lane, recording);
        let mut all = vec![Figure::new(ui, Rank::Peak, peak, theme.text)];
        if recording.states_reserved() {
            all.extend(live.map(|live| weak(Rank::Costs, live)));
            let share = lane
                .recorded
                .as_ref()
                .and_then(|recorded| recorded.fragmentation.share());
            all.extend(share.map(fragmentation));
        }
        let fit = comparison.fit(position);
        let judged = measured_fit(&fit).map(|text| (text, fit.is_good()));
        all.extend(judged.map(|judged| Figure::judged(ui, Rank::Verdict, judged, theme)));
        return all;
    }
    let mut all = vec![peak(ui, lane, input)];
    if comparison.lane_kind() == LaneKind::Strategies {
        return all;
    }
    if let Some(([bytes, percent], color)) = difference(input, lane) {
        all.push(Figure::new(ui, Rank::Difference, bytes, color));
        all.push(Figure::new(ui, Rank::Percent, percent, color));
    }
    all.push(fragmentation(lane.summary.fragmentation));
    all.push(weak(Rank::Costs, format!("est. {}", lane.summary.estimated_overhead)));
    let row = lane.policy.row();
    if row.shares_static_arena && !row.expands_pools {
        let behaviour = comparison.params_of(position).arena_behaviour.label();
        all.push(weak(Rank::Behaviour, behaviour.to_owned()));
    }
    all.push(Figure::judged(ui, Rank::Verdict, verdict(lane, position, input), theme));
    if let Some(remat) = remat {
        let [counts, status] = remat_figures(ui, remat, theme);
        all.extend([counts, status.strong(remat.verdict() != RematOutcome::Ok)]);
    }
    all
}

/// The peak that a recording states, and the live one beside a reserved one.
fn measured_peaks(lane: &Lane, recording: &Recording) -> (String, Option<String>) {
    let (reserved, live) = (lane.summary.peak_reserved, lane.summary.peak_live);
    let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
    let is_partial = !recording.blocks.is_empty() && stated.is_some_and(|stated| stated > live);
    let of_live = format!("{live} {}", if is_partial { "in blocks" } else { "live" });
    if !recording.states_reserved() {
        return (of_live, None);
    }
    let is_bound = recording.lacks_regions(live, reserved);
    let peak = format!("{}{reserved}", if is_bound { LOWER_BOUND } else { "" });
    (peak, recording.states_live().then_some(of_live))
}

/// Whether a recorded run fits; `None` without a capacity.
fn measured_fit(fit: &Fit) -> Option<String> {
    match fit {
        Fit::Yes { capacity, .. } => Some(format!("fits {}", whole_units(*capacity))),
        Fit::Above { capacity, .. } => Some(format!("exceeds {}", whole_units(*capacity))),
        Fit::OutOfMemory(_) => Some("out of memory".to_owned()),
        Fit::Unknown | Fit::StopsUnderBudget | Fit::Refuses(_) | Fit::Forbidden(_) | Fit::Raises => None,
    }
}

/// Counts of a run under a budget, and its end where it is none within the budget.
pub(super) fn remat_notes(ui: &Ui, remat: &LaneRemat, theme: &Theme) -> Vec<Figure> {
    let n_notes = if remat.verdict() == RematOutcome::Ok { 1 } else { 2 };
    remat_figures(ui, remat, theme).into_iter().take(n_notes).collect()
}

/// Counts of a run under a budget, and how the run ended.
fn remat_figures(ui: &Ui, remat: &LaneRemat, theme: &Theme) -> [Figure; 2] {
    let sums = remat.sums();
    let counts = format!(
        "{} evicted · {} recomputed · {} time",
        grouped(sums.evictions),
        grouped(sums.recomputed),
        signed_percent_text((sums.overhead - 1.0).max(0.0) * 100.0)
    );
    let more = format!(
        "{}: {} evictions to make room, {} freed without a reference; {} ops recomputed: {}",
        remat.heuristic(),
        grouped(sums.evictions),
        grouped(sums.eager_evictions),
        grouped(sums.recomputed),
        remat.share_words()
    );
    let budget = remat
        .budget
        .map_or_else(|| "no budget".to_owned(), |budget| format!("budget {}", budget.exact()));
    let peak = sums.peak.exact();
    let verdict = remat.verdict();
    let why = match verdict {
        RematOutcome::Ok => format!("Completes: {budget}, planned peak {peak}"),
        RematOutcome::Over => {
            format!("Completes, but exceeds its {budget}: planned peak {peak}, no further tensor can be evicted")
        }
        RematOutcome::Thrash => format!(
            "Stopped: recomputation costs too much under {budget}: {}",
            remat.share_words()
        ),
        RematOutcome::OutOfMemory => {
            let story = remat.oom_report().map(|story| story.sentence(remat.budget));
            story.unwrap_or_default()
        }
    };
    let words = match verdict {
        RematOutcome::OutOfMemory => "budget: out of memory",
        other => other.words(),
    };
    let color = if verdict == RematOutcome::Ok {
        theme.good
    } else {
        theme.bad
    };
    [
        Figure::new(ui, Rank::Counts, counts, theme.text_weak).explained(more),
        Figure::new(ui, Rank::Status, words.to_owned(), color).explained(why),
    ]
}

/// Whether the lane fits the device.
fn verdict(lane: &Lane, position: usize, input: &LanesInput<'_>) -> (String, bool) {
    let capacity = input.comparison.device_of(position).memory();
    let short = whole_units(capacity);
    if lane.simulation.out_of_memory.is_some() {
        ("out of memory".to_owned(), false)
    } else if lane.summary.peak_reserved > capacity {
        (format!("exceeds {short}"), false)
    } else {
        (format!("fits {short}"), true)
    }
}

/// `32 GiB` rather than `32.00 GiB`.
pub fn whole_units(bytes: Bytes) -> String {
    bytes
        .to_string()
        .replace(".000", "")
        .replace(".00", "")
        .replace(".0\u{a0}", "\u{a0}")
}

/// Difference from the baseline (by default policy 0 or the lane without a pass): bytes and percent, colour.
fn difference(input: &LanesInput<'_>, lane: &Lane) -> Option<([String; 2], Color32)> {
    let comparison = input.comparison;
    let theme: &Theme = input.theme;
    let chosen = input.baseline.and_then(|lane| comparison.lanes.get(lane));
    // Policies are compared with policy 0, passes with the lane without any.
    let zero = match (comparison.lane_kind(), chosen) {
        (LaneKind::Strategies, _) => return None,
        (_, Some(chosen)) => chosen,
        (LaneKind::Passes, None) => comparison.lanes.first()?,
        (LaneKind::Policies | LaneKind::Recordings, None) => comparison.lane(StaticMemoryPolicy::Dynamic)?,
    };
    let (own, zero) = (comparison.position(lane.id))
        .zip(comparison.position(zero.id))
        .filter(|(own, zero)| own != zero)?;
    let (difference, effect) = comparison.peak_difference(own, zero)?;
    let texts = [difference.amount(), format!("({})", difference.percent())];
    Some((texts, theme.effect(effect)))
}
