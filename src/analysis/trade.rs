//! Both ends of the trade between overhead and memory: the policy of the least overhead and that of the lowest peak, each with its
//! bytes, and with its time once and per iteration.
//!
//! In: the recommendations of a comparison. Out: an end for each, one where both goals recommend the same policy. Figures are
//! compared with the active policy, where that runs to its end. Overheads are estimates.
//!
//! ```text
//! Least overhead: policy 2 · 3.485 GiB · −8.6 % · no extra time | Lowest peak: policy 4 · 3.358 GiB · −11.9 % · +50.2 ms once, +3.1 ms per iteration
//! ```

use super::comparison::Comparison;
use super::lane_queries::Effect;
use super::lane_set::LaneId;
use super::metrics::Metric;
use super::recommended::Recommended;
use super::selection::LaneGoal;
use highwater_model::units::{Bytes, Nanos, signed};

/// How much is said; bytes and times are always said, and both ends are shortened alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Brevity {
    /// `Least overhead: policy 2 · 3.485 GiB · −8.6 % · +50.2 ms once, +3.1 ms per iteration. Why: ...`.
    WithReason,
    Whole,
    /// `+3.1 ms/it.`.
    ShortIteration,
    /// `+50.2 ms, +3.1 ms/it.`.
    ShortOnce,
    /// `Least overhead: 2 3.485 GiB −8.6 % +50.2 ms`.
    Shortest,
}

impl Brevity {
    /// The longest first.
    pub const ALL: [Self; 5] = [
        Self::WithReason,
        Self::Whole,
        Self::ShortIteration,
        Self::ShortOnce,
        Self::Shortest,
    ];
}

/// The overhead of a policy, or how it differs from that of the active one. Negative where it is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradeTime {
    /// In all simulated iterations; without what repeats, where that is known.
    pub once: i128,
    /// What each further iteration adds; `None` of a single simulated iteration.
    pub per_iteration: Option<i128>,
}

/// One end of the trade.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeEnd {
    /// The goals whose recommendation it is.
    pub goals: Vec<LaneGoal>,
    /// By position.
    pub lane: usize,
    pub recommended: Recommended,
    pub peak: Bytes,
    /// Empty, or the sign of a bound.
    pub sign: &'static str,
    /// The change of the peak from the active policy, such as `−8.6 %`; `None` of the active policy, and where that does not fit.
    pub change: Option<String>,
    /// Whether the peak differs significantly from that of the active policy.
    pub is_equivalent: bool,
    pub is_active: bool,
    /// Nothing where the overhead does not differ significantly.
    pub time: Option<TradeTime>,
    /// Whether `time` is a difference from the active policy.
    pub is_difference: bool,
    pub iterations: u32,
}

impl Comparison {
    /// The ends: of least overhead, then of the lowest peak; one where they are the same policy, none where no policy fits.
    pub fn trade(&self) -> Vec<TradeEnd> {
        let mut ends: Vec<TradeEnd> = Vec::new();
        for recommended in &self.recommendations {
            if let Some(end) = ends.iter_mut().find(|end| end.recommended.policy == recommended.policy) {
                end.goals.push(recommended.goal);
                continue;
            }
            ends.extend(self.trade_end(recommended));
        }
        ends
    }

