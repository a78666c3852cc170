//! Sizes that contradict each other, so that the model cannot run: a table of laws, one row per family of ops.
//!
//! In: an op with what is known of its inputs. Out: what contradicts what. Only known numbers count: symbols may be equal.
//! The shape of the result is that of the rules, whatever is found here. Sources: the schemas of onnx 1.23.2, and what
//! onnxruntime 1.32.0 refuses.

mod axes;
mod sizes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::Law::{
    Axis, Broadcast, Check, Equal, Fixed, Into, Matrices, Multiple, PerElement, Rank, SameRank, SameShape, WhenRank,
};
use self::Size::{Along, Dim, Times, Twice};
use crate::shape::call::Call;
use highwater_model::graph;

/// A contradiction: what has to agree, and both sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::onnx) struct Conflict {
    /// Such as `the inner sizes of a product: 300 against 256`.
    pub(in crate::onnx) what: String,
    /// The shapes of the inputs.
    pub(in crate::onnx) shapes: String,
}

/// A size of an op; axes may count from the end.
#[derive(Clone, Copy)]
pub(super) enum Size {
    /// Of an input, along an axis.
    Dim(usize, i64),
    /// The same, as many times as an attribute says (once without it).
    Times(usize, i64, &'static str),
    /// Twice such a size.
    Twice(usize, i64),
    /// Of an input, along the axis that an attribute names, or else this one.
    Along(usize, &'static str, i64),
}

#[derive(Clone, Copy)]
pub(super) enum Law {
    /// These inputs broadcast against each other.
    Broadcast(&'static [usize]),
    /// The second input broadcasts to the shape of the first.
    Into(usize, usize),
    /// The inner sizes of the product of two inputs.
    Matrices(usize, usize),
    Equal(Size, Size),
    /// The number of dimensions of an input.
    Rank(usize, usize),
    /// Two inputs have the same number of dimensions.
    SameRank(usize, usize),
    /// Two inputs have the same shape.
    SameShape(usize, usize),
    /// A size is this one.
    Fixed(Size, u64),
    /// A vector has one element, or one for each element along an axis of another input.
    PerElement(usize, usize, i64),
    /// Laws for inputs of which one has so many dimensions.
    WhenRank(usize, usize, &'static [Self]),
    /// A size is a multiple of a power of an attribute.
    Multiple(Size, &'static str, u32),
    /// An attribute names an axis of an input; so many more than it has are allowed.
    Axis(&'static str, usize, usize),
    Check(fn(&Call<'_>) -> Option<String>),
}

const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];

/// Of queries, keys and values with an axis of heads, and of those of earlier calls.
const HEADS: &[Law] = &[
    Equal(Dim(0, 3), Dim(1, 3)),
    Equal(Dim(1, 2), Dim(2, 2)),
    Equal(Dim(4, 1), Dim(1, 1)),
    Equal(Dim(4, 3), Dim(1, 3)),
    Equal(Dim(5, 3), Dim(2, 3)),
];
const CONV_WITHOUT_BIAS: &[Law] = &[
    SameRank(0, 1),
    Equal(Dim(0, 1), Times(1, 1, "group")),
    Multiple(Dim(1, 0), "group", 1),
    Check(|call| sizes::kernel(call, 1)),
    Check(|call| sizes::window(call, Some(1))),
];
const CONV: &[Law] = &[
    SameRank(0, 1),
    Equal(Dim(0, 1), Times(1, 1, "group")),
    Equal(Dim(2, 0), Dim(1, 0)),
    Multiple(Dim(1, 0), "group", 1),
    Check(|call| sizes::kernel(call, 1)),
    Check(|call| sizes::window(call, Some(1))),
];

#[rustfmt::skip]
static LAWS: &[(&str, &[&str], &[Law])] = &[
    ("", &[
        "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
        "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow", "StringConcat", "Sub", "Sum", "Where", "Xor",
    ], &[Broadcast(ALL)]),
    ("", &["PRelu"], &[Into(0, 1)]),
    ("", &["Expand"], &[Check(sizes::expand)]),
    ("", &["Reshape"], &[Check(sizes::reshape)]),
    ("", &["MatMul"], &[Matrices(0, 1)]),
    ("", &["MatMulInteger"], &[Matrices(0, 1), PerElement(2, 0, -2), PerElement(3, 1, -1)]),
    ("", &["QLinearMatMul"], &[Matrices(0, 3), PerElement(4, 3, -1), PerElement(5, 3, -1)]),
    ("", &["Attention"], &[
        Equal(Dim(0, 0), Dim(1, 0)), Equal(Dim(0, 0), Dim(2, 0)), Equal(Dim(1, 1), Dim(2, 1)), WhenRank(0, 4, HEADS),
        Equal(Dim(4, 2), Dim(5, 2)),
    ]),
    ("", &["RotaryEmbedding"], &[SameShape(1, 2)]),
    ("", &["GridSample"], &[SameRank(0, 1), Equal(Dim(0, 0), Dim(1, 0)), Check(axes::grid)]),
    ("", &["NonMaxSuppression"], &[
        Equal(Dim(0, 0), Dim(1, 0)), Equal(Dim(0, 1), Dim(1, 2)), Fixed(Dim(0, 2), 4),
    ]),
    ("", &["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"], &[
        Equal(Dim(0, 0), Dim(1, 0)), Equal(Dim(0, 2), Dim(1, 1)), Equal(Dim(0, 3), Dim(1, 2)), Equal(Dim(0, 4), Dim(1, 3)),
    ]),
    ("", &["MaxUnpool"], &[SameShape(0, 1)]),
    ("", &["Det"], &[Equal(Dim(0, -2), Dim(0, -1))]),
    ("", &["ReverseSequence"], &[Equal(Dim(1, 0), Along(0, "batch_axis", 1))]),
    ("", &["GroupNormalization"], &[Equal(Dim(1, 0), Dim(2, 0)), Multiple(Dim(0, 1), "num_groups", 1)]),
    ("", &["TensorScatter"], &[SameRank(0, 1), Equal(Dim(0, 0), Dim(1, 0)), Equal(Dim(0, -1), Dim(1, -1))]),
    ("", &["Gemm"], &[Rank(0, 2), Rank(1, 2), Check(sizes::gemm)]),
    ("", &["Einsum"], &[Check(sizes::einsum)]),
    ("", &["Conv"], CONV),
    ("", &["ConvInteger"], CONV_WITHOUT_BIAS),
    ("com.microsoft", &["FusedConv"], CONV),
    ("", &["QLinearConv"], &[
        SameRank(0, 3), Equal(Dim(0, 1), Times(3, 1, "group")), Equal(Dim(8, 0), Dim(3, 0)), Multiple(Dim(3, 0), "group", 1),
        PerElement(4, 3, 0), PerElement(5, 3, 0),
        Check(|call| sizes::kernel(call, 3)), Check(|call| sizes::window(call, Some(3))),
    ]),
    ("", &["AveragePool", "LpPool", "MaxPool"], &[Check(|call| sizes::window(call, None))]),
    ("", &["ConvTranspose"], &[
        SameRank(0, 1), Equal(Dim(0, 1), Dim(1, 0)), Equal(Dim(2, 0), Times(1, 1, "group")), Check(|call| sizes::kernel(call, 1)),
    ]),
    ("", &["DeformConv"], &[Equal(Dim(0, 1), Times(1, 1, "group"))]),
    ("", &["BatchNormalization"], &[
        Equal(Dim(0, 1), Dim(1, 0)), Equal(Dim(0, 1), Dim(2, 0)), Equal(Dim(0, 1), Dim(3, 0)), Equal(Dim(0, 1), Dim(4, 0)),
    ]),
    ("", &["InstanceNormalization"], &[Equal(Dim(0, 1), Dim(1, 0)), Equal(Dim(0, 1), Dim(2, 0))]),
    ("", &["LayerNormalization"], &[Axis("axis", 0, 0), Into(0, 1), Into(0, 2)]),
    ("", &["RMSNormalization"], &[Axis("axis", 0, 0), Into(0, 1)]),
    ("com.microsoft", &["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"], &[
        Equal(Dim(0, -1), Dim(1, -1)), Equal(Dim(0, -1), Dim(2, -1)),
    ]),
    ("com.microsoft", &["BiasGelu", "FastGelu"], &[Equal(Dim(0, -1), Dim(1, -1))]),
    ("com.microsoft", &["DynamicQuantizeMatMul", "MatMulIntegerToFloat"], &[Matrices(0, 1)]),
    ("", &["GRU", "LSTM", "RNN"], &[
        Equal(Dim(0, 2), Dim(1, 2)), Equal(Dim(1, 1), Dim(2, 1)), Equal(Dim(1, 0), Dim(2, 0)), Equal(Dim(3, 1), Twice(1, 1)),
        Equal(Dim(3, 0), Dim(1, 0)), Equal(Dim(5, 2), Dim(2, 2)),
    ]),
    ("", &["Concat"], &[Axis("axis", 0, 0), Check(axes::concat)]),
    ("", &["Split"], &[Axis("axis", 0, 0), Check(axes::split)]),
    ("", &["Transpose"], &[Check(axes::transpose)]),
    ("", &["Gather"], &[Axis("axis", 0, 0), Check(axes::gather)]),
    ("", &["GatherElements"], &[Axis("axis", 0, 0), SameRank(0, 1)]),
    ("", &["Scatter", "ScatterElements"], &[Axis("axis", 0, 0), SameRank(0, 1), SameShape(1, 2)]),
    ("", &["ScatterND"], &[Check(axes::scatter_nd)]),
    ("", &["GatherND"], &[Check(axes::gather_nd)]),
    ("", &["Squeeze"], &[Check(axes::squeeze)]),
    ("", &["Unsqueeze"], &[Check(axes::unsqueeze)]),
    ("", &["Slice"], &[Check(|call| axes::in_range(call, "axes", 3)), Check(axes::slice)]),
    ("", &["TopK"], &[Axis("axis", 0, 0), Check(axes::top_k)]),
    ("", &["Resize", "Upsample"], &[Check(axes::resize)]),
    ("", &["DequantizeLinear", "QuantizeLinear"], &[Check(axes::quantized)]),
    ("", &[
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
        "ReduceSum", "ReduceSumSquare",
    ], &[Check(|call| axes::in_range(call, "axes", 1))]),
    ("", &[
        "ArgMax", "ArgMin", "Compress", "CumProd", "CumSum", "Hardmax", "LogSoftmax", "Softmax", "Unique",
    ], &[Axis("axis", 0, 0)]),
    ("", &["Flatten"], &[Axis("axis", 0, 1)]),
    ("", &["Pad"], &[Check(|call| axes::listed(call, "pads", 1, 2))]),
    ("", &["Tile"], &[Check(axes::tile)]),
    ("", &["DepthToSpace"], &[Multiple(Dim(0, 1), "blocksize", 2)]),
    ("", &["SpaceToDepth"], &[Multiple(Dim(0, 2), "blocksize", 1), Multiple(Dim(0, 3), "blocksize", 1)]),
];

pub(super) type Laws = BTreeMap<(&'static str, &'static str), &'static [Law]>;

/// The table by operator set and op.
pub(super) fn laws() -> Laws {
    let rows = LAWS.iter();
    rows.flat_map(|(domain, kinds, laws)| kinds.iter().map(move |kind| ((*domain, *kind), *laws)))
        .collect()
}

/// The first contradiction of an op.
pub(super) fn find(laws: &Laws, domain: &str, call: &Call<'_>) -> Option<Conflict> {
    let laws = laws.get(&(domain, call.kind))?;
    let what = laws.iter().find_map(|law| law.broken(call))?;
    let shape = |input: usize| call.dims(input).map(|dims| call.sym.text(Some(&dims)));
    let shapes: Vec<String> = (0..call.inputs.len().min(ALL.len())).filter_map(shape).collect();
    Some(Conflict {
        what,
        shapes: shapes.join(" and "),
    })
}

impl Law {
    /// What contradicts what, where the law is broken.
    fn broken(self, call: &Call<'_>) -> Option<String> {
        match self {
            // Before operator set 7 an attribute states how shapes are aligned.
            Broadcast(_) | Into(..) if call.node.opset < 7 => None,
            Broadcast(inputs) => sizes::broadcast(call, inputs),
            Into(data, other) => sizes::into(call, data, other),
            Matrices(left, right) => sizes::product(&call.dims(left)?, &call.dims(right)?),
            Equal(one, other) => {
                let (a, b) = (one.of(call)?, other.of(call)?);
                (a != b).then(|| format!("sizes that have to be equal, such as channels: {a} against {b}"))
            }
            Rank(input, rank) => ranks(call.dims(input)?.len(), rank),
            SameRank(one, other) => ranks(call.dims(one)?.len(), call.dims(other)?.len()),
            SameShape(one, other) => {
                let (one, other) = (call.dims(one)?, call.dims(other)?);
                let pairs = one.iter().zip(&other);
                let differ = |(a, b): (&graph::Dim, &graph::Dim)| {
                    let (a, b) = (known(*a)?, known(*b)?);
                    (a != b).then(|| format!("sizes of two equal shapes: {a} against {b}"))
                };
                ranks(one.len(), other.len()).or_else(|| pairs.into_iter().find_map(differ))
            }
            Fixed(size, wanted) => {
                let size = size.of(call)?;
                (size != wanted).then(|| format!("a size that is fixed: {size} against {wanted}"))
            }
            PerElement(vector, data, at) => {
                let [vector] = call.dims(vector)?[..] else { return None };
                let (count, size) = (known(vector)?, Dim(data, at).of(call)?);
                (count != 1 && count != size)
                    .then(|| format!("a vector and the size of its axis: {count} against {size}"))
            }
            WhenRank(input, rank, laws) => {
                let applies = call.dims(input)?.len() == rank;
                laws.iter().filter(|_| applies).find_map(|law| law.broken(call))
            }
            Multiple(size, attribute, power) => {
                let (size, of) = (size.of(call)?, u64::try_from(call.int(attribute)?).ok()?);
                let of = of.checked_pow(power).filter(|of| *of > 0)?;
                let fits = size.is_multiple_of(of);
                (!fits).then(|| format!("a size and what has to divide it ({attribute}): {size} against {of}"))
            }
            Axis(name, input, more) => {
                let at = call.int(name)?;
                axes::out_of_range(at, call.dims(input)?.len(), more)
            }
            Check(check) => check(call),
        }
    }
}

fn ranks(one: usize, other: usize) -> Option<String> {
    (one != other).then(|| format!("numbers of dimensions: {one} against {other}"))
}

impl Size {
    fn of(self, call: &Call<'_>) -> Option<u64> {
        let (input, at, times) = match self {
            Dim(input, at) => (input, at, 1),
            Times(input, at, attribute) => (input, at, call.int_or(attribute, 1)),
            Twice(input, at) => (input, at, 2),
            Along(input, attribute, at) => (input, call.int_or(attribute, at), 1),
        };
        let dims = call.dims(input)?;
        let size = known(dims[crate::shape::sym::axis(at, dims.len())?])?;
        size.checked_mul(u64::try_from(times).ok()?)
    }
}

const fn known(dim: graph::Dim) -> Option<u64> {
    match dim {
        graph::Dim::Known(size) => Some(size),
        _ => None,
    }
}

/// The product of dimensions that are all known.
fn count(dims: &[graph::Dim]) -> Option<u64> {
    dims.iter()
        .try_fold(1_u64, |product, dim| product.checked_mul(known(*dim)?))
}
