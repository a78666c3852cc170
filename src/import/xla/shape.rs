//! Shapes of XLA: arrays, tuples of shapes, and values without bytes; read from text.
//!
//! ```text
//! f32[8,128]{1,0:T(8,128)S(1)}    element type, sizes, layout: tiles, memory space, bits per element (E)
//! s32[<=16]  f32[?,4]             a bound of a dynamic size; a size without bound
//! (f32[2]{0}, /*index=1*/s32[])   a tuple: a table of pointers (8 bytes each) and its elements
//! b(f32[4]{0})                    a buffer that is pinned: its array
//! token[]  opaque[]               order alone; a thing of the backend
//! ```
//!
//! Every node of a shape's tree has a number in pre-order: 0 is the whole, its elements follow, each with all below it.

use super::cursor::Cursor;
use super::layout::{Layout, Space};
use crate::element_types::XLA;
use crate::text_limits::{MODULE, RANK};
use highwater_model::graph::DType;

const DEPTH: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Known(u64),
    /// At most so many; memory is laid out for the bound.
    Bound(u64),
    /// The module does not state it.
    Free,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) dtype: DType,
    pub(super) sizes: Box<[Size]>,
    /// Bytes with all padding, where they differ from those of the elements.
    pub(super) padded: Option<u64>,
    pub(super) space: Space,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    Array(Array),
    /// A table of pointers to elements.
    Tuple(Box<[Self]>),
    /// No bytes.
    Token,
    /// Bytes that only the backend knows.
    #[default]
    Opaque,
}

/// Properties of a file's shapes beyond sizes, for diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShapeNotes {
    /// Arrays that their tiles pad.
    pub(super) padded: u64,
    /// Elements of less than a byte without a packed layout.
    pub(super) narrow: u64,
    /// Dynamic sizes with a bound.
    pub(super) bounded: u64,
}

/// Codes of shapes that are no arrays.
pub(super) const TUPLE: i64 = 13;
pub(super) const OPAQUE: i64 = 14;
pub(super) const TOKEN: i64 = 17;
/// A pinned buffer around an array.
pub(super) const BUFFER: i64 = 34;

impl Array {
    pub(super) fn new(dtype: DType, sizes: Box<[Size]>, layout: &Layout, notes: &mut ShapeNotes) -> Self {
        notes.narrow += u64::from((1..8).contains(&dtype.bits()) && dtype != DType::Float6 && layout.bits == 0);
        let mut array = Self {
            dtype,
            sizes,
            padded: None,
            space: layout.space,
        };
        let known = array.known_sizes().filter(|_| dtype.bits() > 0);
        array.padded = known.and_then(|known| {
            let bits = match (layout.bits, dtype) {
                // On CPUs an element of 6 bits takes a byte.
                (0, DType::Float6) => 8,
                (0, dtype) => u64::from(dtype.bits()),
                (bits, _) => bits,
            };
            let padded = u128::from(layout.elements(&known)) * u128::from(bits);
            let padded = u64::try_from(padded.div_ceil(8)).unwrap_or(u64::MAX);
            (array.bytes() != Some(padded)).then_some(padded)
        });
        notes.padded += u64::from(array.padded.is_some() && layout.is_tiled());
        array
    }

    fn known_sizes(&self) -> Option<Vec<u64>> {
        let sizes = self.sizes.iter().map(|size| match size {
            Size::Known(size) | Size::Bound(size) => Some(*size),
            Size::Free => None,
        });
        sizes.collect()
    }

    /// With all padding; `None` where a size is unknown.
    pub(super) fn bytes(&self) -> Option<u64> {
        let elements = || Some(self.known_sizes()?.into_iter().fold(1, u64::saturating_mul));
        self.padded.or_else(|| Some(self.dtype.bytes(elements()?)))
    }
}

impl Shape {
    /// The shapes of all nodes, by their numbers.
    pub(super) fn flat(&self) -> Vec<&Self> {
        let (mut flat, mut open) = (Vec::new(), vec![self]);
        while let Some(shape) = open.pop() {
            flat.push(shape);
            if let Self::Tuple(elements) = shape {
                open.extend(elements.iter().rev());
            }
        }
        flat
    }

    pub(super) fn element(&self, element: usize) -> Option<&Self> {
        match self {
            Self::Tuple(elements) => elements.get(element),
            _ => None,
        }
    }

    pub(super) fn nodes(&self) -> u32 {
        match self {
            Self::Tuple(elements) => elements
                .iter()
                .fold(1, |sum, element| element.nodes().saturating_add(sum)),
            _ => 1,
        }
    }

    /// The first nodes of a tuple's elements, and one more: behind the last. Empty where it is no tuple.
    pub(super) fn starts(&self) -> Box<[u32]> {
        let Self::Tuple(elements) = self else {
            return Box::default();
        };
        let mut starts = Vec::with_capacity(elements.len() + 1);
        let mut start = 1_u32;
        for element in elements {
            starts.push(start);
            start = start.saturating_add(element.nodes());
        }
        starts.push(start);
        starts.into()
    }

    /// The node at the end of a path of element positions. Linear in the positions.
    pub(super) fn node(&self, path: &[u64]) -> Option<u32> {
        let mut found = 0_u32;
        let mut shape = self;
        for index in path {
            let Self::Tuple(elements) = shape else { return None };
            let index = usize::try_from(*index).ok()?;
            shape = elements.get(index)?;
            let before = elements[..index].iter().map(Self::nodes);
            found = before.fold(found.saturating_add(1), u32::saturating_add);
        }
        Some(found)
    }

    /// Calls `visit` with the path and shape of every node, in the order of their numbers.
    pub(super) fn visit<E>(&self, visit: &mut impl FnMut(&[u32], &Self) -> Result<(), E>) -> Result<(), E> {
        self.visit_below(&mut Vec::new(), visit)
    }