    fn trade_end(&self, recommended: &Recommended) -> Option<TradeEnd> {
        let lane = self.position(LaneId::Policy(recommended.policy))?;
        let active = self.position(LaneId::Policy(self.active_policy));
        let active = active.filter(|active| self.lanes[*active].may_be_recommended());
        let is_active = active == Some(lane);
        let base = active.filter(|_| !is_active);
        let changed = |name: &str| self.difference(lane, base?, Metric::find(name)?);
        let peak = changed("peak_reserved");
        let is_as_fast = matches!(changed("estimated_overhead"), Some((_, Effect::Equivalent)));
        let iterations = self.axis.runs.last().map_or(0, |run| run.run.iteration) + 1;
        let time = |lane: usize| {
            let summary = &self.lanes[lane].summary;
            let of = |nanos: Nanos| i128::from(nanos.0);
            (of(summary.estimated_overhead), summary.overhead_per_iteration.map(of))
        };
        let (own, other) = (time(lane), base.map_or((0, Some(0)), time));
        let per_iteration = own.1.zip(other.1).map(|(own, other)| own - other);
        let repeated = per_iteration.unwrap_or_default() * i128::from(iterations);
        let time = TradeTime {
            once: own.0 - other.0 - repeated,
            per_iteration,
        };
        Some(TradeEnd {
            goals: vec![recommended.goal],
            lane,
            recommended: recommended.clone(),
            peak: self.lanes[lane].summary.peak_reserved,
            sign: self.bound_sign(lane),
            change: peak.map(|(difference, _)| difference.percent()),
            is_equivalent: matches!(peak, Some((_, Effect::Equivalent))),
            is_active,
            time: (!is_as_fast && !is_active).then_some(time),
            is_difference: base.is_some(),
            iterations,
        })
    }
}

fn nanos(nanos: i128, has_sign: bool) -> String {
    let size = Nanos(u64::try_from(nanos.unsigned_abs()).unwrap_or(u64::MAX));
    if has_sign && nanos == 0 {
        return format!("+{size}");
    }
    if has_sign {
        signed(nanos.cmp(&0), size)
    } else {
        size.to_string()
    }
}

impl TradeEnd {
    /// `Least overhead`, `Lowest peak`; `Recommended` of the only end.
    pub fn label(&self) -> &'static str {
        match &self.goals[..] {
            [LaneGoal::LeastOverhead] => "Least overhead",
            [LaneGoal::LowestPeak] => "Lowest peak",
            _ => "Recommended",
        }
    }

    pub fn is_of(&self, goal: LaneGoal) -> bool {
        self.goals.contains(&goal)
    }

    /// `+50.2 ms once, +3.1 ms per iteration`; `no extra time`.
    fn time_text(&self, brevity: Brevity) -> String {
        let has_sign = self.is_difference;
        let Some(time) = self.time else {
            return match brevity {
                Brevity::WithReason | Brevity::Whole if !self.is_active => "no extra time".to_owned(),
                _ if self.is_active => String::new(),
                _ => "+0\u{a0}ms".to_owned(),
            };
        };
        let once = nanos(time.once, has_sign);
        let once = match time.per_iteration {
            None if brevity <= Brevity::ShortIteration && self.iterations == 1 => format!("{once} in 1 iteration"),
            Some(_) if brevity <= Brevity::ShortIteration => format!("{once} once"),
            _ => once,
        };
        match time.per_iteration {
            // What is below 5 % of the repeated part is not told.
            Some(repeated) if time.once.abs() * 20 < (repeated * i128::from(self.iterations)).abs() => {
                let word = if brevity <= Brevity::Whole {
                    " per iteration"
                } else {
                    "/it."
                };
                format!("{}{word}", nanos(repeated, has_sign))
            }
            None | Some(0) => once,
            Some(repeated) if brevity <= Brevity::Whole => {
                format!("{once}, {} per iteration", nanos(repeated, has_sign))
            }
            Some(repeated) => format!("{once}, {}/it.", nanos(repeated, has_sign)),
        }
    }

    /// The end in words, without its label.
    pub fn text(&self, brevity: Brevity) -> String {
        let number = self.recommended.policy.number();
        let name = if brevity == Brevity::Shortest {
            number.to_string()
        } else {
            format!("policy {number}")
        };
        let peak = format!("{}{}", self.sign, self.peak);
        let mut parts = vec![name, peak];
        if self.is_active {
            parts.push("active".to_owned());
        }
        parts.extend(self.change.as_ref().map(|change| {
            if self.is_equivalent && brevity <= Brevity::Whole {
                format!("{change}, equivalent")
            } else {
                change.clone()
            }
        }));
        parts.push(self.time_text(brevity));
        parts.retain(|part| !part.is_empty());
        let text = parts.join(if brevity == Brevity::Shortest { "  " } else { " \u{b7} " });
        if brevity == Brevity::WithReason {
            format!("{text}. Why: {}.", self.recommended.why)
        } else {
            text
        }
    }
}
