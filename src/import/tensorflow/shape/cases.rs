//! Rules as a table of small cases.
//!
//! Inputs of a case: `f[-1,3]` is a float placeholder, `f?` one of unknown rank, `i:1,2` and `i=5` are constants;
//! `h[3]` is the handle of a variable, `l[2,3]` and `a[2,3]` those of a list and of an array of 4 elements; `@0:1` is
//! output 1 of input 0. Attributes: `i:` a number, `b:` a truth value, `s:` a text, `l:` numbers, `t:` a type, `d:` a
//! shape, `T:` a list of one type, `S:` a list of one shape. Outputs: dimensions, `_` for an unknown one, `?` for an
//! unknown rank.

use std::collections::BTreeSet;

use super::table::FAMILIES;
use super::tests::{facts, outputs, read};
use crate::tensorflow::model::MAIN;

fn attribute(text: &str) -> String {
    let (key, value) = text.split_once('=').expect("key=kind:value");
    let (kind, value) = value.split_once(':').expect("kind:value");
    let value = match kind {
        "b" => format!("b: {value}"),
        "s" => format!("s: \"{value}\""),
        "t" => format!("type: {value}"),
        "l" => format!("list {{ i: [{value}] }}"),
        "d" => format!("shape {{ {} }}", dims(value)),
        "T" => format!("list {{ type: {value} }}"),
        "S" => format!("list {{ shape {{ {} }} }}", dims(value)),
        _ => format!("i: {value}"),
    };
    format!("attr {{ key: \"{key}\" value {{ {value} }} }} ")
}

pub(super) fn dims(text: &str) -> String {
    let list = text.trim_matches(['[', ']']).split(',').filter(|size| !size.is_empty());
    list.map(|size| format!("dim {{ size: {size} }} "))
        .collect::<Vec<_>>()
        .concat()
}

pub(super) fn input(position: usize, text: &str) -> String {
    let (kind, rest) = text.split_at(1);
    match kind {
        "@" => return String::new(),
        "l" => {
            let (shape, count) = (
                input(position + 100, &format!("i:{}", &rest[1..rest.len() - 1])),
                input(position + 200, "i=4"),
            );
            let list = format!(
                "node {{ name: \"x{position}\" op: \"TensorListReserve\" input: \"x{}\" input: \"x{}\" }}\n",
                position + 100,
                position + 200
            );
            return [shape, count, list].concat();
        }
        "a" => {
            let count = input(position + 100, "i=4");
            let shape = attribute(&format!("element_shape=d:{rest}"));
            let array = format!(
                "node {{ name: \"x{position}\" op: \"TensorArrayV3\" input: \"x{}\" {shape} }}\n",
                position + 100
            );
            return [count, array].concat();
        }
        _ => {}
    }
    let (op, attrs) = match (kind, rest.split_at(1)) {
        ("f", ("?", _)) => (
            "Placeholder",
            "attr { key: \"shape\" value { shape { unknown_rank: true } } }".to_owned(),
        ),
        ("f", _) => (
            "Placeholder",
            format!("attr {{ key: \"shape\" value {{ shape {{ {} }} }} }}", dims(rest)),
        ),
        ("h", _) => (
            "VarHandleOp",
            format!("attr {{ key: \"shape\" value {{ shape {{ {} }} }} }}", dims(rest)),
        ),
        (_, (form, items)) => {
            let list: Vec<&str> = items.split(',').filter(|item| !item.is_empty()).collect();
            let shape = if form == "=" {
                String::new()
            } else {
                format!("dim {{ size: {} }}", list.len())
            };
            let items: Vec<String> = list.iter().map(|item| format!("int_val: {item} ")).collect();
            let items = items.concat();
            let tensor = format!("dtype: DT_INT32 tensor_shape {{ {shape} }} {items}");
            (
                "Const",
                format!("attr {{ key: \"value\" value {{ tensor {{ {tensor} }} }} }}"),
            )
        }
    };
    let dtype = if op == "Const" { "DT_INT32" } else { "DT_FLOAT" };
    format!(
        "node {{ name: \"x{position}\" op: \"{op}\" {attrs} {} }}\n",
        attribute(&format!("dtype=t:{dtype}"))
    )
}

