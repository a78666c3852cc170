//! The table of lanes: figures, whether they fit, and their marks; with differences where there is a base.

use super::CompareAnswer;
use crate::blocks::{Line, Span, Table, bytes, figure, text};
use highwater_analysis::{AllocatorSums, Comparison, Figure, Fit, LaneId, LaneKind, LaneMark, Metric};
use highwater_model::units::{Bytes, Step, grouped, signed_percent_text};
use highwater_model::workload::AllocatorSimulation;

const NOT_RECORDED: &str = "not recorded";

/// The content of a column.
#[derive(Clone, Copy)]
enum Content {
    /// With the difference from the base.
    Metric(&'static str),
    /// All digits of a peak.
    Exact(&'static str),
    /// The step of a peak.
    Step(&'static str),
    /// Of the allocator of a recording at its peak.
    Sum(fn(&AllocatorSums) -> Bytes),
    /// Of simulated allocator settings.
    Simulated(fn(&AllocatorSimulation) -> String),
    Unused,
    Calls,
    Fits,
    Marks,
}

/// Heading, content, and whether a short table has it. Columns without content in every row are left out.
const COLUMNS: [(&str, Content, bool); 21] = [
    (">peak reserved", Content::Metric("peak_reserved"), true),
    (">exact", Content::Exact("peak_reserved"), false),
    (">at step", Content::Step("peak_reserved"), false),
    (">features", Content::Metric("features"), false),
    (">weights", Content::Metric("weights"), false),
    (">variables", Content::Metric("variables"), false),
    (">in/out", Content::Metric("io"), false),
    (">reserved, unused", Content::Unused, false),
    (">peak live", Content::Metric("peak_live"), true),
    (">exact", Content::Exact("peak_live"), false),
    (">at step", Content::Step("peak_live"), false),
    (">fragmentation", Content::Metric("fragmentation"), true),
    (">inactive split", Content::Sum(|sums| sums.inactive_split), true),
    (">largest free", Content::Sum(|sums| sums.largest_free), true),
    (">device calls", Content::Calls, true),
    (">est. overhead", Content::Metric("estimated_overhead"), true),
    (">against measured", Content::Simulated(against), true),
    (">retries", Content::Simulated(|one| grouped(one.retries)), true),
    (">failed", Content::Simulated(|one| grouped(one.failures)), true),
    ("fits", Content::Fits, true),
    ("marks", Content::Marks, true),
];

/// Which columns a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    All,
    Short,
    /// Those that the short table leaves out, without exact figures.
    Parts,
    Peaks,
}

/// A row per lane; the base lane is marked, else the main lane.
pub(crate) fn lanes_table(answer: &CompareAnswer<'_>, lanes: &[usize], columns: Columns, base: Option<usize>) -> Table {
    let comparison = answer.comparison;
    let is_shown = |(heading, content, is_short): &&(&str, Content, bool)| match columns {
        Columns::All => true,
        Columns::Short => *is_short,
        Columns::Parts => !is_short && *heading != ">exact",
        Columns::Peaks => matches!(content, Content::Metric("peak_reserved" | "peak_live")),
    };
    let shown: Vec<(&str, Content)> = COLUMNS
        .iter()
        .filter(is_shown)
        .map(|(heading, content, _)| (*heading, *content))
        .collect();
    let at = format!(">at {}", comparison.axis_word());
    let headings = shown.iter().map(|(heading, _)| match *heading {
        ">at step" => at.as_str(),
        ">peak reserved" if comparison.lane_kind() == LaneKind::Strategies => ">footprint",
        heading => heading,
    });
    let headings: Vec<&str> = ["lane", ""].into_iter().chain(headings).collect();
    let mut table = Table::captioned("Lanes", &headings);
    let main = base.or(comparison.main_lane());
    for lane in lanes {
        let [title, label] = names(comparison, *lane);
        let title = if main == Some(*lane) {
            Span::Strong(title).into()
        } else {
            text(title)
        };
        let row = Row {
            answer,
            lane: *lane,
            base,
        };
        let cells = shown.iter().map(|(_, content)| row.cell(*content));
        table.push(
            [title, text(label)].into_iter().chain(cells).collect(),
            main == Some(*lane),
        );
    }
    table.remove_columns_of(&["", NOT_RECORDED]);
    table
}

/// The title of a lane and the label of its policy.
fn names(comparison: &Comparison, lane: usize) -> [String; 2] {
    let row = &comparison.lanes[lane];
    let label = match row.id {
        LaneId::Policy(_) | LaneId::Pinned(_) => row.policy.row().label,
        LaneId::Problem(_) | LaneId::Pass(_) | LaneId::Measured(_) => "",
    };
    [comparison.lane_title(row.id), label.to_owned()]
}

struct Row<'a> {
    answer: &'a CompareAnswer<'a>,
    lane: usize,
    base: Option<usize>,
}

impl Row<'_> {
    fn cell(&self, content: Content) -> Line {
        let comparison = self.answer.comparison;
        let row = &comparison.lanes[self.lane];
        match content {
            Content::Metric(name) => self.metric(name),
            Content::Exact(name) => self.peak(name, |bytes, _| bytes.exact()),
            Content::Step(name) => self.peak(name, |_, step| {
                let step = step.map(|step| comparison.shown_step(self.lane, step));
                step.map_or_else(String::new, |step| step.to_string())
            }),
            Content::Sum(of) => {
                let at_peak = row
                    .recorded
                    .as_ref()
                    .and_then(|recorded| recorded.fragmentation.at_peak);
                at_peak.map_or_else(
                    || self.unknown(),
                    |(_, sums)| text(sums.at_most()).and(bytes(of(&sums))),
                )
            }
            Content::Simulated(of) => comparison
                .simulation(row.id)
                .map_or_else(Line::default, |one| text(of(one))),
            Content::Unused if row.is_measured() => Line::default(),
            Content::Unused => bytes(row.summary.internal_waste),
            Content::Calls => match comparison.simulation(row.id) {
                Some(simulation) => text(grouped(simulation.device_calls)),
                None => self.metric("device_calls"),
            },
            Content::Fits => match comparison.fit(self.lane) {
                Fit::Unknown => Line::default(),
                fit if fit.is_good() => Span::Good(fit.text()).into(),
                fit => Span::Bad(fit.text()).into(),
            },
            Content::Marks => self.marks(),
        }
    }

