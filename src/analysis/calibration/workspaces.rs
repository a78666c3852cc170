//! Scratch memory by op type, from measured ops.
//!
//! The rule of a type is a share of its results or one size, whichever gives less scratch memory in sum; either covers
//! every measured op of the type. Types that were measured without scratch memory get no rule. The rules of the current
//! table follow, for types that were not measured.

use std::collections::BTreeMap;

use super::{Calibration, LearnedSetting, Measured};
use highwater_model::units::Bytes;
use highwater_options::{Options, keys};
use highwater_rewrite::{MAX_PERCENT, computed_bytes, plain_type};

/// The scratch memory of a measured op, and the bytes of its results.
type Sample = (u64, u64);

/// Adds the table, where the run states scratch memory.
pub(super) fn learn(calibration: &mut Calibration, measured: &Measured<'_>, options: &Options) {
    let mut by_type: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
    for one in &measured.ops {
        let computed = computed_bytes(measured.graph, &measured.sizes, one.op);
        if let Some(bytes) = computed.filter(|bytes| *bytes > Bytes::ZERO) {
            let kind = plain_type(measured.graph.op_kind(one.op));
            by_type.entry(kind).or_default().push((one.scratch, bytes.get()));
        }
    }
    let n_with: usize = by_type.values().flatten().filter(|(scratch, _)| *scratch > 0).count();
    if n_with == 0 {
        calibration.note("The recording states no scratch memory of ops.");
        return;
    }
    let now = options.written(keys::WORKSPACE_TABLE).to_string();
    let mut rules: Vec<String> = Vec::new();
    let (mut n_types, mut measured_sum, mut given_sum) = (0_usize, 0_u128, 0_u128);
    for (kind, samples) in by_type.iter().filter(|(kind, _)| can_be_named(kind)) {
        let (rule, given) = rule(samples);
        measured_sum += samples.iter().map(|(scratch, _)| u128::from(*scratch)).sum::<u128>();
        given_sum += given;
        n_types += 1;
        rules.push(format!("{kind}={rule}"));
    }
    let is_new = |rule: &&str| {
        let name = rule.split_once('=').map_or(*rule, |(name, _)| name.trim());
        !by_type.contains_key(name)
    };
    let known = now.split(',').map(str::trim).filter(|rule| !rule.is_empty());
    rules.extend(known.filter(is_new).map(str::to_owned));
    let sum = |sum: u128| Bytes(u64::try_from(sum).unwrap_or(u64::MAX));
    calibration.settings.push(LearnedSetting {
        key: keys::WORKSPACE_ESTIMATE,
        now: options.written(keys::WORKSPACE_ESTIMATE).to_string(),
        learned: "on".to_owned(),
        from: "The table below is used only with this option; stated scratch memory always takes precedence."
            .to_owned(),
        poor_fit: None,
    });
    calibration.settings.push(LearnedSetting {
        key: keys::WORKSPACE_TABLE,
        now,
        learned: rules.join(","),
        from: format!(
            "{n_with} ops with scratch memory, rules for {n_types} op types. The rules give {}, measured were {}.",
            sum(given_sum),
            sum(measured_sum)
        ),
        poor_fit: None,
    });
}

/// Whether a rule can name the type: it has none of the separators of rules.
fn can_be_named(kind: &str) -> bool {
    !kind.is_empty() && !kind.contains([',', '=', '*']) && kind.trim() == kind
}

/// The amount of a rule that covers every sample, and its sum.
fn rule(samples: &[Sample]) -> (String, u128) {
    let largest = samples.iter().map(|(scratch, _)| *scratch).max().unwrap_or(0);
    if largest == 0 {
        return ("0%".to_owned(), 0);
    }
    let fixed = u128::from(largest) * samples.len() as u128;
    let percent = samples
        .iter()
        .map(|(scratch, bytes)| (u128::from(*scratch) * 100).div_ceil(u128::from(*bytes)))
        .max()
        .unwrap_or(0);
    let share: u128 = samples
        .iter()
        .map(|(_, bytes)| (u128::from(*bytes) * percent).div_ceil(100))
        .sum();
    if percent <= u128::from(MAX_PERCENT) && share <= fixed {
        (format!("{percent}%"), share)
    } else {
        (largest.to_string(), fixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_enough_for_every_sample_and_the_smaller_of_both() {
        for (samples, expected) in [
            (&[(0, 100), (0, 7)][..], ("0%", 0)),
            // In proportion to the results.
            (&[(50, 100), (500, 1_000)], ("50%", 550)),
            // A constant whatever they compute.
            (&[(64, 100), (64, 100_000)], ("64", 128)),
            // More than any share that can be written.
            (&[(1_000_000, 1)], ("1000000", 1_000_000)),
            (&[(1, 3)], ("1", 1)),
        ] {
            let (rule, given) = rule(samples);
            assert_eq!((rule.as_str(), given), expected, "{samples:?}");
            let table = highwater_rewrite::WorkspaceTable::parse(&format!("X={rule}")).expect("a rule");
            for (scratch, bytes) in samples {
                assert!(
                    table.scratch("X", Bytes(*bytes)) >= Bytes(*scratch),
                    "{samples:?} {rule}"
                );
            }
        }
    }
}
