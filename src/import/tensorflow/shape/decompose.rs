//! Decompositions of matrices, diagonals in wider matrices, and Fourier transforms of real data.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use highwater_model::graph::{Dim, DimOp};

/// The dimensions in front of a matrix, its rows and its columns.
fn matrix(call: &Call<'_>, input: usize) -> Option<(Vec<Dim>, Dim, Dim)> {
    let mut dims = call.dims(input)?;
    let (columns, rows) = (dims.pop()?, dims.pop()?);
    Some((dims, rows, columns))
}

fn with(front: &[Dim], last: &[Dim]) -> Vec<Dim> {
    [front, last].concat()
}

/// `Svd`: values, and two matrices on request.
pub(super) fn svd(call: &mut Call<'_>) -> Option<()> {
    let (front, rows, columns) = matrix(call, 0)?;
    let least = call.sym.dim(DimOp::Min, rows, columns);
    call.out(0, &with(&front, &[least]));
    if !call.node.attributes.flag("compute_uv").unwrap_or(true) {
        call.out(1, &[Dim::Known(0)]);
        return call.out(2, &[Dim::Known(0)]);
    }
    let is_full = call.flag("full_matrices");
    call.out(1, &with(&front, &[rows, if is_full { rows } else { least }]));
    call.out(2, &with(&front, &[columns, if is_full { columns } else { least }]))
}

pub(super) fn qr(call: &mut Call<'_>) -> Option<()> {
    let (front, rows, columns) = matrix(call, 0)?;
    let inner = if call.flag("full_matrices") {
        rows
    } else {
        call.sym.dim(DimOp::Min, rows, columns)
    };
    call.out(0, &with(&front, &[rows, inner]));
    call.out(1, &with(&front, &[inner, columns]))
}

/// Eigenvalues and eigenvectors of square matrices.
pub(super) fn eigen(call: &mut Call<'_>) -> Option<()> {
    let (front, rows, _) = matrix(call, 0)?;
    call.out(0, &with(&front, &[rows]));
    let has_vectors = call.node.attributes.flag("compute_v").unwrap_or(true);
    let vectors = with(&front, &[rows, rows]);
    call.out(1, if has_vectors { &vectors } else { &[Dim::Known(0)] })
}

/// `Lu`: the matrix again, and how its rows were exchanged.
pub(super) fn lu(call: &mut Call<'_>) -> Option<()> {
    let (front, rows, columns) = matrix(call, 0)?;
    call.out(0, &with(&front, &[rows, columns]));
    call.out(1, &with(&front, &[rows]))
}

/// `MatrixDiagV3`: a diagonal, or a band of them, in a matrix of the smallest or a stated size.
pub(super) fn wide_diagonal(call: &mut Call<'_>) -> Option<()> {
    let mut front = call.dims(0)?;
    let length = front.pop()?;
    let places = call.ints(1)?;
    let (low, high) = (*places.first()?, *places.last()?);
    if places.len() > 1 && low < high {
        front.pop()?;
    }
    let rows = call.sym.with(DimOp::Sub, length, high.min(0));
    let columns = call.sym.with(DimOp::Add, length, low.max(0));
    let dims = match (call.scalar_int(2)?, call.scalar_int(3)?) {
        (-1, -1) => [call.sym.dim(DimOp::Max, rows, columns); 2],
        (-1, said) => [rows, Num::Int(said).dim()],
        (said, -1) => [Num::Int(said).dim(), columns],
        (rows, columns) => [Num::Int(rows).dim(), Num::Int(columns).dim()],
    };
    call.out(0, &with(&front, &dims))
}

/// `RFFT` and its kin: the last axes get the lengths of input 1, the very last one half of it plus one. The
/// inverse keeps all of it.
pub(super) fn real_fourier(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let kind = call.kind;
    let n_axes = match kind.trim_start_matches('I') {
        "RFFT" => 1,
        "RFFT2D" => 2,
        _ => 3,
    };
    let start = dims.len().checked_sub(n_axes)?;
    let lengths = call.ints(1).filter(|lengths| lengths.len() == n_axes);
    for (axis, dim) in dims[start..].iter_mut().enumerate() {
        *dim = lengths
            .as_ref()
            .map_or(Dim::Unknown, |lengths| Num::Int(lengths[axis]).dim());
    }
    if !kind.starts_with('I') {
        let last = dims.last_mut()?;
        let half = call.sym.with(DimOp::FloorDiv, *last, 2);
        *last = call.sym.with(DimOp::Add, half, 1);
    }
    call.out(0, &dims)
}