fn case(op: &str, attributes: &str, inputs: &[&str]) -> String {
    let mut text: String = (0..)
        .zip(inputs)
        .map(|(position, text)| input(position, text))
        .collect();
    let names: Vec<String> = (0..)
        .zip(inputs)
        .map(|(position, text): (usize, _)| match text.strip_prefix('@') {
            Some(name) => format!("input: \"x{name}\" "),
            None => format!("input: \"x{position}\" "),
        })
        .collect();
    let names = names.concat();
    let attributes: String = attributes.split_whitespace().map(attribute).collect();
    text.push_str(&format!("node {{ name: \"y\" op: \"{op}\" {names} {attributes} }}"));
    let model = read(&text);
    let facts = facts(&model);
    outputs(&model, &facts, MAIN, "y")
}

/// Op, attributes, inputs, outputs.
const CASES: &str = r"
AddV2 | | f[-1,1,4] f[3,1] | [batch,3,4]
AddN | N=i:2 | f? f[2,3] | [2,3]
ReluGrad | | f? f[2,3] | [2,3]
Select | | f[5] f[5,2] f[5,2] | [5,2]
SelectV2 | | f[5,1] f[2] f[] | [5,2]
MatMul | transpose_a=b:true | f[3,-1] f[3,5] | [x0:1,5]
MatMul | | f? f[3,5] | [_,5]
BatchMatMulV2 | adj_y=b:true | f[-1,2,3,4] f[2,7,4] | [batch,2,3,7]
Einsum | N=i:2 equation=s:abc,cd->abd | f[-1,2,3] f[3,4] | [batch,2,4]
Conv2D | strides=l:1,2,2,1 padding=s:SAME | f[-1,7,8,3] f[3,3,3,16] | [batch,4,4,16]
Conv2D | strides=l:1,1,1,1 padding=s:VALID data_format=s:NCHW | f[2,3,7,8] f[3,3,3,16] | [2,16,5,6]
Conv2D | strides=l:1,2,2,1 padding=s:EXPLICIT explicit_paddings=l:0,0,3,3,3,3,0,0 | f[2,224,224,3] f[7,7,3,64] | [2,112,112,64]
DepthwiseConv2dNative | strides=l:1,2,2,1 padding=s:SAME | f[1,8,8,3] f[3,3,3,2] | [1,4,4,6]
Conv3D | strides=l:1,1,1,1,1 padding=s:VALID | f[1,5,5,5,2] f[3,3,3,2,4] | [1,3,3,3,4]
Conv2DBackpropInput | strides=l:1,2,2,1 padding=s:SAME | i:2,7,8,3 f[3,3,3,16] f[2,4,4,16] | [2,7,8,3]
Conv2DBackpropFilter | strides=l:1,2,2,1 padding=s:SAME | f[2,7,8,3] i:3,3,3,16 f[2,4,4,16] | [3,3,3,16]
MaxPool | ksize=l:1,3,3,1 strides=l:1,2,2,1 padding=s:VALID | f[2,7,9,4] | [2,3,4,4]
AvgPoolGrad | strides=l:1,2,2,1 padding=s:SAME | i:2,7,8,3 f[2,4,4,3] | [2,7,8,3]
BiasAddGrad | data_format=s:NCHW | f[2,3,4,5] | [3]
FusedBatchNormV3 | | f[-1,4,4,8] f[8] f[8] f[8] f[8] | [batch,4,4,8] [8] [8] [8] [8] ?
FusedBatchNormGradV3 | | f[2,4,4,8] f[2,4,4,8] f[8] f[8] f[8] f[8] | [2,4,4,8] [8] [8] [0] [0]
SoftmaxCrossEntropyWithLogits | | f[-1,10] f[-1,10] | [batch] [batch,10]
SparseSoftmaxCrossEntropyWithLogits | | f[4,10] f[4] | [4] [4,10]
Mean | keep_dims=b:true | f[-1,4,5] i:1,-1 | [batch,1,1]
Sum | | f[2,3,4] i=1 | [2,4]
Sum | | f[2,3,4] f[2] | [_]
ArgMax | | f[2,3,4] i=-1 | [2,3]
UnsortedSegmentSum | | f[5,4] f[5] i=3 | [3,4]
Reshape | | f[-1,7,7,8] i:-1,392 | [batch,392]
Reshape | | f[4,6] f[3] | [_,_,_]
Squeeze | squeeze_dims=l:1 | f[2,1,1] | [2,1]
Squeeze | | f[2,1,1] | [2]
ExpandDims | | f[2,3] i=-1 | [2,3,1]
Transpose | | f[-1,3,4] i:2,0,1 | [4,batch,3]
Tile | | f[2,3] i:1,4 | [2,12]
BroadcastTo | | f[3] i:2,3 | [2,3]
SpaceToDepth | block_size=i:2 | f[1,4,6,3] | [1,2,3,12]
MatrixDiagPart | | f[2,3,4] | [2,3]
MatrixDiagV3 | | f[2,3] i=0 i=-1 i=-1 f[] | [2,3,3]
MatrixDiagV3 | | f[2,3] i=-2 i=-1 i=-1 f[] | [2,5,5]
MatrixDiagV3 | | f[2,3,4] i:-1,1 i=-1 i=7 f[] | [2,4,7]
BiasAdd | | f[2,3,4] f[4] | [2,3,4]
Svd | | f[2,5,3] | [2,3] [2,5,3] [2,3,3]
Svd | full_matrices=b:true | f[5,3] | [3] [5,5] [3,3]
Qr | | f[5,3] | [5,3] [3,3]
Qr | full_matrices=b:true | f[5,3] | [5,5] [5,3]
SelfAdjointEigV2 | | f[2,3,3] | [2,3] [2,3,3]
LogMatrixDeterminant | | f[2,3,3] | [2] [2]
RFFT | | f[2,-1,64] i:32 | [2,x0:1,17]
IRFFT2D | | f[2,8,5] i:8,8 | [2,8,8]
Conv2D | strides=l:1,2,2,1 padding=s:SAME | f[2,8,9,3] f? | [2,4,5,_]
Einsum | equation=s:abc,cd->abd | f[2,3,4] f? | [2,3,_]
Slice | | f[-1,8] i:0,2 i:-1,3 | [batch,3]
StridedSlice | shrink_axis_mask=i:1 | f[5,6] i:2 i:3 i:1 | [6]
StridedSlice | begin_mask=i:1 end_mask=i:1 | f[-1,6] i:0 i:0 i:1 | [batch,6]
StridedSlice | ellipsis_mask=i:1 new_axis_mask=i:2 | f[5,6] i:0,0,1 i:0,0,5 i:1,1,2 | [5,1,2]
StridedSlice | begin_mask=i:1 end_mask=i:1 | f[5] i:0 i:0 i:-1 | [5]
StridedSliceGrad | | i:3,4 i:0 i:0 i:1 f[3] | [3,4]
GatherV2 | | f[9,4] f[-1,7] i=0 | [batch,7,4]
GatherV2 | batch_dims=i:1 | f[2,9,4] f[2,7] i=1 | [2,7,4]
GatherNd | | f[9,4,5] f[6,2] | [6,5]
ResourceGather | | h[9,4] f[7] | [7,4]
ReadVariableOp | | h[9,4] | [9,4]
VariableShape | | h[9,4] | [2]
ConcatV2 | N=i:2 | f[-1,3] f[-1,4] i=1 | [batch,7]
Concat | N=i:2 | i=0 f[2,3] f[5,3] | [7,3]
Split | num_split=i:2 | i=1 f[-1,6] | [batch,3] [batch,3]
SplitV | num_split=i:2 | f[2,6] i:2,-1 i=1 | [2,2] [2,4]
Pack | N=i:2 axis=i:-1 | f[2,3] f[2,3] | [2,3,2]
Unpack | num=i:2 axis=i:1 | f[3,2] | [3] [3]
TopKV2 | | f[2,9] i=4 | [2,4] [2,4]
OneHot | | f[-1] i=10 f[] f[] | [batch,10]
Where | | f[2,9] | [_,2]
Fill | | i:2,3 f[] | [2,3]
Range | | i=0 i=10 i=3 | [4]
DynamicStitch | N=i:2 | i:0,3 i:1,2 f[2,5] f[2,5] | [4,5]
ScatterNd | | f[2,1] f[2,5] i:8,5 | [8,5]
BroadcastGradientArgs | | i:2,3 i:3 | [0] [1]
BroadcastGradientArgs | | i:1,3 i:1,1 | [1] [2]
BroadcastGradientArgs | | i:1,3 i:1,3 | [0] [0]
BroadcastGradientArgs | | f[2] i:3 | [_] [_]
ResizeBilinear | | f[-1,4,4,3] i:8,9 | [batch,8,9,3]
CropAndResize | | f[2,4,4,3] f[7,4] f[7] i:5,6 | [7,5,6,3]
QuantizeV2 | T=t:DT_QUINT8 | f[2,3] f[] f[] | [2,3] [] []
StatelessRandomGetKeyCounter | | i:1,2 | [1] [2]
RandomUniform | | i:4,5 | [4,5]
LSTMBlockCell | | f[2,3] f[2,8] f[2,8] | [2,8] [2,8] [2,8] [2,8] [2,8] [2,8] [2,8]
TensorListReserve | element_dtype=t:DT_FLOAT | i:2,3 i=4 | []
NoSuchOp | | f[2] |
Abs | | f[2,-1] | [2,x0:1]
Acos | | f[2,3] | [2,3]
Identity | | f[2,3] | [2,3]
Switch | | f[2,3] f[] | [2,3] [2,3]
EnsureShape | shape=d:2,3 | f[-1,3] | [2,3]
Cast | DstT=t:DT_INT32 | f[2,3] | [2,3]
Bitcast | type=t:DT_INT8 | f[2,3] | [2,3,4]
L2Loss | | f[2,3] | []
ListDiff | | f[5] f[3] | [_] [_]
ReadFile | | f[] | ?
Conv | strides=l:1,1,1,1 padding=s:VALID | f[2,8,8,3] f[3,3,3,16] | [2,6,6,16]
Dilation2D | strides=l:1,1,1,1 rates=l:1,2,2,1 padding=s:VALID | f[2,8,8,3] f[3,3,3] | [2,4,4,3]
MaxPoolGradGrad | | f[2,8,8,3] f[2,4,4,3] f[2,8,8,3] | [2,4,4,3]
MaxPoolGrad | | f[2,8,8,3] f[2,4,4,3] f[2,4,4,3] | [2,8,8,3]
Conv2DBackpropFilterV2 | | f[2,8,8,3] f[3,3,3,16] f[2,8,8,16] | [3,3,3,16]
CTCLoss | | f[7,-1,5] | [x0:1] [7,x0:1,5]
InTopKV2 | | f[4,10] f[4] i=3 | [4]
SegmentSum | | f[5,4] i:0,0,1,1,2 | [3,4]
SparseSegmentSumWithNumSegments | | f[5,4] i:0,1 i:0,0 i=6 | [6,4]
DenseBincount | | f[3,7] i=5 f[3,7] | [3,5]
Pad | | f[2,3] i:1,1,0,2 | [4,5]
SpaceToBatchND | | f[2,8,6,3] i:2,2 i:0,0,0,0 | [8,4,3,3]
Lu | | f[2,3,3] | [2,3,3] [2,3]
IteratorGetNext | output_types=T:DT_FLOAT output_shapes=S:-1,3 | f[] | [batch,3]
ParallelConcat | N=i:2 shape=d:4,3 | f[2,3] f[2,3] | [4,3]
StatefulUniform | | f[] i=1 i:4,5 | [4,5]
OnesLike | | f[2,3] | [2,3]
LinSpace | | f[] f[] i=7 | [7]
Shape | | f[2,3,4] | [3]
Size | | f[2,3] | []
Rank | | f[2,3] | []
RandomGamma | | i:4 f[3] | [4,3]
Multinomial | | f[3,9] i=5 | [3,5]
UniformCandidateSampler | num_sampled=i:8 | f[4,1] | [8] [4,1] [8]
BroadcastArgs | | i:2,1 i:3 | [2]
Gather | | f[9,4] f[7] | [7,4]
ConcatOffset | N=i:2 | i=1 i:2,3 i:2,4 | [2] [2]
Unique | | f[9] | [_] [9]
DynamicPartition | num_partitions=i:2 | f[6,3] f[6] | [_,3] [_,3]
InvertPermutation | | i:2,0,1 | [3]
SparseToDense | | f[4,2] i:5,6 f[4] f[] | [5,6]
VariableV2 | shape=d:3,4 dtype=t:DT_FLOAT | | [3,4]
Assign | | f[3,-1] f[3,4] | [3,4]
AssignAdd | | f[3,4] f[3,4] | [3,4]
ApplyGradientDescent | | f[3,4] f[] f[3,4] | [3,4]
TensorListFromTensor | | f[4,3] i:3 | []
TensorListScatterV2 | | f[4,3] i:0,1,2,3 i:3 i=4 | []
TensorListSplit | | f[4,3] i:3 i:2,2 | []
TensorListSetItem | | l[2,3] i=0 f[2,3] | []
TensorListScatterIntoExistingList | | l[2,3] f[4,2,3] i:0,1,2,3 | []
TensorListPopBack | | l[2,3] i:2,3 | [] [2,3]
TensorListGetItem | | l[2,-1] i=0 i:2,3 | [2,3]
TensorListStack | | l[2,3] i:2,3 | [4,2,3]
TensorListGather | | l[2,3] i:0,2,1 i:2,3 | [3,2,3]
TensorListConcatV2 | | l[2,3] | [_,3] [_]
TensorListLength | | l[2,3] | []
TensorListElementShape | | l[2,3] | [2]
TensorListResize | | l[2,3] i=9 | []
TensorArrayGradV3 | | a[2,3] @0:1 | [] []
TensorArrayWriteV3 | | a[2,3] i=0 f[2,3] @0:1 | []
TensorArrayReadV3 | | a[2,3] i=0 @0:1 | [2,3]
TensorArrayGatherV3 | | a[2,3] i:0,1,2 @0:1 | [3,2,3]
TensorArrayConcatV3 | element_shape_except0=d:3 | a[2,3] @0:1 | [_,3] [_]
ResizeBilinearGrad | | f[2,8,8,3] f[2,4,4,3] | [2,4,4,3]
ExtractImagePatches | ksizes=l:1,2,2,1 strides=l:1,2,2,1 rates=l:1,1,1,1 padding=s:VALID | f[2,4,6,3] | [2,2,3,12]
NonMaxSuppressionV4 | pad_to_max_output_size=b:true | f[9,4] f[9] i=5 | [5] []
DecodePng | channels=i:3 | f[] | [_,_,3]
ImageProjectiveTransformV2 | | f[2,4,4,3] f[2,8] i:5,6 | [2,5,6,3]
SampleDistortedBoundingBoxV2 | | i:4,4,3 f[1,1,4] f[] | [3] [3] [1,1,4]
RequantizationRange | | f[2,3] f[] f[] | [] []
QuantizedAdd | | f[2,3] f[3] f[] f[] f[] f[] | [2,3] [] []
QuantizedReshape | | f[2,3] i:6 f[] f[] | [6] [] []
FakeQuantWithMinMaxVarsGradient | | f[2,3] f[2,3] f[] f[] | [2,3] [] []
BlockLSTMV2 | | i=9 f[7,4,3] f[4,5] f[4,5] | [7,4,5] [7,4,5] [7,4,5] [7,4,5] [7,4,5] [7,4,5] [7,4,5]
BlockLSTMGradV2 | | i=9 f[7,4,3] f[4,5] f[4,5] f[8,20] | [7,4,3] [4,5] [4,5] [8,20] ? ? ? ?
CudnnRNN | rnn_mode=s:lstm | f[7,4,3] f[1,4,5] f[1,4,5] f[99] | [7,4,5] [1,4,5] [1,4,5] ?
CudnnRNNBackprop | | f[7,4,3] f[1,4,5] f[1,4,5] f[99] | [7,4,3] [1,4,5] [1,4,5] [99]
CudnnRNNParamsSize | | i=1 i=5 i=3 | [1]
DecodeAndCropJpeg | channels=i:3 | f[] i:0,0,7,9 | [7,9,3]
ParseExample | Nsparse=i:1 sparse_types=T:DT_FLOAT Ndense=i:1 Tdense=T:DT_FLOAT dense_shapes=S:[2] | f[5] f[5] f[1] f[1] f[2] | [_,2] [_] [2] [5,2]
";

