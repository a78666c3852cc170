//! Chooses among settings that were tried: the lowest peak, then the simplest of those that hardly differ from it.

use std::collections::BTreeMap;

use highwater_model::units::Bytes;

use super::candidates::SettingPair;
use super::search::TriedSetting;

/// Peaks within 1/200, or within this, are equivalent.
const TOLERANCE: u64 = 2 << 20;

/// The bytes by which an equivalent peak may be higher.
pub fn setting_tolerance(peak: Bytes) -> Bytes {
    Bytes((peak.get() / 200).max(TOLERANCE))
}

/// What a key changes, everything else equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEffect {
    pub key: &'static str,
    /// Settings with the key that were compared with the same without it.
    pub compared: usize,
    /// The lowest and the highest change of the peak, in bytes.
    pub change: (i64, i64),
    /// Whether no change is above the tolerance.
    pub is_neutral: bool,
}

/// Failures, retries, the highest peak and the sum of peaks: less is better, the first that differs decides.
pub(super) fn rank(tried: &TriedSetting) -> (u64, u64, u64, u64) {
    let peaks = tried.figures.iter().map(|figures| figures.stats.reserved.peak);
    (tried.failed(), tried.retries(), tried.peak().get(), peaks.sum())
}

#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub(super) winner: Option<usize>,
    pub(super) runner_up: Option<usize>,
    pub(super) equivalent: Vec<usize>,
}

/// Among settings with the fewest failures and retries: of those within the tolerance of the lowest peak the one with
/// the fewest changes, keys and device calls.
pub(super) fn choose(tried: &[TriedSetting]) -> Choice {
    let Some(best) = tried.iter().min_by_key(|tried| rank(tried)) else {
        return Choice::default();
    };
    if best.failed() > 0 {
        return Choice::default();
    }
    let most = best.peak() + setting_tolerance(best.peak());
    let is_close =
        |other: &TriedSetting| other.failed() == 0 && other.retries() == best.retries() && other.peak() <= most;
    let mut close: Vec<usize> = (0..tried.len()).filter(|at| is_close(&tried[*at])).collect();
    close.sort_by_key(|at| simplicity(&tried[*at]));
    let Some((winner, equivalent)) = close.split_first() else {
        return Choice::default();
    };
    let pairs = &tried[*winner].pairs;
    let adds_to_winner = |at: &usize| !pairs.is_empty() && pairs.iter().all(|pair| tried[*at].pairs.contains(pair));
    let has_its_keys = |at: &usize| {
        let has = |pair: &SettingPair| tried[*at].pairs.iter().any(|other| other.key == pair.key);
        at == winner || !pairs.is_empty() && pairs.iter().all(has)
    };
    let fits = |at: &usize| tried[*at].failed() == 0 && !has_its_keys(at);
    let others = (0..tried.len()).filter(fits);
    Choice {
        winner: Some(*winner),
        runner_up: others.min_by_key(|at| (rank(&tried[*at]), simplicity(&tried[*at]))),
        equivalent: equivalent.iter().copied().filter(|at| !adds_to_winner(at)).collect(),
    }
}

/// Changes, keys, device calls, peak, text.
fn simplicity(tried: &TriedSetting) -> (usize, usize, u64, Bytes, String) {
    let (calls, peak) = (tried.device_calls(), tried.peak());
    (tried.changes, tried.pairs.len(), calls, peak, tried.conf.clone())
}

/// By key: settings with it against the same settings without it. The largest saving first, neutral keys last.
pub(super) fn key_effects(tried: &[TriedSetting]) -> Vec<KeyEffect> {
    let by_pairs: BTreeMap<&[SettingPair], &TriedSetting> =
        tried.iter().map(|tried| (&tried.pairs[..], tried)).collect();
    let mut effects: Vec<KeyEffect> = Vec::new();
    for with in tried {
        for pair in &with.pairs {
            let rest: Vec<SettingPair> = with.pairs.iter().filter(|other| *other != pair).cloned().collect();
            let Some(without) = by_pairs.get(&rest[..]) else {
                continue;
            };
            let change = signed(with.peak()) - signed(without.peak());
            let is_neutral = change.unsigned_abs() <= setting_tolerance(without.peak()).get()
                && (with.failed(), with.retries()) == (without.failed(), without.retries());
            match effects.iter_mut().find(|effect| effect.key == pair.key) {
                Some(effect) => {
                    effect.compared += 1;
                    effect.change = (effect.change.0.min(change), effect.change.1.max(change));
                    effect.is_neutral &= is_neutral;
                }
                None => effects.push(KeyEffect {
                    key: pair.key,
                    compared: 1,
                    change: (change, change),
                    is_neutral,
                }),
            }
        }
    }
    effects.sort_by_key(|effect| (effect.is_neutral, effect.change.0));
    effects
}

fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.get()).unwrap_or(i64::MAX)
}
