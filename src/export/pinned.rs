//! Pinned lanes, and all lanes beside a chosen one, as parts of the answer of `compare`.

use serde::Serialize;

use super::against::{Against, WireAgainst};
use super::baseline::Baseline;
use super::comparison::{WirePolicy, wire_policy};
use super::contributors::WirePeaks;
use highwater_analysis::{Comparison, Configuration, Fit, PinFailure, PinnedLane};

/// A pinned lane: the figures of a policy's, and what it was simulated under.
#[derive(Serialize, Debug)]
pub(super) struct WirePin {
    name: String,
    differences: Vec<WireDifference>,
    device: String,
    device_memory_bytes: u64,
    fits: Option<bool>,
    on_axis: Vec<String>,
    findings: Vec<WirePinFinding>,
    #[serde(flatten)]
    figures: WirePolicy,
}

/// A setting that is not as in the options.
#[derive(Serialize, Debug)]
struct WireDifference {
    setting: String,
    pinned: String,
    options: String,
}

#[derive(Serialize, Debug)]
struct WirePinFinding {
    rule: &'static str,
    severity: String,
    message: String,
}

/// A pin that has no lane.
#[derive(Serialize, Debug)]
pub(super) struct WirePinProblem {
    name: String,
    why: String,
}

impl WirePinProblem {
    pub(super) fn new(problem: &PinFailure) -> Self {
        Self {
            name: problem.name.clone(),
            why: problem.why.clone(),
        }
    }
}

impl WirePin {
    pub(super) fn new(
        comparison: &Comparison,
        lane: usize,
        pinned: &PinnedLane,
        options: &Configuration,
        peaks: WirePeaks,
    ) -> Self {
        let row = &comparison.lanes[lane];
        let differences = pinned.configuration.differences(options);
        let findings = pinned.findings.iter().map(|finding| WirePinFinding {
            rule: finding.rule,
            severity: finding.severity.to_string(),
            message: finding.message.clone(),
        });
        Self {
            name: row.title.clone().unwrap_or_default(),
            differences: differences
                .into_iter()
                .map(|row| WireDifference {
                    setting: row.name,
                    pinned: row.here,
                    options: row.other,
                })
                .collect(),
            device: pinned.device.name.clone(),
            device_memory_bytes: pinned.device.memory_bytes,
            fits: fits(comparison.fit(lane)),
            on_axis: pinned.fit.sentences(),
            findings: findings.collect(),
            figures: wire_policy(comparison, lane, peaks),
        }
    }
}

/// Whether a lane fits; `None` where there is no capacity.
fn fits(fit: Fit) -> Option<bool> {
    (fit != Fit::Unknown).then(|| fit.is_good())
}

/// All lanes beside one of them.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The lane that the others are compared with, by position.
    pub lane: usize,
    /// It, as a baseline.
    pub baseline: Baseline,
}

impl Beside {
    /// A lane as the baseline of the others.
    pub fn new(comparison: &Comparison, lane: usize) -> Self {
        Self {
            lane,
            baseline: Baseline::of_lane(comparison, lane),
        }
    }

    /// The others, each beside it. O(lanes (events + tensors log tensors)).
    pub fn others<'a>(&'a self, comparison: &'a Comparison) -> Vec<Against<'a>> {
        let others = (0..comparison.lanes.len()).filter(|lane| *lane != self.lane);
        others
            .map(|lane| Against::of_lane((comparison, lane), Some(("", &self.baseline))))
            .collect()
    }
}

/// All lanes beside one of them, as a part of the answer.
#[derive(Serialize, Debug)]
pub struct WireBeside {
    lane: String,
    others: Vec<WireOther>,
}

#[derive(Serialize, Debug)]
struct WireOther {
    fits: Option<bool>,
    #[serde(flatten)]
    against: WireAgainst,
}

impl WireBeside {
    /// The wire form, with the largest `most` changes of each kind.
    pub fn new(beside: &Beside, comparison: &Comparison, most: usize) -> Self {
        let others = beside.others(comparison);
        let others = others.iter().map(|against| WireOther {
            fits: fits(against.fit()),
            against: WireAgainst::new(against, most),
        });
        Self {
            lane: beside.baseline.lane.title.clone(),
            others: others.collect(),
        }
    }
}
