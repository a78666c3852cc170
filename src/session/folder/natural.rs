//! Natural order: `rank2` before `rank10`.
//!
//! Folders and names are compared one by one, runs of digits as numbers. Between names that differ only in leading zeros, the
//! order of bytes decides.

use std::cmp::Ordering;
use std::path::Path;

pub(super) fn by_number(one: &Path, other: &Path) -> Ordering {
    let names = |path: &'_ Path| {
        let names = path
            .components()
            .map(|part| part.as_os_str().as_encoded_bytes().to_vec());
        names.collect::<Vec<Vec<u8>>>()
    };
    let (ones, others) = (names(one), names(other));
    for (one, other) in ones.iter().zip(&others) {
        let order = names_by_number(one, other);
        if order.is_ne() {
            return order;
        }
    }
    ones.len().cmp(&others.len()).then_with(|| one.cmp(other))
}

fn names_by_number(mut one: &[u8], mut other: &[u8]) -> Ordering {
    loop {
        match (one.first(), other.first()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(first), Some(second)) if first.is_ascii_digit() && second.is_ascii_digit() => {
                let (number, rest) = number_of(one);
                let (other_number, other_rest) = number_of(other);
                let order = number.len().cmp(&other_number.len());
                let order = order.then_with(|| number.cmp(other_number));
                if order.is_ne() {
                    return order;
                }
                (one, other) = (rest, other_rest);
            }
            (Some(first), Some(second)) if first == second => (one, other) = (&one[1..], &other[1..]),
            (Some(first), Some(second)) => return first.cmp(second),
        }
    }
}

/// The leading digits without leading zeros, and the rest.
fn number_of(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    (&digits[zeros..], rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted() {
        let expected = [
            "a/rank0/x",
            "a/rank1/x",
            "a/rank2/x",
            "a/rank02/x",
            "a/rank10/x",
            "a/ranks",
            "b",
            "b/1",
        ];
        let mut paths = expected;
        paths.reverse();
        paths.sort_by(|one, other| by_number(Path::new(one), Path::new(other)));
        // Leading zeros decide last, by bytes: "rank02" is before "rank2".
        assert_eq!(paths[..2], expected[..2]);
        assert_eq!((paths[2], paths[3]), ("a/rank02/x", "a/rank2/x"));
        assert_eq!(paths[4..], expected[4..]);
        let long = "9".repeat(50);
        assert_eq!(by_number(Path::new(&long), Path::new("10")), Ordering::Greater);
    }
}
