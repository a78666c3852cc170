//! A form on a node: names of dimensions are bound to the inputs' sizes, then the outputs' sizes are computed.

use highwater_model::graph::{DType, Dim, DimOp};

use super::parse::{Attr, Expr, Form, Guard, Item, Pattern, Shape, Size, Subject, Type};
use crate::element_types::ONNX;
use crate::shape::call::Call;
use crate::shape::fact::Num;

/// Sizes by name, and the dimensions that `*` holds.
#[derive(Default)]
struct Bound {
    names: Vec<(&'static str, Dim)>,
    rest: Vec<Dim>,
}

/// Types of the first alternative whose guards hold, shapes of the first that fits the inputs' ranks too.
pub(super) fn apply(forms: &[Form], call: &mut Call<'_>) -> Option<()> {
    let mut has_types = false;
    for form in forms {
        if !form.guards.iter().all(|guard| holds(guard, call)) {
            continue;
        }
        let bound = bind(&form.patterns, call);
        if !has_types || bound.is_some() {
            for (output, stated) in form.outputs.iter().enumerate() {
                let dtype = dtype(&stated.dtype, call);
                call.set_dtype(output, dtype);
            }
            has_types = true;
        }
        if let Some(bound) = bound {
            for (output, stated) in form.outputs.iter().enumerate() {
                shape(&stated.shape, output, &bound, call);
            }
            return Some(());
        }
    }
    None
}

fn holds(guard: &Guard, call: &Call<'_>) -> bool {
    let is_given = match &guard.subject {
        Subject::Input(input) => call.has(*input),
        // A list or a text is given, whatever it holds.
        Subject::Attribute(attr) => match number(attr, call) {
            Some(number) => number != 0,
            None => attr.element.is_none() && call.has_attr(attr.name),
        },
    };
    is_given != guard.is_not
}

fn number(attr: &Attr, call: &Call<'_>) -> Option<i64> {
    let given = match attr.element {
        Some(element) => call.list(attr.name).and_then(|list| list.get(element)).copied(),
        None => call.int(attr.name),
    };
    given.or(attr.default)
}

fn dtype(stated: &Type, call: &Call<'_>) -> DType {
    match stated {
        Type::Inputs(inputs) => {
            let given = inputs.iter().find(|input| call.has(**input));
            given.map_or(DType::Unknown, |input| call.dtype(*input))
        }
        Type::Is(dtype) => *dtype,
        Type::Code(attr) => number(attr, call).map_or(DType::Unknown, |code| ONNX.of_code(code)),
        Type::Unknown => DType::Unknown,
    }
}

/// `None` where an input has another number of dimensions, or one that is not known.
fn bind(patterns: &[Pattern], call: &Call<'_>) -> Option<Bound> {
    let mut bound = Bound::default();
    for pattern in patterns {
        if !call.has(pattern.input) {
            if !pattern.is_optional {
                return None;
            }
            for item in &pattern.items {
                if let Item::Name(name, Some(default)) = item {
                    bound.name(name, Num::Int(*default).dim());
                }
            }
            continue;
        }
        let Some(dims) = call.dims(pattern.input) else {
            if pattern.is_optional {
                continue;
            }
            return None;
        };
        bound.dims(&pattern.items, &dims)?;
    }
    Some(bound)
}

impl Bound {
    fn dims(&mut self, items: &[Item], dims: &[Dim]) -> Option<()> {
        let is_open = |item: &Item| matches!(item, Item::Rest | Item::Ignored);
        let open = items.iter().position(is_open);
        let n_open = match open {
            Some(_) => (dims.len() + 1).checked_sub(items.len())?,
            None if items.len() == dims.len() => 0,
            None => return None,
        };
        for (position, item) in items.iter().enumerate() {
            let shift = if open.is_some_and(|open| position > open) {
                n_open
            } else {
                1
            };
            let at = position + shift - 1;
            match item {
                Item::Rest => self.rest = dims.get(at..at + n_open)?.to_vec(),
                Item::Name(name, _) => self.name(name, *dims.get(at)?),
                Item::Size(size) => match dims.get(at)? {
                    Dim::Known(known) if u64::try_from(*size) != Ok(*known) => return None,
                    _ => {}
                },
                Item::Any | Item::Ignored => {}
            }
        }
        Some(())
    }

    /// Two sizes of one name agree in any valid model: a number says more than an expression, and that more than nothing.
    fn name(&mut self, name: &'static str, dim: Dim) {
        let known = self.names.iter_mut().find(|(other, _)| *other == name);
        match (known, dim) {
            (None, _) => self.names.push((name, dim)),
            (Some((_, known)), Dim::Known(_)) => *known = dim,
            (Some((_, known)), _) if *known == Dim::Unknown => *known = dim,
            _ => {}
        }
    }
}

fn shape(stated: &Shape, output: usize, bound: &Bound, call: &mut Call<'_>) -> Option<()> {
    let dims = match stated {
        Shape::Unstated => return None,
        Shape::Like(input) => return call.like(output, *input),
        Shape::Listed(input) => call.listed_dims(*input)?,
        Shape::Broadcast(inputs) => {
            let (first, others) = inputs.split_first()?;
            let mut dims = call.dims(*first)?;
            for input in others {
                let other = call.dims(*input)?;
                dims = call.sym.broadcast(&dims, &other);
            }
            dims
        }
        Shape::Dims(sizes) => {
            let mut dims = Vec::with_capacity(sizes.len());
            for size in sizes {
                match size {
                    Size::Rest => dims.extend_from_slice(&bound.rest),
                    Size::Is(expr) => dims.push(value(expr, bound, call).map_or(Dim::Unknown, Num::dim)),
                }
            }
            dims
        }
    };
    call.out(output, &dims)
}

fn value(expr: &Expr, bound: &Bound, call: &mut Call<'_>) -> Option<Num> {
    match expr {
        Expr::Unknown => None,
        Expr::Int(value) => Some(Num::Int(*value)),
        Expr::Name(name) => {
            let named = bound.names.iter().find(|(other, _)| other == name)?;
            Num::of(named.1)
        }
        Expr::Attribute(attr) => number(attr, call).map(Num::Int),
        Expr::Element(input, element) => call.value(*input)?.items.get(*element)?.num(),
        Expr::Count(input) => {
            let dims = call.dims(*input)?;
            call.sym.product(&dims)
        }
        Expr::Rank(input) => i64::try_from(call.dims(*input)?.len()).ok().map(Num::Int),
        Expr::Op(op, left, right) => {
            let (left, right) = (value(left, bound, call)?, value(right, bound, call)?);
            let is_division = matches!(op, DimOp::FloorDiv | DimOp::CeilDiv);
            if is_division && right == Num::Int(0) {
                return None;
            }
            call.sym.op(*op, Some(left), Some(right))
        }
    }
}
