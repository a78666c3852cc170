//! Outcome of the runs of a lane.

use super::facts::share_text;
use super::{LaneRemat, RematMarkKind, storage_bytes};
use crate::Selected;
use highwater_model::units::{Bytes, Nanos};
use highwater_rewrite::remat::{RematRun, RematStatus};

/// In ascending severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RematOutcome {
    /// All runs finished.
    Ok,
    /// All runs finished, but some exceeded the budget because nothing more could be evicted.
    Over,
    /// A run was given up: recomputation cost more than the limit.
    Thrash,
    /// A run was given up: nothing was left to evict.
    OutOfMemory,
}

impl RematOutcome {
    pub fn of(run: &RematRun) -> Self {
        match run.status {
            RematStatus::Ok if !run.is_within_budget() => Self::Over,
            RematStatus::Ok => Self::Ok,
            RematStatus::Thrash => Self::Thrash,
            RematStatus::OutOfMemory(_) => Self::OutOfMemory,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Over => "over budget",
            Self::Thrash => "thrash",
            Self::OutOfMemory => "out of memory",
        }
    }
}

/// Sums over all runs of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RematSums {
    /// To make room.
    pub evictions: u64,
    /// Because the caller released the tensor.
    pub eager_evictions: u64,
    /// Ends of live ranges.
    pub frees: u64,
    pub recomputed: u64,
    pub time: Nanos,
    /// Total computation time relative to that without recomputation.
    pub overhead: f64,
    /// As the planner counts them.
    pub peak: Bytes,
    /// Steps at whose end the bytes in use were at or over the budget.
    pub steps_over_budget: u64,
}

/// Facts of a run that ended out of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RematOomReport {
    pub run: u32,
    /// The op whose results did not fit.
    pub op: String,
    pub requested: Bytes,
    pub in_use: Bytes,
    pub short: Bytes,
    /// Tensors that could not be evicted, largest first: tensor, name, bytes.
    pub held: Vec<(Option<Selected>, String, Bytes)>,
}

impl LaneRemat {
    pub fn verdict(&self) -> RematOutcome {
        let runs = self.runs.iter().filter_map(|run| run.remat.as_ref());
        let verdicts = runs.map(|remat| RematOutcome::of(&remat.answer));
        verdicts.max().unwrap_or(RematOutcome::Ok)
    }

    /// Label of the heuristic; empty without a budget.
    pub fn heuristic(&self) -> &'static str {
        let remat = self.runs.iter().find_map(|run| run.remat.as_ref());
        remat.map_or("", |remat| remat.answer.heuristic.label)
    }

    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn sums(&self) -> RematSums {
        let (mut base, mut time) = (0_u64, 0_u64);
        let mut sums = RematSums {
            evictions: 0,
            eager_evictions: 0,
            frees: 0,
            recomputed: self.recomputed.len() as u64,
            time: Nanos(0),
            overhead: 1.0,
            peak: Bytes::ZERO,
            steps_over_budget: 0,
        };
        for remat in self.runs.iter().filter_map(|run| run.remat.as_ref()) {
            let (answer, counts) = (&remat.answer, &remat.answer.counts);
            base = base.saturating_add(answer.base_compute.0);
            time = time.saturating_add(answer.remat_compute.0);
            sums.eager_evictions += counts.eager_evictions;
            sums.frees += counts.frees;
            sums.steps_over_budget += counts.steps_over_budget;
            sums.peak = sums.peak.max(answer.peak);
        }
        sums.evictions = u64::from(self.totals()[RematMarkKind::Evict as usize]);
        sums.time = Nanos(time);
        if base > 0 {
            sums.overhead = 1.0 + time as f64 / base as f64;
        }
        sums
    }

    /// Time and share of recomputation, such as `1.2 ms, 18.0 % of its graph's own (limit 100 %)`.
    pub fn share_words(&self) -> String {
        let sums = self.sums();
        let limit = self
            .runs
            .iter()
            .find_map(|run| run.remat.as_ref().map(|remat| remat.thrash_limit))
            .flatten();
        let runs = self.runs.iter().filter_map(|run| run.remat.as_ref());
        // The limit applies to each run, so the share is the largest of any run.
        let worst = runs.max_by(|a, b| a.answer.overhead().total_cmp(&b.answer.overhead()));
        let share = worst.map_or(0.0, |remat| remat.answer.overhead() - 1.0);
        share_text(share, sums.time, limit)
    }

    /// The first run that ended out of memory.
    pub fn oom_report(&self) -> Option<RematOomReport> {
        let runs = (0_u32..).zip(&self.runs);
        let mut failed = runs.filter_map(|(run, place)| {
            let remat = place.remat.as_ref()?;
            match &remat.answer.status {
                RematStatus::OutOfMemory(shortage) => Some((run, place, remat, shortage)),
                _ => None,
            }
        });
        let (run, place, remat, shortage) = failed.next()?;
        let tape = &remat.tape.tape;
        let held = shortage.held.iter().map(|tensor| {
            let known = tape.tensors.get(*tensor as usize);
            let name = known.map_or(String::new(), |tensor| tensor.name.to_string());
            // External tensors are drawn as weights and cannot be selected.
            let is_drawn = known.is_some_and(|tensor| !tensor.is_external);
            let selected = place.selected(run, remat, *tensor).filter(|_| is_drawn);
            (selected, name, storage_bytes(remat, *tensor))
        });
        Some(RematOomReport {
            run,
            op: tape
                .ops
                .get(shortage.op as usize)
                .map_or(String::new(), |op| op.name.to_string()),
            requested: shortage.requested,
            in_use: shortage.in_use,
            short: shortage.short,
            held: held.collect(),
        })
    }
}

impl RematOomReport {
    pub fn sentence(&self, budget: Option<Bytes>) -> String {
        let budget = budget.map_or(String::new(), |budget| format!(" within the budget of {budget}"));
        format!(
            "Out of memory{budget} at op {}: it requests {} while {} are in use and no tensor can be evicted; {} are \
             short.",
            self.op, self.requested, self.in_use, self.short
        )
    }
}
