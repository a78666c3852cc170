//! Why nothing can be recommended, and what would help: the rules that refuse, the lowest peak, and a device that is
//! sufficient.

use super::sentence::{Link, Sentence};
use super::{Ending, Explorer, PointFigures, Recommendation, SweepPoint};
use crate::compare::compare;
use crate::error::AnalysisError;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, counted, grouped};
use highwater_options::keys;

/// Points out of memory that are simulated again with unlimited memory.
const MAX_AGAIN: usize = 1_000;

pub(super) fn nothing_fits(
    explorer: &Explorer,
    found: &Recommendation,
    progress: &Progress<'_>,
) -> Result<Vec<Sentence>, AnalysisError> {
    let ran = |point: &&SweepPoint| point.figures().is_some();
    let simulated: Vec<&SweepPoint> = found.points.iter().filter(ran).collect();
    if simulated.is_empty() {
        return Ok(not_simulated(found));
    }
    let mut sentences = vec![Sentence::of(format!(
        "None of {} that {} simulated completes on its device.",
        counted(simulated.len() as u64, "configuration"),
        if simulated.len() == 1 { "was" } else { "were" }
    ))];
    let is_short = |figures: &PointFigures| figures.ending == Ending::OutOfMemory;
    let short: Vec<&SweepPoint> = simulated
        .iter()
        .filter(|point| point.figures().is_some_and(is_short))
        .copied()
        .collect();
    sentences.extend(needed(explorer, &short, progress)?);
    if short.len() < simulated.len() {
        let link = Link::Option(keys::DTR_EVICTION_THRESHOLD.to_owned());
        sentences.push(
            Sentence::of("If a budget is too small or recomputation exceeds its limit, try a larger value of ")
                .linked(keys::DTR_EVICTION_THRESHOLD, link)
                .say("."),
        );
    }
    Ok(sentences)
}

/// Why nothing was simulated: rules forbid it, or simulation fails.
fn not_simulated(found: &Recommendation) -> Vec<Sentence> {
    let tried = counted(found.searched.tried, "configuration");
    let Some(rule) = found.rules.first() else {
        let sentence = format!("None of {tried} can be simulated.");
        return vec![Sentence::of(sentence)];
    };
    let failed: u64 = found.left_out.failed.iter().map(|(_, count)| count).sum();
    let refused = grouped(found.searched.tried - failed);
    let first = Sentence::of(format!(
        "None of {tried} was simulated: rules forbid {}.",
        if failed == 0 { "all of them".to_owned() } else { refused }
    ));
    let forbids = format!("{} forbids {}: {}. ", rule.rule, grouped(rule.count), rule.message);
    let mut sentence = Sentence::of(forbids).say("Try other values of ");
    for (position, key) in rule.options.iter().enumerate() {
        let link = Link::Option(key.clone());
        sentence = sentence
            .say(if position > 0 { " or " } else { "" })
            .linked(key.clone(), link);
    }
    if rule.options.is_empty() {
        sentence = sentence.say("the axes");
    }
    vec![first, sentence.say(".")]
}

/// The point with the lowest peak on unlimited memory, and a device on which it runs to its end.
fn needed(explorer: &Explorer, short: &[&SweepPoint], progress: &Progress<'_>) -> Result<Vec<Sentence>, AnalysisError> {
    let space = explorer.space();
    let silent = Progress::silent(progress.cancel_flag());
    let mut least: Option<(Bytes, u64)> = None;
    for point in short.iter().take(MAX_AGAIN) {
        progress.check()?;
        let again = explorer.beside(point.idx, &space.unbounded(point.idx), &silent)?;
        let peak = again.fitting().map(|figures| figures.peak_reserved);
        least = peak.map(|peak| (peak, point.idx)).into_iter().chain(least).min();
    }
    let Some((peak, idx)) = least else {
        return Ok(Vec::new());
    };
    let memory = || Link::Option(keys::DEVICE_MEMORY.to_owned());
    let capacity = short
        .iter()
        .find(|point| point.idx == idx)
        .and_then(|point| point.figures());
    let among = match short.len() {
        n if n > MAX_AGAIN => format!(" of the first {}", grouped(MAX_AGAIN as u64)),
        _ => String::new(),
    };
    let mut sentences = vec![
        Sentence::of(format!("Least{among} is needed by {}: its peak is ", space.title(idx)))
            .bytes(peak, memory())
            .say(" where memory is no limit, and the device has ")
            .bytes(capacity.map_or(Bytes::ZERO, |figures| figures.capacity), memory())
            .say("."),
    ];
    let request = explorer.request().configured(&space.configuration(idx))?;
    let comparison = compare(&request, &silent)?;
    let report = comparison
        .simulated_lanes()
        .next()
        .and_then(|lane| lane.out_of_memory_report.as_ref());
    if let Some(enough) = report.and_then(|report| report.sufficient_device) {
        sentences.push(
            Sentence::of(format!("A device of {} MiB (", grouped(enough.get() >> 20)))
                .bytes(enough, memory())
                .say(") was tried and is enough for it."),
        );
    }
    Ok(sentences)
}
