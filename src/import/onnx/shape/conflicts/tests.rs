//! Pairs of shapes that run and that do not.

use std::rc::Rc;

use super::*;
use crate::names::Interner;
use crate::shape::attribute::{Attribute, Attributes};
use crate::shape::call::Node;
use crate::shape::fact::{Elem, Fact, Value};
use crate::shape::sym::Sym;

/// What is told of an op whose inputs have these shapes (`?` is a symbol); lists are values of inputs.
fn told(kind: &str, shapes: &[&[i64]], values: &[(usize, &[i64])], attributes: &[(&str, &[i64])]) -> Option<String> {
    let mut sym = Sym::new(0);
    let mut names = Interner::new();
    let symbol = graph::Dim::Expr(sym.exprs.symbol("n"));
    let mut inputs: Vec<Option<Fact>> = Vec::new();
    for shape in shapes {
        let dims: Vec<graph::Dim> = shape
            .iter()
            .map(|size| u64::try_from(*size).map_or(symbol, graph::Dim::Known))
            .collect();
        let shape = sym.shape(&dims);
        inputs.push(Some(Fact { shape, ..Fact::UNKNOWN }));
    }
    for (input, items) in values {
        let value = Value::vector(items.iter().copied().map(Elem::int).collect());
        if let Some(fact) = &mut inputs[*input] {
            fact.value = Some(Rc::new(value));
        }
    }
    let attribute = |items: &[i64]| match items {
        [item] => Attribute::Int(*item),
        items => Attribute::Ints(items.into()),
    };
    let all: Vec<_> = attributes
        .iter()
        .map(|(name, items)| (names.intern(name), attribute(items)))
        .collect();
    let node = Node {
        name: "",
        opset: 21,
        attributes: Attributes {
            names: &names,
            all: &all,
        },
    };
    let call = Call {
        node,
        kind,
        inputs,
        outputs: Vec::new(),
        sym: &mut sym,
    };
    find(&laws(), "", &call).map(|conflict| format!("{}; {}", conflict.what, conflict.shapes))
}

type Case<'a> = (
    &'a str,
    &'a [&'a [i64]],
    &'a [(usize, &'a [i64])],
    &'a [(&'a str, &'a [i64])],
);

