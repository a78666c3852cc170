//! Types and shapes of values: `<Tensor[Float32], (8, 3)>`, `<Tuple[Tensor[Float32]*2], TupleShape((8), (3))>`.
//!
//! A value may be a tuple of tensors; it becomes the list of its leaves. What takes no memory of the device (monads,
//! functions, texts, `None`) keeps its place and has no type.

use highwater_model::graph::{DType, Dim};

/// Most leaves of a value: tuples of all parameters of a large net have some ten thousands.
const MOST_LEAVES: usize = 1 << 20;

const MOST_DEPTH: u32 = 32;

/// A tensor, or a number that counts as one.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::mindspore) struct Leaf {
    /// `None` where it takes no memory.
    pub(in crate::mindspore) dtype: Option<DType>,
    /// `None` where the number of dimensions is unknown.
    pub(in crate::mindspore) dims: Option<Vec<Dim>>,
    /// The parameter whose memory it is.
    pub(in crate::mindspore) reference: Option<String>,
}

/// The letters outside of quotes, with their places.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.char_indices().filter(move |(_, letter)| {
        if is_quoted {
            is_quoted = *letter != '"' || is_escaped;
            is_escaped = *letter == '\\' && !is_escaped;
            return false;
        }
        is_quoted = *letter == '"';
        !is_quoted
    })
}

/// The parts of a text between brackets, divided by commas outside of all brackets and quotes.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0_u32, 0, Vec::new());
    for (at, letter) in unquoted(text) {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = text[from..].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

/// The position of the bracket that closes the one before `text`.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, letter) in unquoted(text) {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The leaves of `<TYPE, SHAPE, ...>`; one of unknown type and shape where it is `<null>` or cannot be read.
pub(super) fn leaves(text: &str) -> Vec<Leaf> {
    let unknown = Leaf {
        dtype: Some(DType::Unknown),
        dims: None,
        reference: None,
    };
    let Some(inside) = text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
        return vec![unknown];
    };
    let fields = parts(inside);
    let Some(kind) = fields.first().filter(|kind| **kind != "null") else {
        return vec![unknown];
    };
    let (mut types, mut shapes) = (Vec::new(), Vec::new());
    if !add_types(kind, 0, &mut types) {
        return vec![unknown];
    }
    let is_whole = fields.get(1).is_some_and(|shape| add_shapes(shape, 0, &mut shapes)) && shapes.len() == types.len();
    let reference = fields.iter().find_map(|field| field.strip_prefix("ref_key="));
    let is_reference = kind.starts_with("Ref[");
    let with_shape = |(at, dtype): (usize, Option<DType>)| Leaf {
        dtype,
        dims: if is_whole { shapes[at].clone() } else { None },
        reference: reference.filter(|_| is_reference).map(str::to_owned),
    };
    types.into_iter().enumerate().map(with_shape).collect()
}

/// Of a tuple: the number of leaves of each of its elements; empty where it is none.
pub(super) fn elements(text: &str) -> Vec<usize> {
    let inside = text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let kind = inside.and_then(|inside| parts(inside).first().copied());
    let Some(("Tuple" | "List", inside)) = kind.and_then(bracketed) else {
        return Vec::new();
    };
    let mut elements = Vec::new();
    for part in parts(inside).into_iter().filter(|part| !part.is_empty()) {
        let (one, times) = repeated(part);
        let mut types = Vec::new();
        if !add_types(one, 0, &mut types) || elements.len().saturating_add(times) > MOST_LEAVES {
            return Vec::new();
        }
        elements.resize(elements.len() + times, types.len());
    }
    elements
}

/// A type and how often it follows: `Tensor[Float32]*5`.
fn repeated(text: &str) -> (&str, usize) {
    match text
        .rsplit_once('*')
        .map(|(part, times)| (part, times.parse::<usize>()))
    {
        Some((part, Ok(times))) => (part, times),
        _ => (text, 1),
    }
}

/// `Name[inside]`.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('[')?;
    Some((name, rest.strip_suffix(']')?))
}

/// Adds the types of a type's leaves; whether it can be read.
fn add_types(text: &str, depth: u32, types: &mut Vec<Option<DType>>) -> bool {
    if depth > MOST_DEPTH || types.len() > MOST_LEAVES {
        return false;
    }
    match bracketed(text) {
        Some(("Ref", inside)) => add_types(inside, depth + 1, types),
        Some(("Tensor", inside)) => {
            types.push(Some(dtype(inside)));
            true
        }
        Some(("Tuple" | "List", inside)) => parts(inside).into_iter().filter(|part| !part.is_empty()).all(|part| {
            let (part, times) = repeated(part);
            let before = types.len();
            if !add_types(part, depth + 1, types) {
                return false;
            }
            let one: Vec<Option<DType>> = types[before..].to_vec();
            let is_small = one.len().saturating_mul(times) <= MOST_LEAVES;
            (1..times).filter(|_| is_small).for_each(|_| types.extend(&one));
            is_small
        }),
        _ => {
            let dtype = dtype(text);
            types.push(Some(dtype).filter(|dtype| *dtype != DType::Unknown));
            true
        }
    }
}

/// `Float32`, `BFloat16`, `Bool`: the names of `MindSpore` in small letters are those of the model.
fn dtype(name: &str) -> DType {
    DType::from_name(&name.to_ascii_lowercase()).unwrap_or(DType::Unknown)
}

