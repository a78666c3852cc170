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

use self::Law::{Axis, Broadcast, Check, Equal, Into, Matrices, Multiple, Rank, SameRank};
use self::Size::{Dim, Times};
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
    /// A size is a multiple of a power of an attribute.
    Multiple(Size, &'static str, u32),
    /// An attribute names an axis of an input; so many more than it has are allowed.
    Axis(&'static str, usize, usize),
    Check(fn(&Call<'_>) -> Option<String>),
}

const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];

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
    ("", &["MatMul", "MatMulInteger"], &[Matrices(0, 1)]),
    ("", &["QLinearMatMul"], &[Matrices(0, 3)]),
    ("", &["Gemm"], &[Rank(0, 2), Rank(1, 2), Check(sizes::gemm)]),
    ("", &["Einsum"], &[Check(sizes::einsum)]),
    ("", &["Conv"], CONV),
    ("", &["ConvInteger"], CONV_WITHOUT_BIAS),
    ("com.microsoft", &["FusedConv"], CONV),
    ("", &["QLinearConv"], &[
        SameRank(0, 3), Equal(Dim(0, 1), Times(3, 1, "group")), Equal(Dim(8, 0), Dim(3, 0)), Multiple(Dim(3, 0), "group", 1),
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
        Equal(Dim(0, 2), Dim(1, 2)), Equal(Dim(1, 1), Dim(2, 1)), Equal(Dim(1, 0), Dim(2, 0)),
    ]),
    ("", &["Concat"], &[Axis("axis", 0, 0), Check(axes::concat)]),
    ("", &["Split"], &[Axis("axis", 0, 0), Check(axes::split)]),
    ("", &["Transpose"], &[Check(axes::transpose)]),
    ("", &["Gather"], &[Axis("axis", 0, 0), Check(axes::gather)]),
    ("", &["GatherElements"], &[Axis("axis", 0, 0), SameRank(0, 1)]),
    ("", &["ScatterElements"], &[Axis("axis", 0, 0), SameRank(0, 1), SameRank(1, 2)]),
    ("", &["GatherND"], &[Check(axes::gather_nd)]),
    ("", &["Squeeze"], &[Check(axes::squeeze)]),
    ("", &["Unsqueeze"], &[Check(axes::unsqueeze)]),
    ("", &["Slice"], &[Check(|call| axes::in_range(call, "axes", 3)), Check(axes::slice)]),
    ("", &["TopK"], &[Axis("axis", 0, 0), Check(axes::top_k)]),
    ("", &["Resize"], &[Check(axes::resize)]),
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
            Multiple(size, attribute, power) => {
                let (size, of) = (size.of(call)?, u64::try_from(call.int(attribute)?).ok()?);
                let of = of.checked_pow(power).filter(|of| *of > 0)?;
                let fits = size.is_multiple_of(of);
                (!fits).then(|| format!("a size and what has to divide it ({attribute}): {size} against {of}"))
            }
            Axis(name, input, more) => {
                let at = call.int(name)?;
                axes::out_of_range(at, call.dims(input)?.len() + more)
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
