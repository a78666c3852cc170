//! Attention with its caches: outputs for the keys and values so far are as long as the past and the new tokens.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::sym::Sym;
use highwater_model::graph::{Dim, DimOp};

/// The dimension over a number of heads or parts.
fn over(sym: &mut Sym, dim: Dim, parts: Option<i64>) -> Dim {
    match parts.filter(|parts| *parts > 0) {
        Some(parts) => sym.with(DimOp::FloorDiv, dim, parts),
        None => Dim::Unknown,
    }
}

fn times(sym: &mut Sym, dim: Dim, count: Option<i64>) -> Dim {
    count.map_or(Dim::Unknown, |count| sym.with(DimOp::Mul, dim, count))
}

fn count(number: Option<i64>) -> Dim {
    number.map_or(Dim::Unknown, |number| Num::Int(number).dim())
}

/// Attention of operator set 23, on 3 or 4 dimensions.
pub(super) fn attention(call: &mut Call<'_>) -> Option<()> {
    let (query, key, value) = (call.dims(0)?, call.dims(1)?, call.dims(2)?);
    let split = |dims: &[Dim], name: &str, call: &mut Call<'_>| match *dims {
        [batch, heads, length, width] => Some((batch, heads, length, width)),
        [batch, length, width] => {
            let heads = call.int(name).filter(|heads| *heads > 0)?;
            let each = call.sym.with(DimOp::FloorDiv, width, heads);
            Some((batch, Num::Int(heads).dim(), length, each))
        }
        _ => None,
    };
    let (batch, q_heads, q_length, _) = split(&query, "q_num_heads", call)?;
    let (_, kv_heads, key_length, key_width) = split(&key, "kv_num_heads", call)?;
    let (_, _, value_length, value_width) = split(&value, "kv_num_heads", call)?;
    let result = if query.len() == 3 {
        let width = call.sym.dim(DimOp::Mul, q_heads, value_width);
        vec![batch, q_length, width]
    } else {
        vec![batch, q_heads, q_length, value_width]
    };
    call.out(0, &result);
    let key_total = total(call, 4, 2, key_length);
    let value_total = total(call, 5, 2, value_length);
    call.out(1, &[batch, kv_heads, key_total, key_width]);
    call.out(2, &[batch, kv_heads, value_total, value_width]);
    call.out(3, &[batch, q_heads, q_length, key_total])
}

/// The length of a cache at an input and the new tokens; the new tokens alone without that input.
fn total(call: &mut Call<'_>, past: usize, axis: usize, length: Dim) -> Dim {
    if !call.has(past) {
        return length;
    }
    match call.dims(past).and_then(|dims| dims.get(axis).copied()) {
        Some(past) => call.sym.dim(DimOp::Add, past, length),
        None => Dim::Unknown,
    }
}

/// Attention of com.microsoft with packed weights; keys and values share one cache, at input `past`.
pub(super) fn packed_attention(call: &mut Call<'_>, past: usize) -> Option<()> {
    let [batch, length, _] = call.dims(0)?[..] else {
        return None;
    };
    let width = match (call.list("qkv_hidden_sizes"), call.dims(2), call.dims(1)) {
        (Some(&[_, _, width]), ..) => Num::Int(width).dim(),
        (_, Some(bias), _) => over(call.sym, *bias.first()?, Some(3)),
        (_, None, Some(weights)) => over(call.sym, *weights.get(1)?, Some(3)),
        _ => Dim::Unknown,
    };
    call.out(0, &[batch, length, width]);
    if call.has(past) && call.int_or("past_present_share_buffer", 0) != 0 {
        return call.like(1, past);
    }
    let heads = call.int("num_heads");
    let each = over(call.sym, width, heads);
    let total = total(call, past, 3, length);
    call.out(1, &[Dim::Known(2), batch, count(heads), total, each])
}

/// The new keys and values of a call: their length, and the widths of one head.
struct Heads {
    length: Dim,
    key: Dim,
    value: Dim,
}

