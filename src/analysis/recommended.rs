//! The recommended policy of a goal, and why, in a sentence with counted figures.
//!
//! Only policies that run to their end on the device and that no rule forbids are candidates; [`super::selection`] has
//! the rule. A policy whose peak does not differ significantly from the recommended one is equivalent to it.

use super::lane::Lane;
use super::selection::{Candidate, LaneGoal, are_peaks_equivalent, granule, largest_granule, select};
use highwater_model::units::{Bytes, Nanos, percent_text};
use highwater_sim::{RegionKind, StaticMemoryPolicy, picture};

/// The answer to one goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recommended {
    pub goal: LaneGoal,
    pub policy: StaticMemoryPolicy,
    /// A clause with figures, without a capital letter and a full stop.
    pub why: String,
    /// Shorter clauses for narrow places, the longest first; each is whole.
    pub why_short: Vec<String>,
    /// Further candidates whose peaks do not differ significantly, ascending.
    pub equivalent: Vec<StaticMemoryPolicy>,
    /// The policy to take instead, among those with other figures.
    pub runner_up: Option<StaticMemoryPolicy>,
}

impl Recommended {
    /// `policy 2: static graphs share an arena: 1.2 GiB at the peak, 1.5 GiB under policy 0`.
    pub fn text(&self) -> String {
        format!("policy {}: {}", self.policy.number(), self.why)
    }

    /// The equivalent policies, in a sentence; `None` where there is none.
    pub fn equivalent_text(&self) -> Option<String> {
        let numbers: Vec<String> = self
            .equivalent
            .iter()
            .map(|policy| policy.number().to_string())
            .collect();
        match &numbers[..] {
            [] => None,
            [one] => Some(format!(
                "Policy {one} is equivalent: its peak does not differ significantly."
            )),
            several => Some(format!(
                "Policies {} are equivalent: their peaks do not differ significantly.",
                several.join(" and ")
            )),
        }
    }
}

/// The answers to all goals; none where no policy fits. O(events of two lanes) per goal.
pub(super) fn recommended(lanes: &[Lane], active: StaticMemoryPolicy) -> Vec<Recommended> {
    let candidates: Vec<&Lane> = lanes.iter().filter(|lane| lane.may_be_recommended()).collect();
    let goals = LaneGoal::ALL.into_iter();
    goals
        .filter_map(|goal| recommend(goal, lanes, &candidates, active))
        .collect()
}

fn recommend(goal: LaneGoal, lanes: &[Lane], candidates: &[&Lane], active: StaticMemoryPolicy) -> Option<Recommended> {
    let figures: Vec<Candidate> = candidates.iter().map(|lane| candidate(lane, active)).collect();
    let position = select(goal, &figures)?;
    let (chosen, best) = (candidates[position], figures[position]);
    let granule = largest_granule(&figures);
    let is_equivalent = |one: &Candidate| are_peaks_equivalent(one.peak, best.peak, granule);
    let equals = candidates.iter().zip(&figures);
    let equals = equals.filter(|(lane, one)| lane.policy != chosen.policy && is_equivalent(one));
    let has_other = |one: &Candidate| (one.peak, one.overhead) != (best.peak, best.overhead);
    let others: Vec<usize> = (0..figures.len()).filter(|at| has_other(&figures[*at])).collect();
    let other_figures: Vec<Candidate> = others.iter().map(|at| figures[*at]).collect();
    let next = select(goal, &other_figures).map(|at| candidates[others[at]].policy);
    let equivalent: Vec<StaticMemoryPolicy> = equals.map(|(lane, _)| lane.policy).collect();
    let reason = Reason {
        lanes,
        candidates,
        chosen,
        n_equivalent: equivalent.len(),
        granule,
    };
    let Why { text, short } = reason.why(active);
    Some(Recommended {
        goal,
        policy: chosen.policy,
        why: text,
        why_short: short,
        equivalent,
        runner_up: next,
    })
}

fn candidate(lane: &Lane, active: StaticMemoryPolicy) -> Candidate {
    Candidate {
        peak: lane.summary.peak_reserved,
        overhead: lane.summary.estimated_overhead,
        granule: granule(lane.policy),
        is_active: lane.policy == active,
        order: (0, u64::from(lane.policy.number())),
    }
}

/// A clause, and shorter ones, the longest first.
struct Why {
    text: String,
    short: Vec<String>,
}

impl Why {
    fn new<const N: usize>(text: impl Into<String>, short: [String; N]) -> Self {
        Self {
            text: text.into(),
            short: short.into(),
        }
    }
}

/// What the clause is made from.
struct Reason<'a> {
    lanes: &'a [Lane],
    candidates: &'a [&'a Lane],
    chosen: &'a Lane,
    n_equivalent: usize,
    granule: Bytes,
}

