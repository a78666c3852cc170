//! Ops that make tensors: equal elements, ranges, sizes of others.

use super::attribute::TensorInfo;
use super::call::Call;
use super::fact::{Elem, MAX_ELEMENTS, Num, Value};
use super::value::known;
use highwater_model::graph::{Dim, DimOp};

/// A tensor that the file holds.
pub(crate) fn constant(call: &mut Call<'_>, tensor: &TensorInfo) -> Option<()> {
    call.out(0, &tensor.dims()?);
    call.add_value(0, tensor.value()?)
}

/// One element everywhere.
pub(crate) fn fill(call: &mut Call<'_>, dims: &[Dim], item: Option<Elem>) -> Option<()> {
    call.out(0, dims);
    let sizes = known(dims)?;
    let count = sizes
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    if count <= MAX_ELEMENTS {
        let items = vec![item?; count];
        call.add_value(0, Value { dims: sizes, items });
    }
    Some(())
}

/// As many elements as steps fit between start and limit (inputs 0 to 2: start, limit, step, else 1).
pub(crate) fn range(call: &mut Call<'_>) -> Option<()> {
    call.out_rank(1);
    let item = |input: usize| call.value(input)?.items.first().copied();
    let step = if call.has(2) { item(2)? } else { Elem::int(1) };
    let items = [item(0)?, item(1)?, step];
    let [Some(start), Some(limit), Some(Num::Int(step))] = items.map(Elem::num) else {
        return float_range(call, items);
    };
    if step == 0 {
        return None;
    }
    let (from, to) = if step > 0 { (start, limit) } else { (limit, start) };
    let span = call.sym.op(DimOp::Sub, Some(to), Some(from));
    let span = call.sym.op(DimOp::Max, span, Some(Num::Int(0)));
    let count = call.sym.op(DimOp::CeilDiv, span, step.checked_abs().map(Num::Int))?;
    call.out(0, &[count.dim()]);
    if let (Num::Int(start), Num::Int(count @ 0..=1024)) = (start, count) {
        let items: Option<Vec<Elem>> = (0..count)
            .map(|turn| turn.checked_mul(step)?.checked_add(start).map(Elem::int))
            .collect();
        call.add_value(0, Value::vector(items?));
    }
    Some(())
}

fn float_range(call: &mut Call<'_>, [start, limit, delta]: [Elem; 3]) -> Option<()> {
    let float = |item: Elem| match item {
        Elem::Float(value) => Some(value),
        #[expect(clippy::cast_precision_loss, reason = "the op computes in floats")]
        Elem::Num(Num::Int(value)) => Some(value as f64),
        _ => None,
    };
    let count = ((float(limit)? - float(start)?) / float(delta)?).ceil().max(0.0);
    let dim = Elem::float(count).dim();
    call.out(0, &[dim])
}

pub(crate) fn size(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let dims = call.dims(0)?;
    let count = call.sym.product(&dims);
    call.add_value(0, Value::scalar(count.into()))
}