#[rustfmt::skip]
const BROKEN: &[(Case<'_>, &str)] = &[
        (
            ("MatMul", &[&[4, 300], &[256, 5]], &[], &[]),
            "300 against 256; [4, 300] and [256, 5]",
        ),
        (("MatMul", &[&[2, 4, 3], &[5, 3, 6]], &[], &[]), "2 against 5"),
        (("MatMul", &[&[4], &[5]], &[], &[]), "4 against 5"),
        (("Gemm", &[&[4, 3], &[6, 2]], &[], &[("transB", &[1])]), "3 against 2"),
        (("Gemm", &[&[4, 3], &[3, 6], &[7]], &[], &[]), "7 against 6"),
        (("Add", &[&[2, 3], &[4, 3]], &[], &[]), "2 against 4"),
        (("Where", &[&[2, 1], &[2, 3], &[2, 4]], &[], &[]), "3 against 4"),
        (("PRelu", &[&[2, 1], &[3]], &[], &[]), "3 against 1"),
        (
            ("Reshape", &[&[113_472], &[2]], &[(1, &[115, 1003])], &[]),
            "113472 against 115345",
        ),
        (("Reshape", &[&[7, 2], &[2]], &[(1, &[-1, 4])], &[]), "14 against 4"),
        (("Expand", &[&[2, 3], &[2]], &[(1, &[5, 3])], &[]), "2 against 5"),
        (("Conv", &[&[1, 29, 8, 8], &[4, 23, 3, 3]], &[], &[]), "29 against 23"),
        (
            ("Conv", &[&[1, 8, 8, 8], &[4, 3, 3, 3]], &[], &[("group", &[2])]),
            "8 against 6",
        ),
        (("Conv", &[&[1, 3, 8, 8], &[4, 3, 3, 3], &[5]], &[], &[]), "5 against 4"),
        (
            (
                "Conv",
                &[&[1, 3, 8, 8], &[4, 3, 3, 3]],
                &[],
                &[("kernel_shape", &[5, 3])],
            ),
            "5 against 3",
        ),
        (
            ("ConvTranspose", &[&[1, 3, 8, 8], &[4, 3, 3, 3]], &[], &[]),
            "3 against 4",
        ),
        (
            ("BatchNormalization", &[&[1, 3, 8], &[3], &[3], &[3], &[4]], &[], &[]),
            "3 against 4",
        ),
        (("LayerNormalization", &[&[2, 5], &[6]], &[], &[]), "6 against 5"),
        (
            ("LSTM", &[&[5, 2, 7], &[1, 12, 8], &[1, 12, 3]], &[], &[]),
            "7 against 8",
        ),
        (
            ("Concat", &[&[43, 2], &[67, 2]], &[], &[("axis", &[1])]),
            "43 against 67",
        ),
        (("Concat", &[&[4, 2], &[4]], &[], &[("axis", &[0])]), "2 against 1"),
        (("Concat", &[&[4, 2], &[4, 2]], &[], &[("axis", &[2])]), "axis 2 of a tensor with 2 dimensions (0 to 1)"),
        (("Split", &[&[10]], &[], &[("split", &[4, 5])]), "9 against 10"),
        (("Transpose", &[&[2, 3]], &[], &[("perm", &[0, 1, 2])]), "3 against 2"),
        (("Transpose", &[&[2, 3]], &[], &[("perm", &[0, 0])]), "lacks axis 1"),
        (("Gather", &[&[4, 2], &[2]], &[(1, &[1, 4])], &[]), "index 4 of an axis of 4 (0 to 3)"),
        (("Gather", &[&[4, 2], &[2]], &[(1, &[1, -5])], &[]), "index -5 of an axis of 4 (-4 to -1)"),
        (("Gather", &[&[4, 2], &[2]], &[], &[("axis", &[-3])]), "axis -3 of a tensor with 2 dimensions (-2 to -1)"),
        (("Softmax", &[&[]], &[], &[("axis", &[0])]), "axis 0 of a tensor with 0 dimensions"),
        (("Flatten", &[&[4]], &[], &[("axis", &[2])]), "axis 2 of a tensor with 1 dimension (0 to 1)"),
        (("Squeeze", &[&[4, 2], &[1]], &[(1, &[0])], &[]), "4 against 1"),
        (("ReduceSum", &[&[4, 2], &[1]], &[(1, &[2])], &[]), "axis 2 of a tensor with 2 dimensions (0 to 1)"),
        (("Pad", &[&[4, 2], &[2]], &[(1, &[1, 1])], &[]), "2 against 4"),
        (
            ("SpaceToDepth", &[&[1, 6, 5, 2]], &[], &[("blocksize", &[2])]),
            "5 against 2",
        ),
        (("Gemm", &[&[1, 2, 3], &[3, 4]], &[], &[]), "3 against 2"),
        (("Conv", &[&[1, 1, 3, 3], &[1, 1, 3]], &[], &[]), "4 against 3"),
        (("Conv", &[&[1, 1, 3, 3], &[1, 1, 4, 4]], &[], &[]), "4 against 3"),
        (
            ("Conv", &[&[1, 4, 8, 8], &[3, 2, 3, 3]], &[], &[("group", &[2])]),
            "3 against 2",
        ),
        (
            ("MaxPool", &[&[1, 1, 3, 3]], &[], &[("kernel_shape", &[5, 5])]),
            "5 against 3",
        ),
        (("GatherND", &[&[4, 4], &[2, 3]], &[], &[]), "3 against 2"),
        (("TopK", &[&[3], &[1]], &[(1, &[5])], &[]), "k is 5 of an axis of 3"),
        (("Unsqueeze", &[&[3], &[1]], &[(1, &[3])], &[]), "axis 3 of a tensor with 1 dimension (0 to 1)"),
        (
            ("Slice", &[&[4, 4], &[2], &[1]], &[(1, &[0, 0]), (2, &[2])], &[]),
            "2 against 1",
        ),
        (
            ("Resize", &[&[1, 1, 4, 4], &[0], &[2]], &[(2, &[2, 2])], &[]),
            "2 against 4",
        ),
        (("QuantizeLinear", &[&[4, 3], &[5]], &[], &[]), "5 against 3"),
        (
            ("DepthToSpace", &[&[1, 6, 2, 2]], &[], &[("blocksize", &[2])]),
            "6 against 4",
        ),
        (
            ("Attention", &[&[2, 3, 4, 8], &[2, 3, 6, 9], &[2, 3, 6, 8]], &[], &[]),
            "8 against 9",
        ),
        (
            ("Attention", &[&[2, 4, 24], &[2, 6, 24], &[2, 7, 24]], &[], &[]),
            "6 against 7",
        ),
        (
            ("RotaryEmbedding", &[&[2, 3, 8], &[50, 4], &[50, 5]], &[], &[]),
            "4 against 5",
        ),
        (("GridSample", &[&[1, 1, 4, 4], &[1, 6, 6, 3]], &[], &[]), "3 against 2"),
        (
            ("NonMaxSuppression", &[&[1, 6, 4], &[1, 1, 7]], &[], &[]),
            "6 against 7",
        ),
        (
            ("SoftmaxCrossEntropyLoss", &[&[3, 5, 2], &[3, 4]], &[], &[]),
            "2 against 4",
        ),
        (("ReverseSequence", &[&[4, 3], &[4]], &[], &[]), "4 against 3"),
        (("ScatterND", &[&[4, 5], &[3, 1], &[3, 6]], &[], &[]), "6 against 5"),
        (
            ("ScatterElements", &[&[3, 3], &[2, 2], &[2, 3]], &[], &[]),
            "2 against 3",
        ),
        (
            ("MatMulInteger", &[&[4, 3], &[3, 2], &[], &[5]], &[], &[]),
            "5 against 2",
        ),
    ];

#[test]
fn contradictions_name_both_sizes() {
    for ((kind, shapes, values, attributes), expected) in BROKEN {
        let found = told(kind, shapes, values, attributes).unwrap_or_else(|| panic!("{kind} {shapes:?} cannot run"));
        assert!(found.contains(expected), "{kind}: {found}");
    }
}

#[test]
fn what_may_run_is_not_told() {
    let cases: &[Case<'_>] = &[
        ("MatMul", &[&[4, -1], &[256, 5]], &[], &[]),
        ("MatMul", &[&[3], &[2, 3, 6]], &[], &[]),
        ("MatMul", &[&[2, 4, 3], &[3]], &[], &[]),
        ("Gemm", &[&[3, 4], &[3, 6], &[4, 1]], &[], &[("transA", &[1])]),
        ("Add", &[&[2, 3], &[-1, 3]], &[], &[]),
        ("Add", &[&[2, 1], &[4, 1, 3]], &[], &[]),
        ("Reshape", &[&[7, -1], &[2]], &[(1, &[3, 4])], &[]),
        ("Reshape", &[&[7, 2], &[2]], &[(1, &[0, -1])], &[]),
        ("Reshape", &[&[0, 2], &[2]], &[(1, &[0, 5])], &[("allowzero", &[1])]),
        ("Conv", &[&[1, 6, 8, 8], &[4, 3, 3, 3], &[4]], &[], &[("group", &[2])]),
        ("Concat", &[&[4, 2], &[4, 3], &[-1, 1]], &[], &[("axis", &[1])]),
        ("Split", &[&[-1]], &[], &[("split", &[4, 5])]),
        ("Gather", &[&[4, 2], &[2]], &[(1, &[-4, 3])], &[]),
        ("Flatten", &[&[4, 2]], &[], &[("axis", &[2])]),
        ("Pad", &[&[4, 2], &[4]], &[(1, &[1, 1, 0, 0])], &[]),
        ("MaxPool", &[&[1, 1, 3, 3]], &[], &[("kernel_shape", &[4, 4])]),
        ("Conv", &[&[1, 1, 3, 3], &[1, 1, 5, 5]], &[], &[("pads", &[1, 1, 1, 1])]),
        ("Unsqueeze", &[&[3], &[1]], &[(1, &[1])], &[]),
        ("QuantizeLinear", &[&[4, 3], &[1]], &[], &[]),
        ("Attention", &[&[2, 4, 24], &[2, 6, 12], &[2, 6, 18]], &[], &[]),
        ("ScatterND", &[&[4, 5], &[3, 2], &[3]], &[], &[]),
        ("MatMulInteger", &[&[4, 3], &[3, 2], &[], &[2]], &[], &[]),
    ];
    for (kind, shapes, values, attributes) in cases {
        assert_eq!(told(kind, shapes, values, attributes), None, "{kind} {shapes:?}");
    }
}
