//! Sizes that have to be equal, or to broadcast.

use super::{count, known};
use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num};
use highwater_model::graph::Dim;

/// Two sizes that do not broadcast: neither is 1 and they differ.
fn differ(a: Dim, b: Dim) -> Option<(u64, u64)> {
    let (a, b) = (known(a)?, known(b)?);
    (a != b && a != 1 && b != 1).then_some((a, b))
}

/// The first pair of sizes, from the end, that do not broadcast.
fn broadcast_pair(a: &[Dim], b: &[Dim]) -> Option<String> {
    let pairs = a.iter().rev().zip(b.iter().rev());
    let (a, b) = pairs.into_iter().find_map(|(a, b)| differ(*a, *b))?;
    Some(format!("sizes that broadcast: {a} against {b}"))
}

pub(super) fn broadcast(call: &Call<'_>, inputs: &[usize]) -> Option<String> {
    let shapes: Vec<Vec<Dim>> = inputs.iter().filter_map(|input| call.dims(*input)).collect();
    let mut pairs = shapes
        .iter()
        .enumerate()
        .flat_map(|(at, one)| shapes[at + 1..].iter().map(move |other| (one, other)));
    pairs.find_map(|(one, other)| broadcast_pair(one, other))
}

/// An input that broadcasts to the shape of another, which stays.
pub(super) fn into(call: &Call<'_>, data: usize, other: usize) -> Option<String> {
    into_shape(&call.dims(data)?, &call.dims(other)?)
}

fn into_shape(data: &[Dim], other: &[Dim]) -> Option<String> {
    if other.len() > data.len() {
        let (a, b) = (data.len(), other.len());
        return Some(format!(
            "the numbers of dimensions of what is broadcast to a shape: {b} against {a}"
        ));
    }
    let pairs = data.iter().rev().zip(other.iter().rev());
    let widened = |(data, other): (&Dim, &Dim)| {
        let (data, other) = (known(*data)?, known(*other)?);
        (data != other && other != 1).then_some((data, other))
    };
    let (a, b) = pairs.into_iter().find_map(widened)?;
    Some(format!("sizes that broadcast to a shape: {b} against {a}"))
}

/// The inner sizes of a product of matrices, and the stacks around them.
pub(super) fn product(left: &[Dim], right: &[Dim]) -> Option<String> {
    let inner = |a: Dim, b: Dim| {
        let (a, b) = (known(a)?, known(b)?);
        (a != b).then(|| format!("the inner sizes of a product: {a} against {b}"))
    };
    let row = right.len().saturating_sub(2);
    let found = inner(*left.last()?, *right.get(row)?);
    if found.is_some() || left.len() < 2 || right.len() < 2 {
        return found;
    }
    broadcast_pair(&left[..left.len() - 2], &right[..row])
}

pub(super) fn gemm(call: &Call<'_>) -> Option<String> {
    let (mut a, mut b) = (call.dims(0)?, call.dims(1)?);
    if a.len() != 2 || b.len() != 2 {
        return None;
    }
    for (name, dims) in [("transA", &mut a), ("transB", &mut b)] {
        if call.int_or(name, 0) != 0 {
            dims.reverse();
        }
    }
    let found = product(&a, &b);
    let is_old = call.node.opset < 7;
    let bias = || into_shape(&[a[0], b[1]], &call.dims(2)?);
    found.or_else(|| if is_old { None } else { bias() })
}

/// Letters that name two different sizes.
pub(super) fn einsum(call: &Call<'_>) -> Option<String> {
    let equation = call.text("equation").replace(' ', "");
    let left = equation.split("->").next()?;
    let mut letters: Vec<(char, u64)> = Vec::new();
    for (input, term) in left.split(',').enumerate() {
        let dims = call.dims(input)?;
        if term.contains('.') {
            return None;
        }
        let n_letters = term.chars().count();
        if n_letters != dims.len() {
            return Some(format!(
                "letters and dimensions of a term: {n_letters} against {}",
                dims.len()
            ));
        }
        for (letter, dim) in term.chars().zip(&dims) {
            let Some(size) = known(*dim).filter(|size| *size != 1) else {
                continue;
            };
            match letters.iter().find(|row| row.0 == letter) {
                Some(row) if row.1 != size => {
                    return Some(format!("sizes of the letter {letter}: {} against {size}", row.1));
                }
                Some(_) => {}
                None => letters.push((letter, size)),
            }
        }
    }
    None
}

