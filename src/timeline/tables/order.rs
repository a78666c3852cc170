//! Sorting of rows: numbers by value, texts in natural order.

use std::cmp::Ordering;

use indexmap::IndexMap;

use super::{Sort, Value, View};
use highwater_model::progress::{Cancelled, Progress};

/// Rows between two checks for cancellation.
const CHUNK: usize = 4096;

/// Rows in the order of a column, stable; unstated values come last.
pub(super) fn sorted(
    view: &View<'_>,
    sort: Option<Sort>,
    rows: Vec<u32>,
    progress: &Progress<'_>,
) -> Result<Vec<u32>, Cancelled> {
    let Some(Sort { column, is_descending }) = sort else {
        return Ok(rows);
    };
    let is_number = view.columns.get(column).is_some_and(|column| column.is_number);
    let keys = if is_number {
        numbers(view, column, &rows, progress)?
    } else {
        ranks(view, column, &rows, progress)?
    };
    let flip = |key: u64| if is_descending { !key } else { key };
    let keyed = (0_u32..).zip(&keys);
    // Unstated values are the greatest in both directions.
    let keyed = keyed.map(|(position, key)| (key.is_none(), key.map_or(0, flip), position));
    let keyed: Vec<(bool, u64, u32)> = progress.sorted(keyed.collect())?;
    Ok(keyed.iter().map(|(.., position)| rows[*position as usize]).collect())
}

fn numbers(
    view: &View<'_>,
    column: usize,
    rows: &[u32],
    progress: &Progress<'_>,
) -> Result<Vec<Option<u64>>, Cancelled> {
    let mut keys = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        if number % CHUNK == 0 {
            progress.check()?;
        }
        keys.push(view.value(*row, column).number());
    }
    Ok(keys)
}

/// Ranks of texts among all texts of the column; each text is built and compared once.
fn ranks(view: &View<'_>, column: usize, rows: &[u32], progress: &Progress<'_>) -> Result<Vec<Option<u64>>, Cancelled> {
    let mut positions: IndexMap<u64, Value<'_>> = IndexMap::new();
    let mut text_of: Vec<u32> = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        if number % CHUNK == 0 {
            progress.check()?;
        }
        let entry = positions.entry(view.same(*row, column));
        text_of.push(u32::try_from(entry.index()).unwrap_or(u32::MAX));
        entry.or_insert_with(|| view.value(*row, column));
    }
    let texts: Vec<&str> = positions.values().map(text).collect();
    let mut order: Vec<u32> = (0_u32..).take(texts.len()).collect();
    progress.check()?;
    order.sort_unstable_by(|a, b| {
        natural_order(texts[*a as usize].as_bytes(), texts[*b as usize].as_bytes()).then(a.cmp(b))
    });
    progress.check()?;
    let mut ranks: Vec<u64> = vec![0; texts.len()];
    let mut rank = 0;
    for pair in order.windows(2) {
        let is_new = texts[pair[0] as usize] != texts[pair[1] as usize];
        rank += u64::from(is_new);
        ranks[pair[1] as usize] = rank;
    }
    let key = |at: &u32| (!texts[*at as usize].is_empty()).then(|| ranks[*at as usize]);
    Ok(text_of.iter().map(key).collect())
}

fn text<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

/// `layer2` before `layer10`; ignores case, except between texts that are equal without it.
pub fn natural_order(one: &[u8], other: &[u8]) -> Ordering {
    let (mut a, mut b) = (one, other);
    loop {
        let (Some(x), Some(y)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len()).then_with(|| one.cmp(other));
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (left, right) = (digits(&mut a), digits(&mut b));
            left.len().cmp(&right.len()).then_with(|| left.cmp(right))
        } else {
            (a, b) = (&a[1..], &b[1..]);
            x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase())
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Splits off the leading number, without leading zeros.
fn digits<'t>(text: &mut &'t [u8]) -> &'t [u8] {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    *text = rest;
    let zeros = number.iter().take_while(|byte| **byte == b'0').count();
    &number[zeros.min(number.len().saturating_sub(1))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts_are_read_as_numbers() {
        for (one, other, wanted) in [
            ("layer2", "layer10", Ordering::Less),
            ("layer10/a", "layer10/b", Ordering::Less),
            ("a", "B", Ordering::Less),
            ("a07", "a7", Ordering::Less),
            ("a007b", "a7a", Ordering::Greater),
            ("", "a", Ordering::Less),
            ("x", "x", Ordering::Equal),
            ("99999999999999999999999", "100000000000000000000000", Ordering::Less),
        ] {
            let order = |one: &str, other: &str| natural_order(one.as_bytes(), other.as_bytes());
            assert_eq!(order(one, other), wanted, "{one} and {other}");
            assert_eq!(order(other, one), wanted.reverse(), "{other} and {one}");
        }
    }
}