struct Case {
    op: &'static str,
    attributes: &'static str,
    inputs: Vec<&'static str>,
    expected: &'static str,
}

fn cases() -> impl Iterator<Item = Case> {
    CASES.trim().lines().map(|line| {
        let mut parts = line.split('|').map(str::trim);
        let mut part = || parts.next().expect(line);
        Case {
            op: part(),
            attributes: part(),
            inputs: part().split_whitespace().collect(),
            expected: part(),
        }
    })
}

#[test]
fn every_row_of_the_table_has_a_case() {
    let inputs = [
        "Const",
        "Placeholder",
        "VarHandleOp",
        "TensorListReserve",
        "TensorArrayV3",
    ];
    let ops: BTreeSet<&str> = cases().map(|case| case.op).chain(inputs).collect();
    let untested: Vec<&str> = FAMILIES
        .iter()
        .map(|family| family.0)
        .filter(|kinds| !kinds.split_whitespace().any(|kind| ops.contains(kind)))
        .collect();
    assert_eq!(untested, Vec::<&str>::new());
}

#[test]
fn rules_answer_as_the_ops_do() {
    let mut wrong = Vec::new();
    for one in cases() {
        let found = case(one.op, one.attributes, &one.inputs);
        if found != one.expected {
            wrong.push(format!("{} {}: {found}, not {}", one.op, one.attributes, one.expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