    fn visit_below<E>(
        &self,
        path: &mut Vec<u32>,
        visit: &mut impl FnMut(&[u32], &Self) -> Result<(), E>,
    ) -> Result<(), E> {
        visit(path, self)?;
        if let Self::Tuple(elements) = self {
            for (index, element) in (0..).zip(elements) {
                path.push(index);
                element.visit_below(path, visit)?;
                path.pop();
            }
        }
        Ok(())
    }
}

/// A node's name: that of its instruction, with the path where the whole is a tuple.
pub(super) fn node_name(instruction: &str, path: &[u32], is_tuple: bool) -> String {
    if !is_tuple {
        return instruction.to_owned();
    }
    let path: Vec<String> = path.iter().map(u32::to_string).collect();
    format!("{instruction}{{{}}}", path.join(","))
}

/// Reads a shape from text.
///
/// # Errors
/// The fault in a few words.
pub(super) fn parse(cursor: &mut Cursor<'_>, notes: &mut ShapeNotes) -> Result<Shape, String> {
    parse_below(cursor, notes, DEPTH)
}

fn parse_below(cursor: &mut Cursor<'_>, notes: &mut ShapeNotes, depth: u32) -> Result<Shape, String> {
    cursor.skip_blanks();
    let is_pinned = cursor.rest().starts_with("b(");
    if !is_pinned && cursor.peek() != Some('(') {
        return parse_array(cursor, notes);
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("tuples are nested more than {DEPTH} deep"));
    };
    if is_pinned {
        cursor.eat('b');
    }
    cursor.eat('(');
    if is_pinned {
        let array = parse_below(cursor, notes, depth)?;
        cursor.skip_blanks();
        let ends = cursor.eat(')');
        return ends
            .then_some(array)
            .ok_or_else(|| "a buffer's shape lacks its end".to_owned());
    }
    let mut elements = Vec::new();
    loop {
        cursor.skip_blanks();
        if cursor.eat(')') {
            return Ok(Shape::Tuple(elements.into()));
        }
        if !elements.is_empty() && !cursor.eat(',') {
            return Err("a tuple's shape lacks a comma or its end".to_owned());
        }
        if let Some(what) = MODULE.many_fields(elements.len() + 1) {
            return Err(what);
        }
        elements.push(parse_below(cursor, notes, depth)?);
    }
}

fn parse_array(cursor: &mut Cursor<'_>, notes: &mut ShapeNotes) -> Result<Shape, String> {
    let name = cursor.word();
    if name.is_empty() || !cursor.eat('[') {
        return Err("a shape is expected, such as f32[8,128]{1,0}".to_owned());
    }
    let mut sizes = Vec::new();
    loop {
        cursor.skip_blanks();
        if cursor.eat(']') {
            break;
        }
        if !sizes.is_empty() && !cursor.eat(',') {
            return Err("the sizes of a shape lack a comma or their end".to_owned());
        }
        cursor.skip_blanks();
        if sizes.len() == RANK {
            return Err(format!("a shape has more than {RANK} dimensions, the limit"));
        }
        sizes.push(if cursor.eat('?') {
            Size::Free
        } else if cursor.eat('<') {
            notes.bounded += 1;
            let is_bound = cursor.eat('=');
            let bound = cursor.number().filter(|_| is_bound);
            Size::Bound(bound.ok_or("a bound is written <=N")?)
        } else {
            Size::Known(cursor.number().ok_or("a size is no number below 2^63")?)
        });
    }
    let layout = if cursor.peek() == Some('{') {
        cursor.balanced().ok_or("a layout does not end")?
    } else {
        ""
    };
    Ok(match name {
        "token" => Shape::Token,
        "opaque" => Shape::Opaque,
        _ => Shape::Array(Array::new(
            XLA.of_name(name),
            sizes.into(),
            &Layout::parse(layout),
            notes,
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Shape, String> {
        parse(&mut Cursor::new(text), &mut ShapeNotes::default())
    }

    #[test]
    fn shapes_are_read_with_layouts_and_tuples() {
        let array = |dtype, sizes: &[Size]| {
            let sizes = sizes.to_vec().into();
            Ok(Shape::Array(Array::new(
                dtype,
                sizes,
                &Layout::default(),
                &mut ShapeNotes::default(),
            )))
        };
        let known = |sizes: &[u64]| sizes.iter().map(|size| Size::Known(*size)).collect::<Vec<Size>>();
        assert_eq!(read("pred[]"), array(DType::Bool, &[]));
        assert_eq!(
            read("f32[8,128]{1,0:T(8,128)}"),
            array(DType::Float32, &known(&[8, 128]))
        );
        assert_eq!(read("b( f32[8]{0} )"), array(DType::Float32, &known(&[8])));
        assert_eq!(read("s32[<=8, ?]"), array(DType::Int32, &[Size::Bound(8), Size::Free]));
        assert_eq!(read("token[]"), Ok(Shape::Token));
        let tuple = read("(f32[2]{0}, (s4[3], token[]), /*index=2*/u8[])").expect("a shape");
        assert_eq!(tuple.nodes(), 6);
        assert_eq!(tuple.node(&[1, 1]), Some(4));
        assert_eq!(tuple.node(&[2]), Some(5));
        assert_eq!(tuple.node(&[1, 2]), None);
        assert_eq!(read("()"), Ok(Shape::Tuple(Box::new([]))));
        for bad in [
            "",
            "f32",
            "f32[",
            "f32[a]",
            "(f32[]",
            "f32[2]{1",
            "(f32[] s32[])",
            "b(f32[]",
            "f32[99999999999999999999]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&"(".repeat(100_000)).is_err());
    }
}