/// The kernel's sizes as an attribute and as dimensions of the weights.
pub(super) fn kernel(call: &Call<'_>, weights: usize) -> Option<String> {
    let filter = call.dims(weights)?;
    let sizes = call.list("kernel_shape")?;
    let filter = filter.get(2..).filter(|filter| filter.len() == sizes.len())?;
    let differs = |(size, dim): (&i64, &Dim)| {
        let dim = known(*dim)?;
        (u64::try_from(*size) != Ok(dim)).then(|| format!("sizes of the kernel: {size} against {dim}"))
    };
    sizes.iter().zip(filter).find_map(differs)
}

/// The elements of the data, and those of the target.
pub(super) fn reshape(call: &Call<'_>) -> Option<String> {
    let data = call.dims(0)?;
    let target: Vec<Elem> = match call.list("shape") {
        Some(sizes) => sizes.iter().copied().map(Elem::int).collect(),
        None => call.value(1)?.items.clone(),
    };
    let copies = call.int_or("allowzero", 0) != 1;
    let mut has_free = false;
    let mut wanted = 1_u64;
    for (position, item) in target.iter().enumerate() {
        let Elem::Num(Num::Int(size)) = *item else {
            return None;
        };
        let size = match size {
            -1 => {
                has_free = true;
                continue;
            }
            0 if copies => known(*data.get(position)?)?,
            other => u64::try_from(other).ok()?,
        };
        wanted = wanted.checked_mul(size)?;
    }
    let found = count(&data)?;
    let fits = if has_free {
        wanted == 0 || found.is_multiple_of(wanted)
    } else {
        found == wanted
    };
    (!fits).then(|| format!("the elements of the data and of the shape: {found} against {wanted}"))
}

/// The target broadcasts against the data.
pub(super) fn expand(call: &Call<'_>) -> Option<String> {
    let (data, target) = (call.dims(0)?, call.value(1)?);
    let target: Vec<Dim> = target.items.iter().map(|item| item.dim()).collect();
    broadcast_pair(&data, &target)
}

/// The extent of a window and the padded size, along each axis. A pool may have no window at all: its result is empty.
pub(super) fn window(call: &Call<'_>, weights: Option<usize>) -> Option<String> {
    let data = call.dims(0)?;
    let spatial = data.get(2..)?;
    let rank = spatial.len();
    let mode = call.text("auto_pad");
    if mode.starts_with("SAME") {
        return None;
    }
    let filter = weights.and_then(|weights| call.dims(weights));
    let list = |name: &str, count: usize| call.list(name).filter(|values| values.len() == count);
    let pads = list("pads", rank.checked_mul(2)?).filter(|_| mode != "VALID");
    for (position, size) in spatial.iter().enumerate() {
        let kernel = match (list("kernel_shape", rank), &filter) {
            (Some(sizes), _) => sizes[position],
            (None, Some(filter)) => i64::try_from(known(*filter.get(position + 2)?)?).ok()?,
            (None, None) => return None,
        };
        let item = |name: &str| list(name, rank).map_or(1, |values| values[position]);
        let extent = kernel.checked_sub(1)?.checked_mul(item("dilations"))?.checked_add(1)?;
        let pad = pads.map_or(Some(0), |pads| pads[position].checked_add(pads[position + rank]));
        let Some(size) = known(*size).and_then(|size| i64::try_from(size).ok()) else {
            continue;
        };
        let padded = size.checked_add(pad?)?;
        let slack = if weights.is_some() { 0 } else { item("strides") };
        if extent > padded.checked_add(slack)? {
            return Some(format!(
                "the extent of a window and the padded size: {extent} against {padded}"
            ));
        }
    }
    None
}
