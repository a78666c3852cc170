//! Statements of a text, each fact once: servers print a figure when they find it, and again in the sentence of their failure.

use std::collections::BTreeSet;

use highwater_model::workload::LoggedStatement;

/// Between the facts of a statement.
const BETWEEN: &str = "; ";

/// Statements without those whose facts an earlier or a longer one of the same device states. O(n log n).
pub(super) fn once(all: &[LoggedStatement]) -> Vec<LoggedStatement> {
    let facts = |one: &LoggedStatement| -> Vec<String> {
        let text = one.text.trim_end_matches('.');
        text.split(BETWEEN).map(str::to_owned).collect()
    };
    let several = all
        .iter()
        .map(|one| (one.device, facts(one)))
        .filter(|(_, facts)| facts.len() > 1);
    let of_longer: BTreeSet<(Option<u64>, String)> = several
        .flat_map(|(device, facts)| facts.into_iter().map(move |fact| (device, fact)))
        .collect();
    let mut told = BTreeSet::new();
    let is_new = |one: &&LoggedStatement| {
        let facts = facts(one);
        let is_part = matches!(&facts[..], [only] if of_longer.contains(&(one.device, only.clone())));
        !is_part && told.insert((one.device, facts))
    };
    all.iter().filter(is_new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_told_once() {
        let statement = |text: &str, device| LoggedStatement {
            at: None,
            text: text.to_owned(),
            device,
        };
        let all = [
            statement("5.26 GiB are left for the KV cache", None),
            statement("16.00 GiB are needed; 5.26 GiB are left for the KV cache.", None),
            statement("16.00 GiB are needed; 5.26 GiB are left for the KV cache", None),
            statement("5.26 GiB are left for the KV cache", Some(1)),
            statement("the model takes 2 GiB", None),
            statement("the model takes 2 GiB", None),
        ];
        let told: Vec<(String, Option<u64>)> = once(&all).into_iter().map(|one| (one.text, one.device)).collect();
        let wanted =
            [(1, None), (3, Some(1)), (4, None)].map(|(at, device): (usize, _)| (all[at].text.clone(), device));
        assert_eq!(told, wanted);
    }
}
