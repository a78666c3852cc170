//! Points of a budget sweep: selection, texts, commands.

use highwater_analysis::{BudgetSweepPoint, LaneSet, RematLane, SWEEP_RATIOS, feasible_limit};
use highwater_model::units::{Bytes, grouped, signed_percent_text};
use highwater_options::{Edit, Fix, Value, keys};
use highwater_rewrite::remat::{Budget, HEURISTICS, Heuristic, RematStatus};
use highwater_session::{BudgetSweepTable, Command, Session};

/// Name of the heuristic, and budget.
pub(super) type Key = (&'static str, Bytes);

/// The sweep and the open lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep<'a> {
    pub(super) table: &'a BudgetSweepTable,
    /// From the document.
    pub(super) lanes: &'a [RematLane],
    /// Whether there is one graph at most.
    is_alone: bool,
    /// Whether the lanes show something else, which the first run opened as a lane replaces.
    pub(super) replaces_lanes: bool,
}

/// The outcome of a point, as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Ran to the end within the budget.
    Fits,
    /// Ran to the end, over the budget where nothing could be evicted.
    Over,
    /// Given up as thrashing.
    Thrash,
    /// Nothing was left to evict.
    OutOfMemory,
}

impl Mark {
    pub(super) fn of(point: &BudgetSweepPoint) -> Self {
        match point.status {
            RematStatus::Ok if point.is_feasible() => Self::Fits,
            RematStatus::Ok => Self::Over,
            RematStatus::Thrash => Self::Thrash,
            RematStatus::OutOfMemory(_) => Self::OutOfMemory,
        }
    }

    /// Whether the program ran to its end, so that its overhead counts.
    pub(super) fn has_ended(self) -> bool {
        matches!(self, Self::Fits | Self::Over)
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Fits => "ok",
            Self::Over => "over budget",
            Self::Thrash => "thrash",
            Self::OutOfMemory => "out of memory",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Fits => "completed within the budget",
            Self::Over => "completed, over budget where no tensor could be evicted",
            Self::Thrash => "stopped by thrashing; the overhead is up to that point",
            Self::OutOfMemory => "out of memory: no tensor could be evicted; the overhead is up to that point",
        }
    }
}

/// Position of a heuristic in the table, which gives colour and marker.
pub(super) fn position(heuristic: &Heuristic) -> usize {
    HEURISTICS.iter().position(|row| row == heuristic).unwrap_or(0)
}

pub(super) fn key(point: &BudgetSweepPoint) -> Key {
    (point.heuristic.name, point.budget)
}

/// The lane that a point opens.
pub(super) fn lane(point: &BudgetSweepPoint) -> RematLane {
    RematLane {
        heuristic: point.heuristic,
        budget: Budget::Bytes(point.budget),
    }
}

/// The edit that makes a point the active configuration.
pub(super) fn as_options(point: &BudgetSweepPoint) -> Command {
    let threshold = i64::try_from(point.budget.get()).unwrap_or(i64::MAX);
    Command::ApplyFix(Fix {
        text: "set as dtr.eviction_threshold".to_owned(),
        edits: vec![
            Edit::Option {
                key: keys::EVICTION_THRESHOLD,
                value: Value::from(threshold),
            },
            Edit::Option {
                key: keys::REMAT_HEURISTIC,
                value: Value::from(point.heuristic.name),
            },
        ],
    })
}

impl<'a> Sweep<'a> {
    pub(super) fn of(session: &'a Session) -> Option<Self> {
        let (lanes, is_other) = match &session.document().lanes {
            LaneSet::Remat(lanes) => (&lanes[..], false),
            LaneSet::Policies | LaneSet::NameReuse => (&[][..], true),
        };
        let is_tape = session
            .loaded()
            .is_some_and(|loaded| !loaded.workload.tapes().is_empty());
        Some(Self {
            table: session.budget_sweep()?,
            lanes,
            is_alone: session
                .loaded()
                .is_some_and(|loaded| loaded.workload.graphs().len() <= 1),
            replaces_lanes: is_other && !is_tape,
        })
    }