    /// Of a recording that does not state it; a simulation has no such figure.
    fn unknown(&self) -> Line {
        let is_measured = self.answer.comparison.is_measured_lane(self.lane);
        text(if is_measured { NOT_RECORDED } else { "" })
    }

    fn metric(&self, name: &str) -> Line {
        let comparison = self.answer.comparison;
        let Some(metric) = Metric::find(name) else {
            return Line::default();
        };
        let shown = match comparison.figure(self.lane, metric) {
            Some(Figure::Bytes(now)) => text(comparison.figure_sign(self.lane, metric)).and(bytes(Bytes(now))),
            Some(now) => figure(now),
            // What a recording may state.
            None if matches!(name, "peak_reserved" | "peak_live" | "fragmentation") => return self.unknown(),
            None => return Line::default(),
        };
        let base = self.base.filter(|base| *base != self.lane);
        let difference = base.and_then(|base| comparison.difference(self.lane, base, metric));
        match difference {
            Some((difference, _)) => shown.and(Span::Below(difference.text())),
            None => shown,
        }
    }

    /// Something about a peak that is known exactly.
    fn peak(&self, name: &str, of: impl Fn(Bytes, Option<Step>) -> String) -> Line {
        let comparison = self.answer.comparison;
        let row = &comparison.lanes[self.lane];
        let summary = &row.summary;
        let (states_reserved, states_live) = comparison.states(self.lane);
        let is_exact = !row.is_measured() || !comparison.is_lower_bound(self.lane);
        match name {
            "peak_reserved" if states_reserved && is_exact => {
                text(of(summary.peak_reserved, summary.peak_reserved_step))
            }
            // Of simulations the reserved peak counts.
            "peak_live" if states_live && row.is_measured() => text(of(summary.peak_live, summary.peak_live_step)),
            _ => Line::default(),
        }
    }

    fn marks(&self) -> Line {
        let marks = self.answer.comparison.lane_marks(self.lane, self.answer.goal);
        let labels = marks.iter().filter(|mark| !mark.label().is_empty());
        let spans = labels.map(|mark| match mark {
            LaneMark::Recommended(_) => Span::Good(mark.label()).into(),
            _ if mark.is_against() => Span::Bad(mark.label()).into(),
            _ => text(mark.label()),
        });
        Line::joined(spans, ", ")
    }
}

/// Empty where nothing was measured; a run whose requests failed has no comparable peak.
fn against(simulation: &AllocatorSimulation) -> String {
    match (simulation.measured_peak, simulation.failures) {
        (Bytes::ZERO, _) => String::new(),
        (measured, 0) => signed_percent_text(simulation.peak.percent_above(measured)),
        _ => "incomplete".to_owned(),
    }
}
