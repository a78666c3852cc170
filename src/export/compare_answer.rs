//! The answer of `compare`, for all of its forms.

use super::baseline_comparison::{BaselineComparison, LaneBaseline};
use highwater_analysis::{Comparison, Configuration, LaneGoal, Recommended};
use highwater_options::Finding;

#[derive(Clone, Copy, Debug)]
pub struct CompareAnswer<'a> {
    pub comparison: &'a Comparison,
    /// The goal of the recommendation.
    pub goal: LaneGoal,
    pub findings: &'a [Finding],
    /// The configuration that pins are compared with.
    pub options: &'a Configuration,
    /// The active lane compared with an earlier answer, or checked against limits.
    pub baseline_comparison: Option<&'a BaselineComparison<'a>>,
    /// Why the active policy does not run to its end; `None` where it does.
    pub shortage: Option<&'a str>,
    /// All lanes compared with one of them.
    pub lane_baseline: Option<&'a LaneBaseline>,
    /// The number of listed changes of a kind.
    pub most: usize,
}

impl CompareAnswer<'_> {
    /// The recommended policy; `None` where policies are not compared or none fits.
    pub fn recommended(&self) -> Option<&Recommended> {
        self.comparison.recommended(self.goal)
    }
}
