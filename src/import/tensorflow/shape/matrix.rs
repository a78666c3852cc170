//! Matrix products: `MatMul`, stacks of matrices, `Einsum`.

use crate::shape::call::Call;
use crate::shape::products;
use highwater_model::graph::Dim;

/// Two matrices, each of which may be transposed.
pub(super) fn matmul(call: &mut Call<'_>) -> Option<()> {
    // One known operand suffices for the number of dimensions.
    let pair = |dims: Option<Vec<Dim>>, is_turned: bool| match dims.as_deref() {
        Some([rows, columns]) => Some(if is_turned {
            [*columns, *rows]
        } else {
            [*rows, *columns]
        }),
        Some(_) => None,
        None => Some([Dim::Unknown; 2]),
    };
    let (left, right) = match call.kind {
        "SparseMatMul" | "MatMul" | "QuantizedMatMul" | "_FusedMatMul" => ("transpose_a", "transpose_b"),
        _ => ("adj_x", "adj_y"),
    };
    let [rows, _] = pair(call.dims(0), call.flag(left))?;
    let [_, columns] = pair(call.dims(1), call.flag(right))?;
    call.out(0, &[rows, columns]);
    call.out_scalars(1)
}

/// Stacks of matrices; the dimensions in front of the last two broadcast.
pub(super) fn batch_matmul(call: &mut Call<'_>) -> Option<()> {
    if call.dims(0)?.len() < 2 || call.dims(1)?.len() < 2 {
        return None;
    }
    let is_transposed = ["adj_x", "adj_y"].map(|name| call.flag(name));
    products::matmul(call, [0, 1], is_transposed)
}

/// `Einsum`. An operand of unknown rank has one dimension for each of its letters, unless there are dots among them.
pub(super) fn einsum(call: &mut Call<'_>) -> Option<()> {
    let equation = call.text("equation");
    let terms: Vec<&str> = equation.split("->").next()?.split(',').collect();
    let dims = |input: usize| {
        call.dims(input).or_else(|| {
            let term = terms.get(input).filter(|term| !term.contains('.'))?;
            Some(vec![Dim::Unknown; term.chars().filter(|letter| *letter != ' ').count()])
        })
    };
    let inputs: Vec<Vec<Dim>> = (0..call.inputs.len()).map(dims).collect::<Option<_>>()?;
    let dims = products::einsum(call.sym, equation, &inputs)?;
    call.out(0, &dims)
}
