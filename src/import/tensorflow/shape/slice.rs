//! Slices: `Slice`, `StridedSlice` with all its masks, and their gradients.
//!
//! ```text
//! x[1:3, ..., newaxis, 0]     begin = [1, *, *, 0]   ellipsis_mask = 0b0010
//!                             end   = [3, *, *, *]   new_axis_mask = 0b0100, shrink_axis_mask = 0b1000
//! ```

use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num, Value};
use crate::shape::sizes::{Range, positions, sliced};
use highwater_model::graph::{Dim, DimOp};

/// `Slice`: begins and sizes; a size of -1 is all that is left.
pub(super) fn slice(call: &mut Call<'_>) -> Option<()> {
    let (begins, sizes) = (call.value(1), call.value(2));
    let Some(data) = call.dims(0) else {
        let dims = call.listed_dims(2)?;
        call.out(0, &dims);
        return None;
    };
    let pick = |value: Option<&Value>, at: usize| value.and_then(|value| value.items.get(at)).copied();
    let dims: Vec<Dim> = data
        .iter()
        .enumerate()
        .map(|(at, dim)| match pick(sizes.as_deref(), at)?.num()? {
            Num::Int(-1) => {
                let begin = pick(begins.as_deref(), at)?.num();
                call.sym.op(DimOp::Sub, Num::of(*dim), begin).map(Num::dim)
            }
            size => Some(size.dim()),
        })
        .map(|dim| dim.unwrap_or(Dim::Unknown))
        .collect();
    call.out(0, &dims);
    let begins = begins?.ints()?;
    let mut value = (*call.value(0)?).clone();
    for (at, (begin, dim)) in begins.iter().zip(&dims).enumerate() {
        let Dim::Known(count) = dim else { return None };
        value = value.strided(at, *begin, *count, 1)?;
    }
    call.add_value(0, value)
}

/// The effect of a `StridedSlice` on one axis of the data, or in front of it.
enum Part {
    /// An axis that stays.
    Whole,
    Range(Range),
    /// One index, whose axis goes.
    Index(Option<Num>),
    /// A new axis of size 1.
    New,
}

/// The parts in the order of the data's axes; `None` where their number is unknown.
fn parts(call: &Call<'_>, rank: usize) -> Option<Vec<Part>> {
    let n_parts = match *call.dims(1).or_else(|| call.dims(2)).or_else(|| call.dims(3))? {
        [Dim::Known(count)] if count <= 64 => usize::try_from(count).ok()?,
        _ => return None,
    };
    let has = |mask: &str, at: usize| call.int(mask).unwrap_or(0) >> at & 1 == 1;
    let values = [call.value(1), call.value(2), call.value(3)];
    let number = |input: usize, at: usize| values[input].as_ref()?.items.get(at)?.num();
    let n_new = (0..n_parts).filter(|at| has("new_axis_mask", *at) && !has("ellipsis_mask", *at));
    let n_dots = (0..n_parts).filter(|at| has("ellipsis_mask", *at));
    let n_taken = n_parts.checked_sub(n_new.count())?.checked_sub(n_dots.count())?;
    let n_left = rank.checked_sub(n_taken)?;
    let (mut parts, mut has_dots) = (Vec::new(), false);
    for at in 0..n_parts {
        if has("ellipsis_mask", at) {
            if !has_dots {
                parts.extend((0..n_left).map(|_| Part::Whole));
            }
            has_dots = true;
        } else if has("new_axis_mask", at) {
            parts.push(Part::New);
        } else if has("shrink_axis_mask", at) {
            parts.push(Part::Index(number(0, at)));
        } else {
            let step = number(2, at);
            let is_backwards = matches!(step, Some(Num::Int(step)) if step < 0);
            let (first, last) = if is_backwards { (-1, i64::MIN) } else { (0, i64::MAX) };
            let bound = |mask: &str, input: usize, all: i64| {
                if has(mask, at) {
                    Some(Num::Int(all))
                } else {
                    number(input, at)
                }
            };
            parts.push(Part::Range(Range {
                start: bound("begin_mask", 0, first),
                end: bound("end_mask", 1, last),
                step,
            }));
        }
    }
    if !has_dots {
        parts.extend((0..n_left).map(|_| Part::Whole));
    }
    Some(parts)
}

/// Whether a range is the whole axis.
fn is_all(range: &Range) -> bool {
    let number = |value: Option<Num>| match value {
        Some(Num::Int(value)) => Some(value),
        _ => None,
    };
    let all = (Some(0), Some(i64::MAX), Some(1));
    (number(range.start), number(range.end), number(range.step)) == all
}

pub(super) fn strided_slice(call: &mut Call<'_>) -> Option<()> {
    let data = call.dims(0)?;
    let parts = parts(call, data.len())?;
    let mut axes = data.iter();
    let mut dims = Vec::new();
    for part in &parts {
        match part {
            Part::New => dims.push(Dim::Known(1)),
            Part::Whole => dims.push(*axes.next()?),
            Part::Index(_) => {
                axes.next()?;
            }
            Part::Range(range) => {
                let dim = *axes.next()?;
                dims.push(if is_all(range) {
                    dim
                } else {
                    sliced(call.sym, dim, *range)
                });
            }
        }
    }
    call.out(0, &dims);
    let mut value = (*call.value(0)?).clone();
    let mut at = 0;
    for part in &parts {
        let size = i64::try_from(value.dims.get(at).copied().unwrap_or(0)).ok()?;
        match part {
            Part::New => continue,
            Part::Whole => {}
            Part::Index(Some(Num::Int(index))) => {
                let index = if *index < 0 { index.checked_add(size)? } else { *index };
                value = value.strided(at, index, 1, 1)?;
            }
            Part::Range(Range {
                start: Some(Num::Int(start)),
                end: Some(Num::Int(end)),
                step: Some(Num::Int(step)),
            }) => {
                let (first, count) = positions(size, *start, *end, *step)?;
                value = value.strided(at, first, count, *step)?;
            }
            Part::Index(_) | Part::Range(_) => return None,
        }
        at += 1;
    }
    let value = value.resized(&dims)?;
    call.add_value(0, value)
}

pub(super) fn stacked(call: &Call<'_>, inputs: std::ops::Range<usize>) -> Vec<Elem> {
    inputs
        .map(|input| {
            let value = call.value(input);
            value
                .and_then(|value| value.items.first().copied())
                .unwrap_or(Elem::Unknown)
        })
        .collect()
}