impl Reason<'_> {
    fn why(&self, active: StaticMemoryPolicy) -> Why {
        let number = active.number();
        let Some(lane) = self.lanes.iter().find(|lane| lane.policy == active) else {
            return self.among_simulated();
        };
        if let Some(finding) = lane.forbidden.first() {
            let short = format!("{} forbids policy {number}", finding.rule);
            return Why::new(format!("{short}, the active policy"), [short]);
        }
        if let Some(failed) = &lane.simulation.out_of_memory {
            let text = format!(
                "policy {number}, which is active, runs out of memory at step {}",
                failed.step
            );
            return Why::new(
                text,
                [
                    format!("policy {number} runs out of memory"),
                    format!("policy {number} does not fit"),
                ],
            );
        }
        if !lane.may_be_recommended() {
            let text = format!("policy {number}, which is active, does not meet every request");
            return Why::new(text, [format!("policy {number} refuses requests")]);
        }
        if lane.policy == self.chosen.policy {
            return self.active_is_chosen();
        }
        let (own, before) = (self.chosen.summary.peak_reserved, lane.summary.peak_reserved);
        // A peak that is not significantly lower is no reason.
        if own < before && !are_peaks_equivalent(own, before, self.granule) {
            return where_saved(self.chosen, lane);
        }
        let (own, before) = (self.chosen.summary.estimated_overhead, lane.summary.estimated_overhead);
        let short = [
            format!("overhead {own} instead of {before}"),
            "less overhead".to_owned(),
        ];
        Why::new(format!("its overhead is {own} instead of {before} (estimates)"), short)
    }

    fn among_simulated(&self) -> Why {
        let peak = self.chosen.summary.peak_reserved;
        let text = match self.candidates.len() {
            1 => format!("the only simulated policy that fits, with a peak of {peak}"),
            _ => format!(
                "its peak is {peak}, its overhead {}",
                self.chosen.summary.estimated_overhead
            ),
        };
        Why::new(text, [format!("its peak is {peak}")])
    }

    /// Why no other policy is worth a change.
    fn active_is_chosen(&self) -> Why {
        let own = &self.chosen.summary;
        let is_lower = |lane: &&&Lane| {
            let peak = lane.summary.peak_reserved;
            peak < own.peak_reserved && !are_peaks_equivalent(peak, own.peak_reserved, self.granule)
        };
        let lowest = self.candidates.iter().filter(is_lower);
        if let Some(lower) = lowest.min_by_key(|lane| (lane.summary.peak_reserved, lane.policy)) {
            let saved = own.peak_reserved - lower.summary.peak_reserved;
            let time = lower
                .summary
                .estimated_overhead
                .0
                .saturating_sub(own.estimated_overhead.0);
            let (number, time) = (lower.policy.number(), Nanos(time));
            let percent = percent_text(saved.percent_of(own.peak_reserved));
            return Why::new(
                format!("policy {number} saves {saved} ({percent}) but takes {time} more (estimate)"),
                [
                    format!("policy {number} saves {saved} but takes {time} more"),
                    format!("policy {number} takes {time} more"),
                ],
            );
        }
        if self.candidates.len() == 1 {
            return Why::new("no other policy fits", []);
        }
        if self.n_equivalent + 1 == self.candidates.len() {
            let peaks = || self.candidates.iter().map(|lane| lane.summary.peak_reserved);
            let (low, high) = (peaks().min().unwrap_or_default(), peaks().max().unwrap_or_default());
            return match high - low {
                Bytes::ZERO => Why::new(
                    "all policies that fit have the same peak",
                    ["all peaks are equal".to_owned()],
                ),
                apart => Why::new(
                    format!("the peaks of all policies that fit differ by {apart} at most"),
                    [
                        format!("all peaks within {apart}"),
                        "all peaks are equivalent".to_owned(),
                    ],
                ),
            };
        }
        Why::new("no policy has a significantly lower peak", ["no lower peak".to_owned()])
    }
}

/// The part of the reserved memory that shrinks most from one peak to the other.
fn where_saved(chosen: &Lane, active: &Lane) -> Why {
    let number = active.policy.number();
    let saved = active.summary.peak_reserved - chosen.summary.peak_reserved;
    let is_main = |now: Bytes, before: Bytes| before.saturating_sub(now).get() >= saved.get() / 2;
    let figures = |now: Bytes, before: Bytes| format!("{now} at the peak, {before} under policy {number}");
    if let Some((now, before)) = arenas(chosen).zip(arenas(active))
        && chosen.policy.row().shares_static_arena
        && is_main(now, before)
    {
        let short = "static graphs share an arena".to_owned();
        let text = format!("{short}: {}", figures(now, before));
        let short = [
            format!("{short}: {saved} less"),
            format!("one shared arena: \u{2212}{}", saved.short()),
            format!("shared arena: \u{2212}{}", saved.short()),
            "shared arena".to_owned(),
        ];
        return Why::new(text, short);
    }
    let (now, before) = (chosen.summary.reserved, active.summary.reserved);
    let parts = [
        ("feature memory", "takes", now.features, before.features),
        ("weights", "take", now.weights, before.weights),
        ("variables", "take", now.variables, before.variables),
        ("inputs and outputs", "take", now.io, before.io),
    ];
    let largest = parts.into_iter().find(|(_, _, now, before)| is_main(*now, *before));
    match largest {
        Some((subject, verb, now, before)) => Why::new(
            format!("{subject} {verb} {}", figures(now, before)),
            [
                format!("{subject} {verb} {} less", before - now),
                format!("{subject} \u{2212}{}", (before - now).short()),
                format!("{} less", saved.short()),
            ],
        ),
        None => Why::new(
            format!("its peak is {saved} below that of policy {number}"),
            [format!("its peak is {saved} lower")],
        ),
    }
}

/// The blocks of static graphs at the peak; `None` where they are pages that others use in between.
fn arenas(lane: &Lane) -> Option<Bytes> {
    let row = lane.policy.row();
    let step = lane.summary.peak_reserved_step?;
    (!row.shares_static_arena || !row.expands_pools).then(|| {
        let regions = picture(&lane.simulation, step).regions;
        let arenas = regions.iter().filter(|region| region.kind == RegionKind::Arena);
        arenas.map(|region| region.held).sum()
    })
}