    pub(super) fn find(&self, wanted: Key) -> Option<&'a BudgetSweepPoint> {
        self.table.points.iter().find(|point| key(point) == wanted)
    }

    pub(super) fn shown(&self, hidden: &[&'static str]) -> impl Iterator<Item = &'a BudgetSweepPoint> {
        let is_shown = move |point: &&BudgetSweepPoint| !hidden.contains(&point.heuristic.name);
        self.table.points.iter().filter(is_shown)
    }

    /// Position among the open lanes.
    pub(super) fn lane_of(&self, point: &BudgetSweepPoint) -> Option<usize> {
        let is_same = |open: &RematLane| {
            let budget = match open.budget {
                Budget::Unlimited => false,
                Budget::Bytes(bytes) => bytes == point.budget,
                // With several graphs, a lane's ratio is one of the largest peak.
                Budget::Ratio(ratio) => self.is_alone && (ratio - point.ratio).abs() < 1e-9,
            };
            open.heuristic == point.heuristic && budget
        };
        self.lanes.iter().position(is_same)
    }

    /// The command that a click on a point gives: it opens the point's lane, unless the lane is open or would replace
    /// lanes of another kind.
    pub(super) fn open(&self, point: &BudgetSweepPoint) -> Option<Command> {
        let is_open = self.replaces_lanes || self.lane_of(point).is_some();
        (!is_open).then(|| Command::AddRematLane(lane(point)))
    }

    /// The smallest feasible budget of all heuristics and its cost, in a sentence; `None` before a run has ended within
    /// its budget.
    pub(super) fn verdict(&self) -> Option<String> {
        let limits = HEURISTICS.iter().filter_map(|heuristic| self.limit(heuristic));
        let best = limits.min_by(|a, b| a.budget.cmp(&b.budget).then(a.overhead.total_cmp(&b.overhead)))?;
        let time = match (best.overhead - 1.0) * 100.0 {
            percent if percent < 0.05 => "no extra time".to_owned(),
            _ => format!("{} time", overhead_text(best)),
        };
        let tried = if self.table.is_unfinished() { " so far" } else { "" };
        Some(format!(
            "Smallest feasible budget{tried}: {} ({} of its peak, {}), {time}; {}",
            best.budget,
            percent(best),
            best.heuristic.label,
            accuracy(best.ratio)
        ))
    }

    /// The point with a heuristic's smallest feasible budget.
    pub(super) fn limit(&self, heuristic: &Heuristic) -> Option<&'a BudgetSweepPoint> {
        let limit = feasible_limit(&self.table.points, heuristic)?;
        self.find((HEURISTICS[position(heuristic)].name, limit))
    }
}

/// How near the smallest feasible budget may be: budgets were tried in steps.
fn accuracy(ratio: f64) -> String {
    let [largest, next, .., smallest] = SWEEP_RATIOS;
    if ratio <= smallest + 1e-9 {
        return "smaller budgets were not tried".to_owned();
    }
    format!("accurate to {:.0} % of the peak", (largest - next) * 100.0)
}

/// `50 %`, of the peak.
pub(super) fn percent(point: &BudgetSweepPoint) -> String {
    format!("{:.0} %", point.ratio * 100.0)
}

/// `+23.4 %` of the program's time; what is there never reads as nothing.
pub(super) fn overhead_text(point: &BudgetSweepPoint) -> String {
    signed_percent_text(((point.overhead - 1.0) * 100.0).max(0.0))
}

pub(super) fn sentence(point: &BudgetSweepPoint) -> String {
    let mark = Mark::of(point);
    format!(
        "{} under {} ({} of its peak): {}, overhead {}",
        point.heuristic.label,
        point.budget,
        percent(point),
        mark.words(),
        overhead_text(point)
    )
}

/// Three lines: the run, its bytes, its costs or what was short.
pub(super) fn hover_text(point: &BudgetSweepPoint) -> String {
    let counts = &point.counts;
    let costs = match &point.status {
        RematStatus::OutOfMemory(shortage) => format!(
            "an op requested {}, {} were short",
            shortage.requested.exact(),
            shortage.short.exact()
        ),
        _ => format!(
            "overhead {}, {} evicted, {} recomputed",
            overhead_text(point),
            grouped(counts.evictions),
            grouped(counts.rematerializations)
        ),
    };
    format!(
        "{}: {}\nbudget {}, peak {}\n{costs}",
        point.heuristic.label,
        Mark::of(point).sentence(),
        point.budget.exact(),
        point.peak.exact()
    )
}
