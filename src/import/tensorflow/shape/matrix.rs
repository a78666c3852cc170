//! Matrix products: `MatMul`, stacks of matrices, `Einsum`.

use crate::shape::products;
use highwater_model::graph::Dim;

use super::call::Call;

/// Two matrices, each of which may be transposed.
pub(super) fn matmul(call: &mut Call<'_>) -> Option<()> {
    // Where only one operand is known, the result has two dimensions all the same.
    let pair = |dims: Option<Vec<Dim>>, is_turned: bool| match dims.as_deref() {
        Some([rows, columns]) => Some(if is_turned {
            [*columns, *rows]
        } else {
            [*rows, *columns]
        }),
        Some(_) => None,
        None => Some([Dim::Unknown; 2]),
    };
    let (left, right) = match call.kind() {
        "SparseMatMul" | "MatMul" | "QuantizedMatMul" | "_FusedMatMul" => ("transpose_a", "transpose_b"),
        _ => ("adj_x", "adj_y"),
    };
    let [rows, _] = pair(call.dims(0), call.flag(left))?;
    let [_, columns] = pair(call.dims(1), call.flag(right))?;
    call.out(0, &[rows, columns]);
    for output in 1..call.outputs.len() {
        call.out(output, &[]);
    }
    Some(())
}

/// Stacks of matrices; the dimensions in front of the last two broadcast.
pub(super) fn batch_matmul(call: &mut Call<'_>) -> Option<()> {
    let (mut left, mut right) = (call.dims(0)?, call.dims(1)?);
    if left.len() < 2 || right.len() < 2 {
        return None;
    }
    for (dims, name) in [(&mut left, "adj_x"), (&mut right, "adj_y")] {
        let rank = dims.len();
        if call.flag(name) {
            dims.swap(rank - 1, rank - 2);
        }
    }
    let dims = products::product(call.sym, left, right)?;
    call.out(0, &dims);
    Some(())
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
    let inputs: Vec<Vec<Dim>> = (0..call.n_inputs()).map(dims).collect::<Option<_>>()?;
    let dims = products::einsum(call.sym, equation, &inputs)?;
    call.out(0, &dims);
    Some(())
}