/// Adds the shapes of a shape's leaves; whether it can be read.
fn add_shapes(text: &str, depth: u32, shapes: &mut Vec<Option<Vec<Dim>>>) -> bool {
    if depth > MOST_DEPTH || shapes.len() > MOST_LEAVES {
        return false;
    }
    if text == "NoShape" {
        shapes.push(Some(Vec::new()));
        return true;
    }
    let Some((name, inside)) = text
        .split_once('(')
        .and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?)))
    else {
        return false;
    };
    if matches!(name, "TupleShape" | "ListShape") {
        return parts(inside)
            .into_iter()
            .filter(|part| !part.is_empty())
            .all(|part| add_shapes(part, depth + 1, shapes));
    }
    let numbers: Option<Vec<i64>> = parts(inside).into_iter().map(|dim| dim.parse().ok()).collect();
    let is_read = name.is_empty()
        && numbers
            .as_ref()
            .is_some_and(|dims| dims.len() <= crate::text_limits::RANK);
    shapes.push(numbers.filter(|dims| is_read && !dims.contains(&ANY_RANK)).map(|dims| {
        let dims = dims.into_iter();
        dims.map(|dim| u64::try_from(dim).map_or(Dim::Unknown, Dim::Known))
            .collect()
    }));
    is_read
}

/// Type and shape on the device: `<Float16xNC1HWC0[const vector]{8, 1, 32, 32, 16}>`; `None` where they are not stated.
pub(super) fn on_device(text: &str) -> Option<(DType, Vec<Dim>)> {
    let inside = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    // Names of types may have the letter that divides, too.
    let mut types = inside.match_indices('x').map(|(at, _)| dtype(&inside[..at]));
    let dtype = types.find(|dtype| *dtype != DType::Unknown)?;
    let (_, dims) = inside.strip_suffix(['}', ']'])?.rsplit_once(['{', '['])?;
    let mut shapes = Vec::new();
    add_shapes(&format!("({dims})"), 0, &mut shapes).then_some(())?;
    Some((dtype, shapes.pop()??))
}

/// A dimension that means any number of dimensions.
pub(in crate::mindspore) const ANY_RANK: i64 = -2;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let dim = |dim: &Dim| match dim {
            Dim::Known(size) => size.to_string(),
            _ => "?".to_owned(),
        };
        let shown = leaves(text).into_iter().map(|leaf| {
            let dims = leaf
                .dims
                .map(|dims| dims.iter().map(dim).collect::<Vec<String>>().join("x"));
            let dtype = leaf.dtype.map_or("-", DType::name);
            let reference = leaf.reference.map_or(String::new(), |key| format!(" of {key}"));
            format!("{dtype} {}{reference}", dims.unwrap_or_else(|| "unknown".to_owned()))
        });
        shown.collect()
    }

    #[test]
    fn values_are_lists_of_tensors() {
        for (text, expected) in [
            ("<Tensor[Float32], (8, 3)>", &["float32 8x3"][..]),
            ("<Tensor[BFloat16], ()>", &["bfloat16 "]),
            ("<Tensor[Int8], (-1, 3)>", &["int8 ?x3"]),
            ("<Tensor[Int8], (-2)>", &["int8 unknown"]),
            (
                "<Ref[Tensor[Float32]], (16), ref_key=a.b, is_parameter>",
                &["float32 16 of a.b"],
            ),
            (
                "<Tuple[Tensor[Float32]*2,Tensor[Int32]], TupleShape((8), (3), ())>",
                &["float32 8", "float32 3", "int32 "],
            ),
            (
                "<Tuple[Tuple[Int64*2],Tensor[Bool]], TupleShape(TupleShape(NoShape, NoShape), (2))>",
                &["int64 ", "int64 ", "bool 2"],
            ),
            ("<UMonad, NoShape>", &["- "]),
            ("<Tuple[], TupleShape()>", &[]),
            ("<null>", &["unknown unknown"]),
            (
                "<Tuple[Tensor[Float32]*9999999], TupleShape((8))>",
                &["unknown unknown"],
            ),
            ("<Tensor[Float32], what>", &["float32 unknown"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn types_and_shapes_on_the_device_are_read() {
        let known = |sizes: &[u64]| sizes.iter().map(|size| Dim::Known(*size)).collect::<Vec<Dim>>();
        let half = "<Float16xNC1HWC0[const vector]{8, 1, 4, 4, 16}>";
        assert_eq!(on_device(half), Some((DType::Float16, known(&[8, 1, 4, 4, 16]))));
        assert_eq!(
            on_device("<Complex64xDefaultFormat[2]>"),
            Some((DType::Complex64, known(&[2])))
        );
        assert_eq!(
            on_device("<BoolxDefaultFormat[const vector]{}>"),
            Some((DType::Bool, Vec::new()))
        );
        for text in [
            "<UnknownxDefaultFormat[const vector]{16}>",
            "<Float32>",
            "Tensor",
            "<Float32xND{a}>",
        ] {
            assert_eq!(on_device(text), None, "{text}");
        }
    }

    #[test]
    fn elements_of_a_tuple_are_counted_by_their_leaves() {
        assert_eq!(
            elements("<Tuple[Tensor[Float32]*2,Tuple[Int64*3]], TupleShape(...)>"),
            [1, 1, 3]
        );
        assert_eq!(elements("<Tensor[Float32], (1)>"), Vec::<usize>::new());
        assert_eq!(
            elements("<Tuple[Tensor[Float32]*99999999], TupleShape()>"),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn parts_are_divided_outside_of_brackets_and_quotes() {
        assert_eq!(
            parts("%1, Tensor(shape=[2, 3], v=[...]), \"a, \\\" (b\", (1, 2)").len(),
            4
        );
        assert_eq!(parts(""), Vec::<&str>::new());
        assert_eq!(closing("a(b)\")\", c) rest"), Some(10));
        assert_eq!(closing("a(b"), None);
    }
}
