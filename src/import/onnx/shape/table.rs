//! The table of shape rules: one row per family of ops.

use std::collections::BTreeMap;

use self::Type::{Attribute, Input, Is, Unstated};
use super::{elementwise, extent, generate, layout, linear, ml, pick, reduce, sequence, window};
use crate::element_types::ONNX;
use crate::shape;
use crate::shape::call::Call;
use crate::shape::fact::Fact;
use highwater_model::graph::DType::{Bool, Float32, Int32, Int64, Uint8};
use highwater_model::graph::{DType, Dim};

/// States the shapes of the outputs as far as it can.
type Rule = fn(&mut Call<'_>) -> Option<()>;

#[derive(Clone, Copy)]
enum Type {
    Input(usize),
    Is(DType),
    /// The code in an attribute, else this code.
    Attribute(&'static str, i64),
    /// The rule states it once it knows the shape.
    Unstated,
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    types: &'static [Type],
    rule: Rule,
}

impl Row {
    pub(super) fn facts(self, mut call: Call<'_>) -> Vec<Fact> {
        for (output, ty) in self.types.iter().enumerate() {
            let dtype = match *ty {
                Input(input) => call.dtype(input),
                Is(dtype) => dtype,
                Attribute(name, default) => ONNX.of_code(call.int_or(name, default)),
                Unstated => DType::Unknown,
            };
            call.set_dtype(output, dtype);
        }
        // `None` means that the rest stays unknown.
        let _stopped: Option<()> = (self.rule)(&mut call);
        call.outputs
    }
}

const FIRST: &[Type] = &[Input(0)];
const FIRST_2: &[Type] = &[Input(0), Input(0)];
const WITH_INDICES: &[Type] = &[Input(0), Is(Int64)];
const BOOL: &[Type] = &[Is(Bool)];
const FLOAT32: &[Type] = &[Is(Float32)];
const INT32: &[Type] = &[Is(Int32)];
const INT64: &[Type] = &[Is(Int64)];
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
    ("", &["PRelu"], FIRST, shape::elementwise::same),
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
    ("", &["ConvTranspose"], FIRST, window::conv_transpose),
    ("", &["AveragePool", "LpPool", "MaxPool"], WITH_INDICES, window::pool),
    ("", &["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"], FIRST, window::global_pool),
    ("", &["MaxUnpool"], FIRST, window::max_unpool),
    ("", &["MaxRoiPool", "RoiAlign"], FIRST, window::roi_pool),
    ("", &["Col2Im"], FIRST, window::col_to_im),
    ("", &["MatMul"], FIRST, |call| linear::matmul(call, 0, 1)),
    ("", &["MatMulInteger"], INT32, |call| linear::matmul(call, 0, 1)),
    ("", &["QLinearMatMul"], &[Input(7)], |call| linear::matmul(call, 0, 3)),
    ("", &["Gemm"], FIRST, linear::gemm),
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
    // Sequences and optionals have no shape; `report` lists them.
    ("", &[
        "Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SplitToSequence",
    ], BY_RULE, |_| None),
    ("", &["SequenceLength"], INT64, |call| call.out(0, &[])),
    ("", &["DFT"], FIRST, generate::dft),
    ("", &["GRU", "LSTM", "RNN"], BY_RULE, sequence::recurrent),
    ("", &["Attention"], &[Input(0); 4], sequence::attention),
    ("", &["Resize", "Upsample"], FIRST, sequence::resize),
    ("", &["GridSample"], FIRST, sequence::grid_sample),
    ("", &["AffineGrid"], FIRST, sequence::affine_grid),
    ("", &["DeformConv"], FIRST, sequence::deform_conv),
    ("com.microsoft", &[
        "BiasGelu", "BiasSoftmax", "FastGelu", "Gelu", "GroupNorm", "QLinearLeakyRelu", "QLinearSigmoid",
        "QLinearSoftmax", "QuickGelu", "RotaryEmbedding",
    ], FIRST, shape::elementwise::unary),
    ("com.microsoft", &["BiasDropout"], FIRST, elementwise::dropout),
    ("com.microsoft", &["BiasAdd"], FIRST, elementwise::arithmetic),
    ("com.microsoft", &["LayerNormalization", "SimplifiedLayerNormalization"], FIRST, reduce::layer_norm),
    ("com.microsoft", &[
        "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
    ], &[Input(0), Unstated, Unstated, Input(0)], reduce::skip_layer_norm),
    ("com.microsoft", &["EmbedLayerNormalization"], &[Input(2), Is(Int32), Input(2)], sequence::embed_layer_norm),
    ("com.microsoft", &["Attention", "QAttention"], FIRST_2, sequence::packed_attention),
    ("com.microsoft", &["MultiHeadAttention"], &[Input(0); 3], sequence::multi_head_attention),
    ("com.microsoft", &["FusedMatMul", "TransposeMatMul"], FIRST, linear::fused_matmul),
    ("com.microsoft", &["FusedGemm"], FIRST, linear::gemm),
    ("com.microsoft", &["MatMulNBits"], FIRST, linear::matmul_n_bits),
    ("com.microsoft", &["DynamicQuantizeMatMul", "MatMulIntegerToFloat"], &[Is(Float32)], |call| linear::matmul(call, 0, 1)),
    ("com.microsoft", &["QLinearAdd", "QLinearMul"], FIRST, elementwise::qlinear_pair),
    ("com.microsoft", &["QuantizeLinear"], BY_RULE, elementwise::quantize),
    ("com.microsoft", &["DequantizeLinear"], &[Input(1)], elementwise::dequantize),
    ("com.microsoft", &["FusedConv"], FIRST, |call| window::conv(call, 1)),
    ("com.microsoft", &["QLinearAveragePool"], WITH_INDICES, window::pool),
    ("com.microsoft", &["DynamicQuantizeLSTM"], BY_RULE, sequence::recurrent),
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
    // A sequence of maps has no shape.
    ("ai.onnx.ml", &["ZipMap"], BY_RULE, |_| None),
];

pub(super) fn rules() -> BTreeMap<(&'static str, &'static str), Row> {
    FAMILIES
        .iter()
        .flat_map(|(domain, kinds, types, rule)| {
            let row = Row { types, rule: *rule };
            kinds.iter().map(move |kind| ((*domain, *kind), row))
        })
        .collect()
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
    }
}
