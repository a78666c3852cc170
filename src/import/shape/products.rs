//! Shapes of matrix products and of sums of products.

use super::call::Call;
use super::sym::Sym;
use highwater_model::graph::Dim;

/// The product of two inputs, each a stack of matrices whose last two dimensions may be swapped first.
pub(crate) fn matmul(call: &mut Call<'_>, inputs: [usize; 2], is_transposed: [bool; 2]) -> Option<()> {
    let mut sides = [call.dims(inputs[0])?, call.dims(inputs[1])?];
    for (dims, is_transposed) in sides.iter_mut().zip(is_transposed) {
        let rank = dims.len();
        if is_transposed && rank >= 2 {
            dims.swap(rank - 1, rank - 2);
        }
    }
    let [left, right] = sides;
    let dims = product(call.sym, left, right)?;
    call.out(0, &dims)
}

/// The shape of a product with numpy's rules for vectors and stacks of matrices.
fn product(sym: &mut Sym, mut a: Vec<Dim>, mut b: Vec<Dim>) -> Option<Vec<Dim>> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (is_row, is_column) = (a.len() == 1, b.len() == 1);
    if is_row {
        a.insert(0, Dim::Known(1));
    }
    if is_column {
        b.push(Dim::Known(1));
    }
    let (rows, columns) = (a[a.len() - 2], b[b.len() - 1]);
    let mut dims = sym.broadcast(&a[..a.len() - 2], &b[..b.len() - 2]);
    if !is_row {
        dims.push(rows);
    }
    if !is_column {
        dims.push(columns);
    }
    Some(dims)
}

/// The shape of a sum of products: letters name dimensions, three dots are broadcast ones.
pub(crate) fn einsum(sym: &mut Sym, equation: &str, inputs: &[Vec<Dim>]) -> Option<Vec<Dim>> {
    let equation: String = equation.chars().filter(|letter| *letter != ' ').collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != inputs.len() {
        return None;
    }
    let mut letters: Vec<(char, Dim, u32)> = Vec::new();
    let mut dots: Vec<Dim> = Vec::new();
    for (input, term) in terms.iter().enumerate() {
        let dims = &inputs[input];
        let n_letters = term.chars().filter(|letter| *letter != '.').count();
        let n_dots = if term.contains("...") {
            dims.len().checked_sub(n_letters)?
        } else {
            0
        };
        let mut at = 0;
        for part in term.replace("...", ".").chars() {
            if part == '.' {
                let middle = dims.get(at..at + n_dots)?;
                dots = sym.broadcast(&dots, middle);
                at += n_dots;
                continue;
            }
            let dim = *dims.get(at)?;
            at += 1;
            match letters.iter_mut().find(|row| row.0 == part) {
                Some(row) => {
                    row.1 = sym.broadcast_dim(row.1, dim);
                    row.2 += 1;
                }
                None => letters.push((part, dim, 1)),
            }
        }
        if at != dims.len() {
            return None;
        }
    }
    let result = right.map_or_else(
        || {
            let mut once: Vec<char> = letters.iter().filter(|row| row.2 == 1).map(|row| row.0).collect();
            once.sort_unstable();
            format!(".{}", once.into_iter().collect::<String>())
        },
        |right| right.replace("...", "."),
    );
    let mut dims = Vec::new();
    for part in result.chars() {
        match part {
            '.' => dims.extend_from_slice(&dots),
            _ => dims.push(letters.iter().find(|row| row.0 == part)?.1),
        }
    }
    Some(dims)
}