/// Attention of com.microsoft with separate or packed query, key and value. `past` is the input of the cache of keys;
/// `shares` tells whether the caches are buffers that the op fills.
pub(super) fn multi_head_attention(call: &mut Call<'_>, past: usize, shares: bool) -> Option<()> {
    let query = call.dims(0)?;
    let (batch, length) = (*query.first()?, *query.get(1)?);
    let heads = call.int("num_heads");
    let new = match (&query[..], call.dims(1).as_deref(), call.dims(2).as_deref()) {
        (&[_, _, _, _, width], ..) => Heads {
            length,
            key: width,
            value: width,
        },
        (_, Some(&[_, length, _, _, width]), _) => Heads {
            length,
            key: width,
            value: width,
        },
        (_, Some(&[_, _, length, width]), Some(&[_, _, _, value])) => Heads {
            length,
            key: width,
            value,
        },
        (_, Some(&[_, length, width]), Some(&[_, _, value])) => Heads {
            length,
            key: over(call.sym, width, heads),
            value: over(call.sym, value, heads),
        },
        (&[_, _, width], None, None) if !call.has(1) => {
            let hidden = over(call.sym, width, Some(3));
            let each = over(call.sym, hidden, heads);
            Heads {
                length,
                key: each,
                value: each,
            }
        }
        _ => return None,
    };
    let width = times(call.sym, new.value, heads);
    call.out(0, &[batch, length, width]);
    let is_cross = matches!(call.dims(1), Some(key) if key.len() == 4);
    let all = if shares || !is_cross {
        total(call, past, 2, new.length)
    } else {
        new.length
    };
    if shares && call.has(past) {
        call.like(1, past);
        call.like(2, past + 1);
    } else {
        call.out(1, &[batch, count(heads), all, new.key]);
        call.out(2, &[batch, count(heads), all, new.value]);
    }
    let all = if shares && call.has(past) { Dim::Unknown } else { all };
    call.out(3, &[batch, count(heads), length, all])
}

/// Whether a cache is kept: it grows to the total length, or it is a buffer that stays as long as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    Grows,
    Stays,
}

/// Attention where several query heads share a head of keys; the caches are at inputs 3 and 4, the length of all tokens
/// is a number at input 6.
pub(super) fn group_query_attention(call: &mut Call<'_>, cache: Cache) -> Option<()> {
    let [batch, length, hidden] = call.dims(0)?[..] else {
        return None;
    };
    let (heads, kv_heads) = (call.int("num_heads"), call.int("kv_num_heads"));
    let (each, new) = if call.has(1) {
        let new = call.dims(1).and_then(|key| key.get(1).copied());
        call.like(0, 0);
        (over(call.sym, hidden, heads), new.unwrap_or(Dim::Unknown))
    } else {
        let parts = kv_heads.and_then(|kv_heads| kv_heads.checked_mul(2)?.checked_add(heads?));
        let each = over(call.sym, hidden, parts);
        let width = times(call.sym, each, heads);
        call.out(0, &[batch, length, width]);
        (each, length)
    };
    if cache == Cache::Stays || call.int_or("sliding_window_cache", 0) == 1 {
        call.like(1, 3);
        return call.like(2, 4);
    }
    let all = call.scalar_dim(6);
    for (output, past) in [(1, 3), (2, 4)] {
        match call.dims(past) {
            // The cache may be a buffer that is longer than all tokens.
            Some(past) if past.len() == 4 => {
                let longest = call.sym.dim(DimOp::Max, past[2], all);
                call.out(output, &[past[0], past[1], longest, past[3]]);
            }
            Some(_) => {}
            None if call.has(past) => {}
            None => {
                let all = if all == Dim::Unknown { new } else { all };
                call.out(output, &[batch, count(kv_heads), all, each]);
            }
        }
    }
    call.out(3, &[batch, count(heads), length, all])
}
