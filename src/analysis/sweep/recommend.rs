//! The recommended configuration, the runner-up, and the reasons.
//!
//! A space of up to [`RECOMMEND_EXHAUSTIVE`] points is simulated whole. Of a larger one evenly spread points are
//! simulated, and from the best of them one axis after another is varied until nothing improves; the answer says so. A
//! configuration that a rule calls an error is never simulated, so never recommended.

use std::collections::{BTreeMap, BTreeSet};

use super::goal::Rank;
use super::nothing_fits::nothing_fits;
use super::reasons::{ChosenLane, reasons, uncertain};
use super::{Ending, Explorer, Goal, Outcome, PointFigures, Sentence, SweepPoint};
use crate::compare::compare;
use crate::configuration::Configuration;
use crate::error::AnalysisError;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::counted;

/// Default size of a space that is simulated whole.
pub const RECOMMEND_EXHAUSTIVE: u64 = 20_000;

/// The number of the base, which is no point.
const BASE: u64 = u64::MAX;

/// Points from which single axes are varied.
const STARTS: usize = 4;

/// A configuration with its point.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub point: SweepPoint,
    pub title: String,
    pub configuration: Configuration,
}

impl Chosen {
    /// Its figures, which exist because it fits.
    pub fn figures(&self) -> &PointFigures {
        self.point.fitting().expect("a point that is chosen fits")
    }
}

/// How much of a space was simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    pub tried: u64,
    pub of: u64,
}

impl Searched {
    /// Whether the whole space was simulated.
    pub const fn is_whole(self) -> bool {
        self.tried == self.of
    }
}

/// A rule that forbids points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCount {
    pub rule: &'static str,
    /// Its message about the first point that it forbids.
    pub message: String,
    /// The options at fault there.
    pub options: Vec<String>,
    pub count: u64,
}

/// Points that do not qualify, besides those that rules forbid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Out of memory.
    pub out_of_memory: u64,
    pub thrashes: u64,
    /// Their budget is too small.
    pub budget_too_small: u64,
    /// They cannot be simulated: why, and how many.
    pub failed: Vec<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    pub goal: Goal,
    pub searched: Searched,
    /// `None` where nothing fits.
    pub winner: Option<Chosen>,
    /// The point to take instead, among those with other figures.
    pub runner_up: Option<Chosen>,
    /// Further points with the figures of the winner.
    pub equals: u64,
    /// The active configuration.
    pub base: SweepPoint,
    pub reasons: Vec<Sentence>,
    /// Rules that forbid points, most points first.
    pub rules: Vec<RuleCount>,
    pub left_out: LeftOut,
    /// Caveats about the figures.
    pub uncertain: Vec<Sentence>,
    /// Every simulated point, by number.
    pub points: Vec<SweepPoint>,
}

/// Searches a space and recommends a configuration. About `most` points are simulated at most; each is handed on when
/// it is ready.
///
/// # Errors
/// [`AnalysisError::Cancelled`]; others where the winner cannot be explained.
pub fn recommend(
    explorer: &Explorer,
    goal: Goal,
    most: u64,
    on_point: &mut dyn FnMut(&SweepPoint),
    progress: &Progress<'_>,
) -> Result<Recommendation, AnalysisError> {
    let points = search(explorer, goal, most, on_point, progress)?;
    recommend_from(explorer, goal, points, progress)
}

/// Recommends one of the given points.
///
/// # Errors
/// As [`recommend`].
pub fn recommend_from(
    explorer: &Explorer,
    goal: Goal,
    points: Vec<SweepPoint>,
    progress: &Progress<'_>,
) -> Result<Recommendation, AnalysisError> {
    let space = explorer.space();
    let all: Vec<&SweepPoint> = points.iter().collect();
    let best = goal.select(space, &all);
    let fitting = all.into_iter().filter(|point| point.fitting().is_some());
    // As for the policies of a comparison: other figures are another peak or another overhead.
    let rank = |point: &SweepPoint| point.figures().map(|figures| (figures.peak_reserved, figures.overhead));
    let (equal, others): (Vec<&SweepPoint>, Vec<&SweepPoint>) =
        fitting.partition(|point| best.is_some_and(|best| rank(best) == rank(point)));
    let next = goal.select(space, &others);
    let chosen = |point: &SweepPoint| Chosen {
        point: point.clone(),
        title: space.title(point.idx),
        configuration: space.configuration(point.idx),
    };
    let searched = Searched {
        tried: points.len() as u64,
        of: space.size(),
    };
    let mut found = Recommendation {
        goal,
        searched,
        winner: best.map(chosen),
        runner_up: next.map(chosen),
        equals: equal.len().saturating_sub(1) as u64,
        base: explorer.beside(BASE, space.base(), progress)?,
        reasons: Vec::new(),
        rules: refused_by(&points),
        left_out: left_out(&points),
        uncertain: Vec::new(),
        points,
    };
    add_reasons(explorer, &mut found, progress)?;
    Ok(found)
}

/// Simulates winner and runner-up as lanes, and explains their differences.
fn add_reasons(explorer: &Explorer, found: &mut Recommendation, progress: &Progress<'_>) -> Result<(), AnalysisError> {
    let silent = Progress::silent(progress.cancel_flag());
    let as_lane = |chosen: &Chosen| -> Result<ChosenLane, AnalysisError> {
        let request = explorer.request().configured(&chosen.configuration)?;
        Ok(ChosenLane {
            chosen: chosen.clone(),
            comparison: compare(&request, &silent)?,
        })
    };
    let winner = found.winner.as_ref().map(as_lane).transpose()?;
    let runner_up = found.runner_up.as_ref().map(as_lane).transpose()?;
    found.reasons = match &winner {
        Some(winner) => reasons(explorer.space(), found, winner, runner_up.as_ref()),
        None => nothing_fits(explorer, found, progress)?,
    };
    found.uncertain = uncertain(explorer.space(), found, winner.as_ref());
    Ok(())
}

