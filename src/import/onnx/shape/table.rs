//! The table of shape rules: one row per family of ops.

use std::collections::BTreeMap;

use self::Type::{Attribute, Either, Input, Is, Unstated};
use super::attention::{self, Cache};
use super::forms::{self, Entry};
use super::{control, elementwise, extent, generate, layout, linear, lists, ml, pick, reduce, sequence, state, window};
use crate::element_types::ONNX;
use crate::shape;
use crate::shape::call::Call;
use crate::shape::fact::Fact;
use highwater_model::graph::DType::{Bool, Float32, Int32, Int64, Uint8};
use highwater_model::graph::{DType, Dim};

/// States the shapes of the outputs as far as it can.
pub(super) type Rule = fn(&mut Call<'_>) -> Option<()>;

#[derive(Clone, Copy)]
pub(super) enum Type {
    Input(usize),
    /// That of the first input, without it of the second.
    Either(usize, usize),
    Is(DType),
    /// The code in an attribute, else this code.
    Attribute(&'static str, i64),
    /// The rule states it once it knows the shape.
    Unstated,
}

/// The rule of an op: a row of this table, or of the one as text.
#[derive(Clone, Copy)]
pub(super) enum Row {
    Rule(&'static [Type], Rule),
    Text(&'static Entry),
}

impl Row {
    pub(super) fn facts(self, mut call: Call<'_>) -> Vec<Fact> {
        // `None` means that the rest stays unknown.
        let _stopped: Option<()> = match self {
            Self::Text(entry) => entry.apply(&mut call),
            Self::Rule(types, rule) => {
                set_types(types, &mut call);
                rule(&mut call)
            }
        };
        call.outputs
    }
}

fn set_types(types: &[Type], call: &mut Call<'_>) {
    for (output, ty) in types.iter().enumerate() {
        let dtype = match *ty {
            Either(input, _) if call.has(input) => call.dtype(input),
            Input(input) | Either(_, input) => call.dtype(input),
            Is(dtype) => dtype,
            Attribute(name, default) => ONNX.of_code(call.int_or(name, default)),
            Unstated => DType::Unknown,
        };
        call.set_dtype(output, dtype);
    }
}

const FIRST: &[Type] = &[Input(0)];
const FIRST_2: &[Type] = &[Input(0), Input(0)];
const WITH_INDICES: &[Type] = &[Input(0), Is(Int64)];
const BOOL: &[Type] = &[Is(Bool)];
const FLOAT32: &[Type] = &[Is(Float32)];
const INT32: &[Type] = &[Is(Int32)];
const INT64: &[Type] = &[Is(Int64)];
const FIRST_3: &[Type] = &[Input(0), Input(0), Input(0)];
/// Caches may have another type than the query.
const GROUP_QUERY: &[Type] = &[Input(0), Either(3, 0), Either(4, 0), Input(0)];
const BY_RULE: &[Type] = &[];

/// Operator set (empty: the default one), names of ops, types of their outputs, rule.
#[rustfmt::skip]
static FAMILIES: &[(&str, &[&str], &[Type], Rule)] = &[
    ("", &["Identity"], BY_RULE, shape::elementwise::identity),
    ("", &[
        "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Cos", "Cosh",
        "CumProd", "CumSum", "Elu", "Erf", "Exp", "Floor", "Gelu", "GroupNormalization", "HardSigmoid", "HardSwish",
        "Hardmax", "InstanceNormalization", "LRN", "LeakyRelu", "Log", "LogSoftmax", "LpNormalization",
        "MeanVarianceNormalization", "Mish", "Neg", "Not", "Reciprocal", "Relu", "ReverseSequence",
        "RotaryEmbedding", "Round", "ScaledTanh", "Scatter", "ScatterElements", "ScatterND", "Selu", "Shrink",
        "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
        "TensorScatter", "ThresholdedRelu", "Trilu", "Affine", "ParametricSoftplus", "ImageScaler",
        "RMSNormalization",
    ], FIRST, shape::elementwise::unary),
    ("", &["IsInf", "IsNaN", "RegexFullMatch"], BOOL, shape::elementwise::same),
    ("", &["Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"], BY_RULE, elementwise::same_with_dtype),
    ("", &["Dropout"], FIRST, elementwise::dropout),
    ("", &["Cast", "CastLike"], BY_RULE, elementwise::cast),
    ("", &[
        "Add", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Max", "Mean", "Min", "Mod", "Mul", "Pow",
        "StringConcat", "Sub", "Sum",
    ], FIRST, elementwise::arithmetic),
    ("", &[
        "And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor",
    ], BOOL, elementwise::arithmetic),
    ("", &["Where"], &[Input(1)], shape::elementwise::select),
    ("", &["Clip"], FIRST, elementwise::clip),
    ("", &["PRelu"], FIRST, elementwise::prelu),
    ("", &["Reshape"], FIRST, layout::reshape),
    ("", &["Flatten"], FIRST, layout::flatten),
    ("", &["Squeeze"], FIRST, layout::squeeze),
    ("", &["Unsqueeze"], FIRST, layout::unsqueeze),
    ("", &["Transpose"], FIRST, layout::transpose),
    ("", &["Expand"], FIRST, layout::expand),
    ("", &["Tile"], FIRST, layout::tile),
    ("", &["DepthToSpace", "SpaceToDepth"], FIRST, layout::blocks),
    ("", &["Shape"], INT64, layout::shape),
    ("", &["Size"], INT64, shape::generate::size),
    ("", &["Gather"], FIRST, shape::pick::gather),
    ("", &["GatherElements"], FIRST, |call| call.like(0, 1)),
    ("", &["GatherND"], FIRST, shape::pick::gather_nd),
    ("", &["Slice"], FIRST, pick::slice),
    ("", &["Concat"], FIRST, pick::concat),
    ("", &["Split"], BY_RULE, pick::split),
    ("", &["Pad"], FIRST, extent::pad),
    ("", &["TopK"], WITH_INDICES, shape::pick::top_k),
    ("", &["Compress"], FIRST, extent::compress),
    ("", &["CenterCropPad"], FIRST, extent::center_crop_pad),
    ("", &["Conv"], FIRST, |call| window::conv(call, 1)),
    ("", &["ConvInteger"], INT32, |call| window::conv(call, 1)),
    ("", &["QLinearConv"], &[Input(7)], |call| window::conv(call, 3)),
    ("", &["ConvTranspose"], FIRST, |call| window::conv_transpose(call, 1)),
    ("", &["AveragePool", "LpPool", "MaxPool"], WITH_INDICES, window::pool),
    ("", &["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"], FIRST, window::global_pool),
    ("", &["MaxUnpool"], FIRST, window::max_unpool),
    ("", &["MaxRoiPool", "RoiAlign"], FIRST, window::roi_pool),
    ("", &["Col2Im"], FIRST, window::col_to_im),
    ("", &["MatMul"], FIRST, |call| linear::matmul(call, 0, 1)),
    ("", &["MatMulInteger"], INT32, |call| linear::matmul(call, 0, 1)),
    ("", &["QLinearMatMul"], &[Input(7)], |call| linear::matmul(call, 0, 3)),
    ("", &["Gemm"], FIRST, |call| linear::gemm(call, 1)),
    ("", &["Einsum"], FIRST, linear::einsum),
    ("", &["QuantizeLinear"], BY_RULE, elementwise::quantize),
    ("", &["DequantizeLinear"], &[Input(1)], elementwise::dequantize),
    ("", &["DynamicQuantizeLinear"], &[Is(Uint8), Is(Float32), Is(Uint8)], elementwise::dynamic_quantize),
    ("", &[
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
        "ReduceProd", "ReduceSum", "ReduceSumSquare",
    ], FIRST, reduce::reduce),
    ("", &["ArgMax", "ArgMin"], INT64, reduce::arg_reduce),
    ("", &["LayerNormalization", "SimplifiedLayerNormalization"], FIRST, reduce::layer_norm),
    ("", &["BatchNormalization"], FIRST, reduce::batch_norm),
    ("", &["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"], FIRST_2, reduce::loss),
    ("", &["Det"], FIRST, shape::reduce::determinant),
    ("", &["Constant"], BY_RULE, generate::constant),
    ("", &["ConstantOfShape"], BY_RULE, generate::constant_of_shape),
    ("", &["Range"], FIRST, shape::generate::range),
    ("", &["OneHot"], &[Input(2)], shape::layout::one_hot),
    ("", &["RandomNormal", "RandomUniform"], &[Attribute("dtype", 1)], generate::random),
    ("", &["Multinomial"], &[Attribute("dtype", 6)], generate::multinomial),
    ("", &["BlackmanWindow", "HammingWindow", "HannWindow"], &[Attribute("output_datatype", 1)], |call| {
        call.out(0, &[call.scalar_dim(0)])
    }),
    ("", &["MelWeightMatrix"], &[Attribute("output_datatype", 1)], generate::mel_weights),
    ("", &["NonZero"], INT64, generate::non_zero),
    ("", &["NonMaxSuppression"], INT64, |call| call.out(0, &[Dim::Unknown, Dim::Known(3)])),
    ("", &["Unique"], &[Input(0), Is(Int64), Is(Int64), Is(Int64)], generate::unique),
    ("", &["OptionalHasElement"], BOOL, |call| call.out(0, &[])),
    // Sequences and optionals have no shape themselves; `report` lists them.
    ("", &["Optional"], BY_RULE, lists::optional),
    ("", &["OptionalGetElement"], BY_RULE, lists::content),
    ("", &["SequenceConstruct"], BY_RULE, lists::construct),
    ("", &["SequenceEmpty"], BY_RULE, lists::empty),
    ("", &["SequenceErase"], BY_RULE, lists::erase),
    ("", &["SequenceInsert"], BY_RULE, lists::insert),
    ("", &["SequenceAt"], BY_RULE, lists::at),
    ("", &["SplitToSequence"], BY_RULE, lists::split),
    ("", &["ConcatFromSequence"], BY_RULE, lists::concat),
    ("", &["SequenceLength"], INT64, lists::length),
    ("", &["MemcpyFromHost", "MemcpyToHost"], BY_RULE, shape::elementwise::identity),
    ("", &["DynamicSlice"], FIRST, pick::slice),
    ("", &["GivenTensorFill"], FLOAT32, generate::given_fill),
    ("", &["TfIdfVectorizer"], FLOAT32, generate::tf_idf),
    ("", &["STFT"], FIRST, generate::stft),
    ("", &["DFT"], FIRST, generate::dft),
    ("", &["GRU", "LSTM", "RNN"], BY_RULE, sequence::recurrent),
    ("", &["Attention"], &[Input(0), Input(1), Input(2), Input(0)], attention::attention),
    ("", &["Resize", "Upsample"], FIRST, sequence::resize),
    ("", &["GridSample"], FIRST, sequence::grid_sample),
    ("", &["AffineGrid"], FIRST, sequence::affine_grid),
    ("", &["DeformConv"], FIRST, sequence::deform_conv),
    ("com.microsoft", &[
        "BiasGelu", "BiasSoftmax", "FastGelu", "Gelu", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax",
        "QuickGelu", "RotaryEmbedding", "Trilu",
    ], FIRST, shape::elementwise::unary),
    ("com.microsoft", &["BiasDropout"], FIRST, elementwise::dropout),
    ("com.microsoft", &["LayerNormalization", "SimplifiedLayerNormalization"], FIRST, reduce::layer_norm),
    ("com.microsoft", &[
        "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
    ], &[Input(0), Is(Float32), Is(Float32), Input(0)], reduce::skip_layer_norm),
    ("com.microsoft", &["Attention", "DecoderMaskedSelfAttention"], FIRST_2, |call| attention::packed_attention(call, 4)),
    ("com.microsoft", &["QAttention"], &[Input(2); 2], |call| attention::packed_attention(call, 8)),
    ("com.microsoft", &["MultiHeadAttention"], FIRST_3, |call| {
        let shares = call.has(6) && call.has(8);
        attention::multi_head_attention(call, 6, shares)
    }),
    ("com.microsoft", &["DecoderMaskedMultiHeadAttention"], FIRST_3, |call| {
        let shares = call.int_or("past_present_share_buffer", 0) != 0;
        attention::multi_head_attention(call, 5, shares)
    }),
    ("com.microsoft", &["GroupQueryAttention"], GROUP_QUERY, |call| {
        attention::group_query_attention(call, Cache::Grows)
    }),
    ("com.microsoft", &["SparseAttention"], &[Input(0), Input(3), Input(4)], |call| {
        attention::group_query_attention(call, Cache::Stays)
    }),
    ("com.microsoft", &[
        "FusedMatMul", "FusedMatMulActivation", "SparseToDenseMatMul", "TransposeMatMul",
    ], FIRST, linear::fused_matmul),
    ("com.microsoft", &["FusedGemm"], FIRST, |call| linear::gemm(call, 1)),
    ("com.microsoft", &["GemmFloat8"], &[Attribute("dtype", 1)], |call| linear::gemm(call, 1)),
    ("com.microsoft", &["QGemm"], BY_RULE, linear::q_gemm),
    ("com.microsoft", &["MatMulInteger16"], BY_RULE, linear::matmul_integer16),
    ("com.microsoft", &["DynamicQuantizeMatMul"], FIRST, |call| linear::matmul(call, 0, 1)),
    ("com.microsoft", &["MatMulIntegerToFloat"], &[Input(2)], |call| linear::matmul(call, 0, 1)),
    ("com.microsoft", &["QOrderedMatMul"], FIRST, |call| linear::matmul(call, 0, 2)),
    ("com.microsoft", &["QuantizeLinear"], BY_RULE, elementwise::quantize),
    ("com.microsoft", &["DequantizeLinear"], &[Input(1)], elementwise::dequantize),
    ("com.microsoft", &["QLinearConcat"], &[Input(1)], pick::q_concat),
    ("com.microsoft", &["QLinearReduceMean"], FIRST, reduce::reduce),
    ("com.microsoft", &["ReduceSumInteger"], BY_RULE, reduce::reduce_integer),
    ("com.microsoft", &["GatherBlockQuantized"], &[Input(2)], pick::gather_quantized),
    ("com.microsoft", &["GatherND"], FIRST, shape::pick::gather_nd),
    ("com.microsoft", &["ExpandDims"], FIRST, layout::expand_dims),
    ("com.microsoft", &["UnfoldTensor"], FIRST, layout::unfold),
    ("com.microsoft", &["Pad"], FIRST, extent::pad),
    ("com.microsoft", &["Range"], FIRST, shape::generate::range),
    ("com.microsoft", &["GridSample"], FIRST, sequence::grid_sample),
    ("com.microsoft", &["FusedConv"], FIRST, |call| window::conv(call, 1)),
    ("com.microsoft", &["NhwcConv", "NhwcFusedConv"], FIRST, |call| {
        window::channels_last(call, |call| window::conv(call, 1))
    }),
    ("com.microsoft", &["QLinearConv"], &[Input(7)], |call| {
        window::either_layout(call, |call| window::conv(call, 3))
    }),
    ("com.microsoft", &["ConvTransposeWithDynamicPads"], FIRST, |call| window::conv_transpose(call, 1)),
    ("com.microsoft", &["MaxpoolWithMask"], FIRST, window::pool),
    ("com.microsoft", &["NhwcMaxPool"], FIRST, |call| window::channels_last(call, window::pool)),
    ("com.microsoft", &["QLinearAveragePool"], FIRST, |call| window::either_layout(call, window::pool)),
    ("com.microsoft", &["QLinearGlobalAveragePool"], FIRST, |call| window::either_layout(call, window::global_pool)),
    ("com.microsoft", &["DynamicQuantizeLSTM"], BY_RULE, sequence::recurrent),
    ("com.microsoft", &["CausalConvWithState"], &[Input(0); 3], state::causal_conv),
    ("com.microsoft.nchwc", &["Conv"], FIRST, |call| window::conv(call, 1)),
    ("com.microsoft.nchwc", &["AveragePool", "MaxPool"], FIRST, window::pool),
    ("com.microsoft.nchwc", &["GlobalAveragePool", "GlobalMaxPool"], FIRST, window::global_pool),
    ("com.microsoft.nchwc", &["ReorderInput"], FIRST, window::reorder_input),
    // Ops of the default set whose input 0 and results have their channels last.
    ("com.ms.internal.nhwc", &["InstanceNormalization", "LRN"], FIRST, shape::elementwise::same),
    ("com.ms.internal.nhwc", &["BatchNormalization"], FIRST, reduce::batch_norm),
    ("com.ms.internal.nhwc", &["AveragePool", "LpPool", "MaxPool"], WITH_INDICES, |call| {
        window::channels_last(call, window::pool)
    }),
    ("com.ms.internal.nhwc", &["QLinearAveragePool"], FIRST, |call| window::channels_last(call, window::pool)),
    ("com.ms.internal.nhwc", &["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"], FIRST, |call| {
        window::channels_last(call, window::global_pool)
    }),
    ("com.ms.internal.nhwc", &["Conv"], FIRST, |call| window::channels_last(call, |call| window::conv(call, 1))),
    ("com.ms.internal.nhwc", &["QLinearConv"], &[Input(7)], |call| {
        window::channels_last(call, |call| window::conv(call, 3))
    }),
    ("com.ms.internal.nhwc", &["ConvTranspose"], FIRST, |call| {
        window::channels_last(call, |call| window::conv_transpose(call, 1))
    }),
    ("com.ms.internal.nhwc", &["QLinearConvTranspose"], &[Input(7)], |call| {
        window::channels_last(call, |call| window::conv_transpose(call, 3))
    }),
    ("com.ms.internal.nhwc", &["DepthToSpace", "SpaceToDepth"], FIRST, |call| {
        window::channels_last(call, layout::blocks)
    }),
    ("com.ms.internal.nhwc", &["GridSample"], FIRST, |call| window::channels_last(call, sequence::grid_sample)),
    ("com.ms.internal.nhwc", &["MaxUnpool"], FIRST, |call| window::channels_last(call, window::max_unpool)),
    // Its scales and sizes have the order of the data.
    ("com.ms.internal.nhwc", &["Resize"], FIRST, sequence::resize),
    ("ai.onnx.preview.training", &["Adagrad", "Adam", "Momentum"], BY_RULE, state::optimizer),
    ("ai.onnx.preview.training", &["Gradient"], BY_RULE, state::gradient),
    ("ai.onnx.ml", &["Binarizer", "Imputer"], FIRST, shape::elementwise::same),
    ("ai.onnx.ml", &["Normalizer", "Scaler"], FLOAT32, shape::elementwise::same),
    ("ai.onnx.ml", &["CategoryMapper"], BY_RULE, ml::category_mapper),
    ("ai.onnx.ml", &["LabelEncoder"], BY_RULE, ml::label_encoder),
    ("ai.onnx.ml", &["OneHotEncoder"], FLOAT32, ml::one_hot_encoder),
    ("ai.onnx.ml", &["ArrayFeatureExtractor"], FIRST, ml::array_feature_extractor),
    ("ai.onnx.ml", &["FeatureVectorizer"], FLOAT32, ml::feature_vectorizer),
    ("ai.onnx.ml", &["LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor"], FLOAT32, ml::regressor),
    ("ai.onnx.ml", &["TreeEnsemble"], FIRST, ml::regressor),
    ("ai.onnx.ml", &["LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"], &[Unstated, Is(Float32)], ml::classifier),
    ("ai.onnx.ml", &["DictVectorizer"], BY_RULE, ml::dict_vectorizer),
    ("ai.onnx.ml", &["CastMap"], BY_RULE, ml::cast_map),
];

/// By operator set and op. Ops without a static shape have a row that states nothing.
pub(super) fn rules() -> BTreeMap<(&'static str, &'static str), Row> {
    let texts = forms::ENTRIES.iter().filter(|(_, entry)| entry.has_rule());
    let reasons = forms::ENTRIES.iter().filter(|(op, _)| !control::has_rule(op.1));
    let rows = FAMILIES.iter().flat_map(|(domain, kinds, types, rule)| {
        let row = Row::Rule(types, *rule);
        kinds.iter().map(move |kind| ((*domain, *kind), row))
    });
    // The last row of an op counts.
    let listed = reasons.chain(texts).map(|(op, entry)| (*op, Row::Text(entry)));
    listed.chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_op_is_in_two_rows() {
        let mut ops: Vec<(&str, &str)> = FAMILIES
            .iter()
            .flat_map(|(domain, kinds, ..)| kinds.iter().map(move |kind| (*domain, *kind)))
            .collect();
        ops.sort_unstable();
        let twice: Vec<_> = ops
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .map(|pair| pair[0])
            .collect();
        assert_eq!(twice, Vec::<(&str, &str)>::new());
        let both = ops
            .iter()
            .filter(|op| forms::ENTRIES.get(op).is_some_and(Entry::has_rule));
        assert_eq!(both.count(), 0);
    }

    #[test]
    fn every_schema_has_a_rule_or_a_reason() {
        let rows = rules();
        let schemas = include_str!("../../../../tests/import/onnx_schemas.txt");
        let listed = schemas.lines().filter(|line| !line.starts_with('#'));
        let ops: Vec<(&str, &str)> = listed
            .filter_map(|line| {
                let mut words = line.split(' ');
                Some((words.next()?.trim_start_matches('-'), words.next()?))
            })
            .collect();
        assert!(ops.len() > 400, "{}", ops.len());
        let has_rule = |op: &(&str, &str)| rows.contains_key(op) || (op.0.is_empty() && control::has_rule(op.1));
        let missing: Vec<&(&str, &str)> = ops.iter().filter(|op| !has_rule(op)).collect();
        assert_eq!(missing, Vec::<&(&str, &str)>::new());
    }
}
