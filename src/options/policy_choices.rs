//! The numbers of policies as choices of the two options and the variable that select one.

use highwater_sim::{POLICIES, PolicyRow};

use super::kind::{Choice, joined};

/// With their meanings, ascending.
pub(super) const POLICY_NUMBERS: [Choice<i64>; N_NUMBERS] = {
    let mut choices = [(0, ""); N_NUMBERS];
    let mut at = 0;
    while at < N_NUMBERS {
        choices[at] = (ALL[at].0 as i64, ALL[at].1);
        at += 1;
    }
    choices
};

/// As [`POLICY_NUMBERS`], as texts.
pub(super) const POLICY_TEXTS: [Choice<&'static str>; N_NUMBERS] = {
    let mut choices = [("", ""); N_NUMBERS];
    let mut at = 0;
    while at < N_NUMBERS {
        choices[at] = (digit(ALL[at].0), ALL[at].1);
        at += 1;
    }
    choices
};

/// The numbers of the policies that `is_meant` selects, for sentences: `0, 2, 3 or 4`.
pub(super) fn policy_numbers(is_meant: impl Fn(&PolicyRow) -> bool) -> String {
    let rows = POLICIES.iter().filter(|row| is_meant(row));
    let numbers: Vec<String> = rows.map(|row| row.number.to_string()).collect();
    joined(&numbers)
}

/// Policies and aliases.
const ALL: [(u8, &str); N_NUMBERS] = {
    let mut all = [(0, ""); N_NUMBERS];
    let (mut row, mut filled) = (0, 0);
    while row < POLICIES.len() {
        let PolicyRow {
            number,
            aliases,
            choice,
            ..
        } = POLICIES[row];
        let mut alias = 0;
        while alias < aliases.len() {
            all[filled] = aliases[alias];
            alias += 1;
            filled += 1;
        }
        all[filled] = (number, choice);
        filled += 1;
        row += 1;
    }
    all
};

const N_NUMBERS: usize = {
    let (mut row, mut n) = (0, 0);
    while row < POLICIES.len() {
        n += 1 + POLICIES[row].aliases.len();
        row += 1;
    }
    n
};

/// A number of one digit as text.
const fn digit(number: u8) -> &'static str {
    "0123456789".split_at(number as usize).1.split_at(1).0
}

#[cfg(test)]
mod tests {
    use super::super::policy::policy_of_text;
    use super::*;

    #[test]
    fn choices_are_the_numbers_of_policies() {
        assert!(POLICY_NUMBERS.is_sorted());
        for ((number, meaning), (text, same)) in POLICY_NUMBERS.into_iter().zip(POLICY_TEXTS) {
            assert_eq!((number.to_string().as_str(), meaning), (text, same));
            assert!(policy_of_text(text).is_some() && !meaning.is_empty(), "{text}");
        }
        assert_eq!(policy_numbers(|_| true), "0, 2, 3 or 4");
        assert_eq!(policy_numbers(|row| !row.shares_static_arena), "0 or 3");
    }
}
