//! The marks of a lane: its role, what speaks against it, and how its figures are meant.
//!
//! In: a comparison and a goal. Out: values; every form of the answer shows all of them. A mark has a label for the lane's row, or a
//! sentence, or both: a sentence is written once, however many lanes have it.

use super::alignment::BY_CONSTRUCTION;
use super::comparison::Comparison;
use super::lane_queries::Fit;
use super::lane_set::{LaneId, LaneKind};
use super::metrics::Metric;
use super::recommended::Recommended;
use super::selection::LaneGoal;
use super::workspaces::ScratchSource;
use highwater_model::units::{Bytes, Nanos, counted};
use highwater_options::Finding;
use highwater_sim::{ArenaBehaviour, StaticMemoryPolicy};

#[derive(Clone, Debug, PartialEq)]
pub enum LaneMark<'a> {
    /// The active policy, and the conditions of a script under which it was set; may be empty.
    Active {
        label: &'static str,
        conditions: String,
    },
    Recommended(&'a Recommended),
    /// Its peak does not differ significantly from that of the recommended policy.
    Equivalent(&'a Recommended),
    /// A rule forbids its policy.
    Forbidden(&'a Finding),
    /// Out of memory, above the capacity, stopped under a budget, or with refused requests (of which diagnostics tell); with
    /// a clause on the failing request of a simulation.
    DoesNotFit(Fit, Option<String>),
    /// Paddle's pass raises this exception; the figures are of the program as it is then.
    Raises(&'a str),
    /// How policy 2 extends its arena.
    Arena(ArenaBehaviour),
    /// It unloads graphs to make room.
    Unloads,
    /// The part of its overhead that recurs in every iteration.
    PerIteration(Nanos),
    /// Its scratch memory was learned from the recording that it is compared with.
    ByConstruction,
    /// All policies are equivalent, and why.
    AllEquivalent(&'a str),
    /// Peaks are lower bounds, and why.
    LowerBound(&'static str),
    /// Scratch memory is an estimate.
    EstimatedScratch(&'static str),
    /// Options that change memory in reality and not here.
    NotSimulated(&'a [&'static str]),
}

impl LaneMark<'_> {
    /// The words in the lane's row; empty where the mark has a sentence alone.
    pub fn label(&self) -> String {
        match self {
            Self::Active { label, .. } => (*label).to_owned(),
            Self::Recommended(_) => "recommended".to_owned(),
            Self::Equivalent(_) => "equivalent".to_owned(),
            Self::Forbidden(finding) => format!("forbidden by {}", finding.rule),
            Self::DoesNotFit(fit, _) => match fit {
                Fit::OutOfMemory(_) => "out of memory".to_owned(),
                Fit::StopsUnderBudget => "stops under its budget".to_owned(),
                Fit::Refuses(count) => format!("{} refused", counted(*count, "request")),
                Fit::Above { by, .. } => format!("{by} above the capacity"),
                Fit::Unknown | Fit::Yes { .. } | Fit::Forbidden(_) | Fit::Raises => String::new(),
            },
            Self::Raises(exception) => format!("failed: Paddle raises {exception}"),
            Self::Arena(behaviour) => behaviour.label().to_owned(),
            Self::Unloads => "unloads graphs".to_owned(),
            Self::PerIteration(time) => format!("{time} of the overhead per iteration"),
            Self::ByConstruction => "fits by construction".to_owned(),
            Self::AllEquivalent(_) | Self::LowerBound(_) | Self::EstimatedScratch(_) | Self::NotSimulated(_) => {
                String::new()
            }
        }
    }

    /// What the label does not say, `title` being that of the lane.
    pub fn sentence(&self, title: &str) -> Option<String> {
        match self {
            Self::Active { conditions, .. } if conditions.is_empty() => None,
            Self::Active { label, conditions } => Some(format!("{title} is {label}{conditions}.")),
            Self::Recommended(one) => Some(format!("Recommended ({}): {}.", one.goal.label(), one.text())),
            Self::Equivalent(one) => one.equivalent_text(),
            Self::Forbidden(finding) => Some(format!("{} forbids {title}: {}", finding.rule, finding.message)),
            Self::DoesNotFit(_, clause) => clause.as_ref().map(|clause| format!("{title} {clause}.")),
            Self::Raises(_) | Self::Arena(_) | Self::Unloads | Self::PerIteration(_) => None,
            Self::ByConstruction => Some(format!("{title} {BY_CONSTRUCTION}.")),
            Self::AllEquivalent(why) | Self::LowerBound(why) | Self::EstimatedScratch(why) => Some((*why).to_owned()),
            Self::NotSimulated(keys) => Some(format!(
                "set but not simulated: {} (see highwater options)",
                keys.join(", ")
            )),
        }
    }

    /// Whether it is a role of the lane in the verdict.
    pub const fn is_role(&self) -> bool {
        matches!(self, Self::Active { .. } | Self::Recommended(_) | Self::Equivalent(_))
    }

    /// Whether it speaks against the lane.
    pub const fn is_against(&self) -> bool {
        matches!(self, Self::Forbidden(_) | Self::DoesNotFit(..) | Self::Raises(_))
    }
}

impl Comparison {
    /// The marks of a lane, roles first, then what speaks against it.
    pub fn lane_marks(&self, lane: usize, goal: LaneGoal) -> Vec<LaneMark<'_>> {
        let Some(row) = self.lanes.get(lane) else {
            return Vec::new();
        };
        let mut marks = self.roles(lane, goal);
        marks.extend(row.forbidden.iter().map(LaneMark::Forbidden));
        let fit = self.fit(lane);
        if !fit.is_good() && !matches!(fit, Fit::Forbidden(_) | Fit::Raises) {
            let clause = row.out_of_memory_clause();
            marks.push(LaneMark::DoesNotFit(fit, clause));
        }
        marks.extend(row.exception().map(LaneMark::Raises));
        let is_measured = row.is_measured();
        if !is_measured && row.policy == StaticMemoryPolicy::StaticExtend && self.lane_kind() != LaneKind::Strategies {
            marks.push(LaneMark::Arena(self.params_of(lane).arena_behaviour));
        }
        let repeated = row.summary.overhead_per_iteration.unwrap_or_default();
        let is_learned = row.recorded.as_ref().is_some_and(|recorded| recorded.is_learned_from);
        let others = [
            (row.summary.unloads > 0, LaneMark::Unloads),
            (repeated > Nanos(0), LaneMark::PerIteration(repeated)),
            (is_learned, LaneMark::ByConstruction),
        ];
        marks.extend(others.into_iter().filter_map(|(is_so, mark)| is_so.then_some(mark)));
        marks.extend(self.bound_mark(lane));
        if row.pinned.is_none() && !is_measured {
            marks.extend(self.equivalence.as_deref().map(LaneMark::AllEquivalent));
            let keys = &self.without_effect[..];
            marks.extend((!keys.is_empty()).then_some(LaneMark::NotSimulated(keys)));
        }
        marks
    }

    fn roles(&self, lane: usize, goal: LaneGoal) -> Vec<LaneMark<'_>> {
        let LaneId::Policy(policy) = self.lanes[lane].id else {
            return Vec::new();
        };
        let active = self.in_force().filter(|_| policy == self.active_policy);
        let active = active.map(|label| LaneMark::Active {
            label,
            conditions: self.in_force_if(),
        });
        let found = self.recommended(goal);
        let recommended = found.filter(|one| one.policy == policy).map(LaneMark::Recommended);
        let equivalent = found.filter(|one| one.equivalent.contains(&policy));
        let equivalent = equivalent.map(LaneMark::Equivalent);
        recommended.into_iter().chain(active).chain(equivalent).collect()
    }

    /// How the peaks of a lane are meant; `None` where they are exact.
    fn bound_mark(&self, lane: usize) -> Option<LaneMark<'static>> {
        let scratch = self.scratch_of(lane);
        if self.is_measured_lane(lane) {
            let why = "The recording lists some of its segments: its reserved bytes are lower bounds.";
            return self.is_lower_bound(lane).then_some(LaneMark::LowerBound(why));
        }
        match scratch {
            ScratchSource::Estimated => scratch.note().map(LaneMark::EstimatedScratch),
            _ if !self.is_lower_bound(lane) => None,
            ScratchSource::Missing => scratch.note().map(LaneMark::LowerBound),
            ScratchSource::Stated => Some(LaneMark::LowerBound(
                "Figures are lower bounds: tensors of unknown size count 0 bytes.",
            )),
        }
    }

    /// The sentences of the chosen marks of some lanes, each once, those of roles first.
    pub fn mark_sentences(
        &self,
        lanes: &[usize],
        goal: LaneGoal,
        is_chosen: impl Fn(&LaneMark<'_>) -> bool,
    ) -> Vec<String> {
        let [mut sentences, mut others]: [Vec<String>; 2] = Default::default();
        for lane in lanes {
            let title = self.lane_title(self.lanes[*lane].id);
            for mark in self.lane_marks(*lane, goal).iter().filter(|mark| is_chosen(mark)) {
                let list = if mark.is_role() { &mut sentences } else { &mut others };
                let sentence = mark.sentence(&title).filter(|text| !list.contains(text));
                list.extend(sentence);
            }
        }
        sentences.append(&mut others);
        sentences
    }

    /// The sign in front of a peak that is a lower bound; empty in front of others.
    pub fn bound_sign(&self, lane: usize) -> &'static str {
        match self.bound_mark(lane) {
            Some(LaneMark::LowerBound(_)) => "\u{2265}\u{a0}",
            _ => "",
        }
    }

    /// The sign in front of any figure: of a recording only the reserved bytes are a lower bound.
    pub fn figure_sign(&self, lane: usize, metric: &Metric) -> &'static str {
        match metric.name {
            "peak_reserved" => self.bound_sign(lane),
            "peak_live" if !self.is_measured_lane(lane) => self.bound_sign(lane),
            _ => "",
        }
    }

    /// The device that is enough for a lane that runs out of memory.
    pub fn sufficient_device(&self, lane: usize) -> Option<Bytes> {
        self.lanes.get(lane)?.out_of_memory_report.as_ref()?.sufficient_device
    }
}
