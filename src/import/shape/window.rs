//! The number of windows along an axis, in every padding mode, and the inverse.
//!
//! ```text
//! in + pads:  [p p x x x x x x x p]
//! window:     [k . k . k]             kernel 3, dilation 2 -> extent 5
//! moved by stride; ceil_mode counts a last window that is not full, if it starts inside
//! ```

use highwater_model::graph::{Dim, DimOp};

use super::fact::Num;
use super::sym::Sym;

pub(crate) struct Window {
    /// The distance of neighbouring windows.
    pub(crate) stride: i64,
    /// The distance of neighbouring taps.
    pub(crate) dilation: i64,
    pub(crate) pad_start: i64,
    pub(crate) pad_end: i64,
    /// `SAME_UPPER` or `SAME_LOWER`: as many outputs as strides fit.
    pub(crate) is_same: bool,
    /// Whether a last window that is not full counts.
    pub(crate) ceils: bool,
}

/// The number of windows along an axis.
pub(crate) fn count(sym: &mut Sym, size: Dim, kernel: Dim, window: &Window) -> Dim {
    let one = Some(Num::Int(1));
    let stride = Some(Num::Int(window.stride));
    let size = Num::of(size);
    if window.is_same {
        return sym.op(DimOp::CeilDiv, size, stride).map_or(Dim::Unknown, Num::dim);
    }
    // extent = (kernel - 1) * dilation + 1
    let extent = sym.op(DimOp::Sub, Num::of(kernel), one);
    let extent = sym.op(DimOp::Mul, extent, Some(Num::Int(window.dilation)));
    let extent = sym.op(DimOp::Add, extent, one);
    let pads = window.pad_start.checked_add(window.pad_end).map(Num::Int);
    let padded = sym.op(DimOp::Add, size, pads);
    let free = sym.op(DimOp::Sub, padded, extent);
    let steps = match free {
        // Runtimes divide towards zero: a kernel that is larger than the data may still have one window.
        Some(Num::Int(free)) if free < 0 && !window.ceils => free.checked_div(window.stride).map(Num::Int),
        _ => {
            let op = if window.ceils { DimOp::CeilDiv } else { DimOp::FloorDiv };
            sym.op(op, free, stride)
        }
    };
    let mut windows = sym.op(DimOp::Add, steps, one);
    if window.ceils {
        // A window that starts in the padding behind the data does not count.
        let start = sym.op(DimOp::Add, size, Some(Num::Int(window.pad_start)));
        let inside = sym.op(DimOp::CeilDiv, start, stride);
        windows = sym.op(DimOp::Min, windows, inside);
    }
    windows.map_or(Dim::Unknown, Num::dim)
}

/// The inverse of [`count`].
pub(crate) fn grow(sym: &mut Sym, size: Dim, kernel: Dim, window: &Window, extra: i64) -> Dim {
    let one = Some(Num::Int(1));
    let stride = Some(Num::Int(window.stride));
    if window.is_same {
        return sym.op(DimOp::Mul, Num::of(size), stride).map_or(Dim::Unknown, Num::dim);
    }
    let steps = sym.op(DimOp::Sub, Num::of(size), one);
    let span = sym.op(DimOp::Mul, steps, stride);
    let extent = sym.op(DimOp::Sub, Num::of(kernel), one);
    let extent = sym.op(DimOp::Mul, extent, Some(Num::Int(window.dilation)));
    let sum = sym.op(DimOp::Add, span, extent);
    let rest = extra
        .checked_add(1)
        .and_then(|rest| rest.checked_sub(window.pad_start))
        .and_then(|rest| rest.checked_sub(window.pad_end))
        .map(Num::Int);
    sym.op(DimOp::Add, sum, rest).map_or(Dim::Unknown, Num::dim)
}
