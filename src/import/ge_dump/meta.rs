//! What torchair notes of a result in its attribute `_meta`: the tensor of `PyTorch`, in the words of Python.
//!
//! ```text
//! Tensor(dtype=torch.float32, shape=torch.Size([8, 1024])        as torchair writes it, a bracket short
//! FakeTensor(..., size=(s0, 2*s1 + 1), dtype=torch.int64)        as Python prints it
//! [Tensor(...), Tensor(...)]                                     of an op with several results
//! s0                                                             a number: a scalar on the device
//! ```
//! In the graph before torchair's optimization results have their shapes here alone, and symbols where those of GE have -1.

use highwater_model::graph::DType;

/// Shape and type of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    /// Numbers, symbols or expressions of them.
    pub(super) dims: Vec<String>,
    pub(super) dtype: DType,
}

const TENSOR: &str = "Tensor(";

/// Most dimensions of a shape.
const MOST_DIMS: usize = crate::text_limits::RANK;

/// What a text says of the result at a position; `None` where it says nothing.
pub(super) fn meta(text: &str, position: u32) -> Option<Meta> {
    let mut starts = text.match_indices(TENSOR).map(|(at, _)| at);
    let Some(first) = starts.next() else {
        return scalar(text.trim());
    };
    let others: Vec<usize> = starts.collect();
    let at = match position.checked_sub(1).map(|before| others.get(before as usize)) {
        // A result of several may have its tensor alone.
        None | Some(None) if others.is_empty() || position == 0 => first,
        Some(Some(at)) => *at,
        _ => return None,
    };
    let end = others.iter().copied().find(|other| *other > at).unwrap_or(text.len());
    let tensor = &text[at + TENSOR.len()..end];
    Some(Meta {
        dims: shape(tensor)?,
        dtype: dtype(tensor),
    })
}

/// A number of Python: `8`, `s0`, `2*s0 + 1`, `SymInt(s0)`, `True`.
fn scalar(text: &str) -> Option<Meta> {
    let is_number = |letter: char| letter.is_ascii_alphanumeric() || " _+-*/%().,".contains(letter);
    let is_scalar = !text.is_empty() && text != "None" && text.chars().all(is_number);
    is_scalar.then(|| Meta {
        dims: Vec::new(),
        dtype: DType::Unknown,
    })
}

fn dtype(tensor: &str) -> DType {
    let Some((_, name)) = tensor.split_once("dtype=torch.") else {
        return DType::Unknown;
    };
    let end = name.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    DType::from_name(&name[..end.unwrap_or(name.len())]).unwrap_or(DType::Unknown)
}

fn shape(tensor: &str) -> Option<Vec<String>> {
    const STARTS: [&str; 5] = ["torch.Size([", "shape=[", "shape=(", "size=(", "size=["];
    let found = STARTS
        .iter()
        .filter_map(|start| Some(tensor.find(start)? + start.len()));
    let rest = &tensor[found.min()?..];
    let (mut depth, mut from, mut dims) = (0_u32, 0, Vec::new());
    for (at, letter) in rest.char_indices() {
        let is_end = depth == 0 && matches!(letter, ']' | ')');
        if is_end || depth == 0 && letter == ',' {
            let dim = rest[from..at].trim();
            if !dim.is_empty() {
                dims.push(dim.to_owned());
            }
            from = at + letter.len_utf8();
        }
        match letter {
            _ if is_end => return (dims.len() <= MOST_DIMS).then_some(dims),
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, position: u32, expected: Option<(&[&str], DType)>) {
        let expected = expected.map(|(dims, dtype)| Meta {
            dims: dims.iter().map(|dim| (*dim).to_owned()).collect(),
            dtype,
        });
        assert_eq!(meta(text, position), expected, "{text}");
    }

    #[test]
    fn shapes_and_types_of_python_are_read_in_all_their_forms() {
        let (float, half, long) = (DType::Float32, DType::Float16, DType::Int64);
        check(
            "Tensor(dtype=torch.float32, shape=torch.Size([8, 1024])",
            0,
            Some((&["8", "1024"], float)),
        );
        check(
            "Tensor(dtype=torch.float32, shape=torch.Size([8, 1024]))",
            0,
            Some((&["8", "1024"], float)),
        );
        // The second result of an op, with its own note.
        check(
            "Tensor(dtype=torch.float16, shape=torch.Size([s0, Max(1, 2*s1)])",
            1,
            Some((&["s0", "Max(1, 2*s1)"], half)),
        );
        check("Tensor(dtype=torch.int64, shape=torch.Size([])", 0, Some((&[], long)));
        check(
            "FakeTensor(..., device='npu:0', size=(s0, 4), dtype=torch.int64)",
            0,
            Some((&["s0", "4"], long)),
        );
        let two =
            "(Tensor(dtype=torch.float32, shape=torch.Size([2])), Tensor(dtype=torch.int64, shape=torch.Size([3])))";
        check(two, 0, Some((&["2"], float)));
        check(two, 1, Some((&["3"], long)));
        check(two, 2, None);
        for number in ["s0", "8", "2*s0 + 1", "SymInt(u0)", "True", "1.5"] {
            check(number, 0, Some((&[], DType::Unknown)));
        }
        for nothing in [
            "",
            "None",
            "Tensor(dtype=torch.float32",
            "Tensor(shape=torch.Size([1, ",
            "<object at 0x1>",
        ] {
            check(nothing, 0, None);
        }
        check(
            "Tensor(dtype=torch.complex9, shape=torch.Size([1])",
            0,
            Some((&["1"], DType::Unknown)),
        );
    }
}
