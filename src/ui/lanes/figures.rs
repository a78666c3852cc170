//! The figures of a lane's header, and the order in which they give way where there is little room.

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
    explanation: String,
    width: f32,
}

impl Figure {
    fn new(ui: &Ui, rank: Rank, text: String, color: Color32, explanation: String) -> Self {
        let size = if rank == Rank::Peak { PEAK_SIZE } else { SIZE };
        let width = width_of(ui, &text, size);
        let words = RichText::new(text).size(size).color(color);
        Self {
            rank,
            text: if rank == Rank::Peak { words.strong() } else { words },
            explanation,
            width,
        }
    }

    fn strong(self) -> Self {
        Self {
            text: self.text.strong(),
            ..self
        }
    }

    pub(super) fn ui(self, ui: &mut Ui) {
        ui.add(Label::new(self.text).wrap_mode(TextWrapMode::Extend))
            .on_hover_text(self.explanation);
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

/// From left to right.
pub(super) fn figures(ui: &Ui, lane: &Lane, remat: Option<&LaneRemat>, input: &LanesInput<'_>) -> Vec<Figure> {
    if let Some(recording) = input.comparison.recording(lane.id) {
        let mut all = measured_figures(ui, lane, recording, input.theme);
        all.extend(measured_fit(ui, lane, input));
        return all;
    }
    let (summary, theme) = (&lane.summary, input.theme);
    let make = |rank: Rank, text: String, color: Color32, explanation: String| {
        let is_bad = color == theme.bad && matches!(rank, Rank::Verdict | Rank::Status);
        let figure = Figure::new(ui, rank, text, color, explanation);
        if is_bad { figure.strong() } else { figure }
    };
    let position = input.comparison.position(lane.id).unwrap_or(0);
    let bound = input.comparison.bound_sign(position);
    let mut exact = format!("Peak reserved: {}", summary.peak_reserved.exact());
    if !bound.is_empty() {
        exact.push_str(match input.comparison.scratch_of(position) {
            ScratchSource::Missing => "\nA lower bound: no op states its scratch memory",
            _ => "\nA lower bound: tensors of unknown size count 0 bytes",
        });
    }
    let peak = format!("{bound}{}", summary.peak_reserved);
    let mut all = vec![make(Rank::Peak, peak, theme.text, exact)];
    if input.comparison.lane_kind() == LaneKind::Strategies {
        return all;
    }
    if let Some(([bytes, percent], exact, color)) = difference(input, lane) {
        all.push(make(Rank::Difference, bytes, color, exact.clone()));
        all.push(make(Rank::Percent, percent, color, exact));
    }
    all.push(make(
        Rank::Fragmentation,
        format!("fragmentation {:.1} %", summary.fragmentation * 100.0),
        theme.text_weak,
        "Fragmentation: 1 - peak live / peak reserved of feature memory".to_owned(),
    ));
    all.push(make(
        Rank::Costs,
        format!("est. {}", summary.estimated_overhead),
        theme.text_weak,
        "Estimated time of the policy's device calls: mallocs, frees, maps, waits".to_owned(),
    ));
    let row = lane.policy.row();
    if row.shares_static_arena && !row.expands_pools {
        let behaviour = input.comparison.params_of(position).arena_behaviour.label().to_owned();
        let why = "Behavior of policy 2 when a graph needs more than the shared arena: simulation.policy_2_behaviour";
        all.push(make(Rank::Behaviour, behaviour, theme.text_weak, why.to_owned()));
    }
    let (text, color, why) = verdict(lane, input);
    all.push(make(Rank::Verdict, text, color, why));
    if let Some(remat) = remat {
        let [counts, status] = remat_figures(remat, theme);
        all.push(make(Rank::Counts, counts.0, counts.1, counts.2));
        all.push(make(Rank::Status, status.0, status.1, status.2));
    }
    all
}

/// The peaks that a recording states: reserved, live, or both.
fn measured_figures(ui: &Ui, lane: &Lane, recording: &Recording, theme: &Theme) -> Vec<Figure> {
    let (reserved, live) = (lane.summary.peak_reserved, lane.summary.peak_live);
    let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
    let of_live = match stated.filter(|stated| !recording.blocks.is_empty() && *stated > live) {
        Some(stated) => (
            format!("{live} in blocks"),
            format!(
                "Peak of the listed blocks: {}\nThe file states {} live, including blocks that it does not list",
                live.exact(),
                stated.exact()
            ),
        ),
        None => (format!("{live} live"), format!("Peak live: {}", live.exact())),
    };
    if !recording.states_reserved() {
        let exact = format!("{}\nThe file does not state reserved bytes", of_live.1);
        return vec![Figure::new(ui, Rank::Peak, of_live.0, theme.text, exact)];
    }
    let mut exact = format!("Peak reserved: {}", reserved.exact());
    let mut peak = reserved.to_string();
    if recording.lacks_regions(live, reserved) {
        exact.push_str("\nA lower bound: live exceeds it, so the file does not list all segments");
        peak = format!("≥\u{a0}{peak}");
    }
    let mut all = vec![Figure::new(ui, Rank::Peak, peak, theme.text, exact)];
    if recording.states_live() {
        let (text, exact) = of_live;
        all.push(Figure::new(ui, Rank::Costs, text, theme.text_weak, exact));
    }
    let fragmentation = lane.recorded.as_ref().map(|recorded| &recorded.fragmentation);
    if let Some((fragmentation, share)) = fragmentation.and_then(|one| Some((one, one.share()?))) {
        let text = format!("fragmentation {:.1} %", share * 100.0);
        let mut exact = "Fragmentation: 1 - peak live / peak reserved".to_owned();
        if let Some((event, sums)) = &fragmentation.at_peak {
            let bound = sums.at_most();
            exact.push_str(&format!(
                "\nAt event {event}, inactive split: {bound}{}, largest free block: {bound}{}",
                sums.inactive_split, sums.largest_free
            ));
        }
        all.push(Figure::new(ui, Rank::Fragmentation, text, theme.text_weak, exact));
    }
    all
}

/// Whether a recorded run fits; `None` without a capacity.
fn measured_fit(ui: &Ui, lane: &Lane, input: &LanesInput<'_>) -> Option<Figure> {
    let (comparison, theme) = (input.comparison, input.theme);
    let position = comparison.position(lane.id)?;
    let fit = comparison.fit(position);
    let text = match fit {
        Fit::Yes { capacity, .. } => format!("fits {}", whole_units(capacity)),
        Fit::Above { capacity, .. } => format!("exceeds {}", whole_units(capacity)),
        Fit::OutOfMemory(_) => "out of memory".to_owned(),
        Fit::Unknown | Fit::StopsUnderBudget | Fit::Refuses(_) | Fit::Forbidden(_) => return None,
    };
    let device = &comparison.device_of(position).name;
    let capacity = comparison.capacity_of(position);
    let capacity = capacity.map_or_else(String::new, |capacity| format!("\nCapacity: {}", capacity.text(device)));
    let why = format!("Fits: {}{capacity}", fit.text());
    let color = if fit.is_good() { theme.good } else { theme.bad };
    let figure = Figure::new(ui, Rank::Verdict, text, color, why);
    Some(if fit.is_good() { figure } else { figure.strong() })
}

/// Counts of a run under a budget, and its end where it is none within the budget.
pub(super) fn remat_notes(ui: &Ui, remat: &LaneRemat, theme: &Theme) -> Vec<Figure> {
    let [counts, status] = remat_figures(remat, theme);
    let mut notes = vec![Figure::new(ui, Rank::Counts, counts.0, counts.1, counts.2)];
    if remat.verdict() != RematOutcome::Ok {
        notes.push(Figure::new(ui, Rank::Status, status.0, status.1, status.2));
    }
    notes
}

/// Counts of a run under a budget, and how the run ended: text, colour, explanation.
fn remat_figures(remat: &LaneRemat, theme: &Theme) -> [(String, Color32, String); 2] {
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
    let (color, why) = match verdict {
        RematOutcome::Ok => (theme.good, format!("Completes: {budget}, planned peak {peak}")),
        RematOutcome::Over => (
            theme.bad,
            format!("Completes, but exceeds its {budget}: planned peak {peak}, no further tensor can be evicted"),
        ),
        RematOutcome::Thrash => {
            let share = remat.share_words();
            (
                theme.bad,
                format!("Stopped: recomputation costs too much under {budget}: {share}"),
            )
        }
        RematOutcome::OutOfMemory => {
            let story = remat.oom_report().map(|story| story.sentence(remat.budget));
            (theme.bad, story.unwrap_or_default())
        }
    };
    let words = match verdict {
        RematOutcome::OutOfMemory => "budget: out of memory".to_owned(),
        other => other.words().to_owned(),
    };
    [(counts, theme.text_weak, more), (words, color, why)]
}

/// Whether the lane fits the device, and why: text, colour, explanation.
fn verdict(lane: &Lane, input: &LanesInput<'_>) -> (String, Color32, String) {
    let position = input.comparison.position(lane.id).unwrap_or(0);
    let (theme, device) = (input.theme, input.comparison.device_of(position));
    let capacity = device.memory();
    let peak = lane.summary.peak_reserved;
    let short = whole_units(capacity);
    if let Some(failed) = &lane.simulation.out_of_memory {
        let why = format!(
            "Out of memory at step {}: {} requested while {} of {} were reserved",
            failed.step,
            failed.requested.exact(),
            failed.in_use.exact(),
            capacity.exact(),
        );
        ("out of memory".to_owned(), theme.bad, why)
    } else if peak > capacity {
        let why = format!(
            "{} more than the capacity of {}",
            (peak - capacity).exact(),
            device.name
        );
        (format!("exceeds {short}"), theme.bad, why)
    } else {
        let left = (capacity - peak).exact();
        let why = format!("Fits {}: {left} free at the peak", device.name);
        (format!("fits {short}"), theme.good, why)
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

/// Difference from the baseline (by default policy 0 or the lane without a pass): bytes and percent, exact text,
/// colour.
fn difference(input: &LanesInput<'_>, lane: &Lane) -> Option<([String; 2], String, Color32)> {
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
    let title = comparison.lane_title(comparison.lanes[zero].id);
    Some((
        texts,
        format!("{} vs. {title}", difference.exact()),
        theme.effect(effect),
    ))
}