/// The points to simulate.
fn search(
    explorer: &Explorer,
    goal: Goal,
    most: u64,
    on_point: &mut dyn FnMut(&SweepPoint),
    progress: &Progress<'_>,
) -> Result<Vec<SweepPoint>, Cancelled> {
    let space = explorer.space();
    let most = most.clamp(1, super::Space::MAX_POINTS);
    if space.size() <= most {
        let all: Vec<u64> = (0..space.size()).collect();
        return explorer.explore(&all, on_point, progress);
    }
    let mut known: BTreeMap<u64, SweepPoint> = BTreeMap::new();
    let mut try_all = |known: &mut BTreeMap<u64, SweepPoint>, wanted: BTreeSet<u64>| -> Result<(), Cancelled> {
        let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(known.len());
        let new = wanted.into_iter().filter(|idx| !known.contains_key(idx));
        let points = explorer.explore(&new.take(room).collect::<Vec<_>>(), on_point, progress)?;
        known.extend(points.into_iter().map(|point| (point.idx, point)));
        Ok(())
    };
    try_all(&mut known, spread(space.size(), most.div_ceil(2)))?;
    loop {
        let before = known.len();
        let rank = |point: &SweepPoint| Some((goal.rank(space, point)?, point.idx));
        let mut ranked: Vec<(Rank, u64)> = known.values().filter_map(rank).collect();
        ranked.sort_unstable();
        let starts = ranked.iter().take(STARTS).map(|(_, idx)| *idx);
        let selected = goal
            .select(space, &known.values().collect::<Vec<_>>())
            .map(|point| point.idx);
        let wanted = starts
            .chain(selected)
            .flat_map(|idx| neighbours(explorer, idx))
            .collect();
        try_all(&mut known, wanted)?;
        if known.len() == before {
            return Ok(known.into_values().collect());
        }
    }
}

/// Numbers below `size`, evenly spread so that the values of every axis alternate: multiples of a step that is coprime
/// to the size, near its golden section.
fn spread(size: u64, count: u64) -> BTreeSet<u64> {
    let mut step = u64::try_from(u128::from(size) * 618_033_989 / 1_000_000_000)
        .unwrap_or(1)
        .max(1);
    while common_divisor(step, size) > 1 {
        step += 1;
    }
    let numbers = (0..count).map(|n| u128::from(n) * u128::from(step) % u128::from(size));
    numbers.filter_map(|number| u64::try_from(number).ok()).collect()
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The points that differ from one on a single axis.
fn neighbours(explorer: &Explorer, idx: u64) -> Vec<u64> {
    let space = explorer.space();
    let digits = space.digits(idx);
    let axes = space.axes().iter().enumerate();
    let places = axes.flat_map(|(position, axis)| (0..axis.values.len()).map(move |digit| (position, digit)));
    let varied = places.map(|(position, digit)| {
        let mut other = digits.clone();
        other[position] = digit;
        space.idx(&other)
    });
    varied.collect()
}

/// Rules that forbid points: most points first, then by id and message.
pub fn refused_by(points: &[SweepPoint]) -> Vec<RuleCount> {
    let mut rules: BTreeMap<(&'static str, &[String]), RuleCount> = BTreeMap::new();
    for point in points {
        let Outcome::Refused(refusals) = &point.outcome else {
            continue;
        };
        let mut counted = BTreeSet::new();
        for refusal in refusals {
            let key = (refusal.rule, &refusal.options[..]);
            let row = rules.entry(key).or_insert_with(|| RuleCount {
                rule: refusal.rule,
                message: refusal.message.clone(),
                options: refusal.options.clone(),
                count: 0,
            });
            row.count += u64::from(counted.insert(key));
        }
    }
    let mut rules: Vec<RuleCount> = rules.into_values().collect();
    rules.sort_by_key(|row| std::cmp::Reverse(row.count));
    rules
}

/// Points that do not qualify for other reasons, counted.
pub fn left_out(points: &[SweepPoint]) -> LeftOut {
    let mut out = LeftOut::default();
    let mut failed: BTreeMap<&str, u64> = BTreeMap::new();
    for point in points {
        match &point.outcome {
            Outcome::Refused(_) => {}
            Outcome::Failed(why) => *failed.entry(why).or_default() += 1,
            Outcome::Ran(figures) => match figures.ending {
                Ending::Complete => {}
                Ending::OutOfMemory => out.out_of_memory += 1,
                Ending::Thrashes => out.thrashes += 1,
                Ending::BudgetTooSmall => out.budget_too_small += 1,
            },
        }
    }
    out.failed = failed.into_iter().map(|(why, count)| (why.to_owned(), count)).collect();
    out
}

/// Points that do not qualify, a sentence per rule or reason.
pub fn excluded(rules: &[RuleCount], left: &LeftOut) -> Vec<String> {
    let by_rule = rules.iter().map(|rule| {
        let count = counted(rule.count, "configuration");
        format!("excluded by {}: {count} ({})", rule.rule, rule.message)
    });
    let ended = [
        ("they run out of memory", left.out_of_memory),
        ("they thrash", left.thrashes),
        ("their budget is too small", left.budget_too_small),
    ];
    let failed = left.failed.iter().map(|(why, count)| (why.as_str(), *count));
    let ended = ended.into_iter().chain(failed).filter(|(_, count)| *count > 0);
    let ended = ended.map(|(why, count)| format!("excluded: {} ({why})", counted(count, "configuration")));
    by_rule.chain(ended).collect()
}
