//! The table of shape rules: one row per family of ops.

use std::collections::BTreeMap;

use super::call::Call;
use super::{elementwise, extent, generate, layout, linear, pick, reduce, sequence, window};

/// Infers what it can; see [`Call`].
pub(super) type Rule = fn(&mut Call<'_>) -> Option<()>;

/// Names of ops by operator set (empty: the default one), and their rule.
#[rustfmt::skip]
static FAMILIES: &[(&str, &[&str], Rule)] = &[
    ("", &["Identity"], elementwise::identity),
    ("", &[
        "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Cos", "Cosh",
        "CumProd", "CumSum", "Elu", "Erf", "Exp", "Floor", "Gelu", "GroupNormalization", "HardSigmoid", "HardSwish",
        "Hardmax", "InstanceNormalization", "LRN", "LeakyRelu", "Log", "LogSoftmax", "LpNormalization",
        "MeanVarianceNormalization", "Mish", "Neg", "Not", "Reciprocal", "Relu", "ReverseSequence",
        "RotaryEmbedding", "Round", "ScaledTanh", "Scatter", "ScatterElements", "ScatterND", "Selu", "Shrink",
        "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
        "TensorScatter", "ThresholdedRelu", "Trilu", "Affine", "ParametricSoftplus", "ImageScaler",
        "RMSNormalization",
    ], elementwise::same),
    ("", &["IsInf", "IsNaN", "RegexFullMatch"], elementwise::same_bool),
    ("", &["Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"], elementwise::same_with_dtype),
    ("", &["Dropout"], elementwise::dropout),
    ("", &["Cast", "CastLike"], elementwise::cast),
    ("", &[
        "Add", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Max", "Mean", "Min", "Mod", "Mul", "Pow",
        "StringConcat", "Sub", "Sum",
    ], elementwise::arithmetic),
    ("", &["And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor"], elementwise::comparison),
    ("", &["Where"], elementwise::select),
    ("", &["Clip"], elementwise::clip),
    ("", &["PRelu"], elementwise::prelu),
    ("", &["Reshape"], layout::reshape),
    ("", &["Flatten"], layout::flatten),
    ("", &["Squeeze"], layout::squeeze),
    ("", &["Unsqueeze"], layout::unsqueeze),
    ("", &["Transpose"], layout::transpose),
    ("", &["Expand"], layout::expand),
    ("", &["Tile"], layout::tile),
    ("", &["SpaceToDepth"], layout::space_to_depth),
    ("", &["DepthToSpace"], layout::depth_to_space),
    ("", &["Shape"], layout::shape),
    ("", &["Size"], layout::size),
    ("", &["Gather"], pick::gather),
    ("", &["GatherElements"], pick::gather_elements),
    ("", &["GatherND"], pick::gather_nd),
    ("", &["Slice"], pick::slice),
    ("", &["Concat"], pick::concat),
    ("", &["Split"], pick::split),
    ("", &["Pad"], extent::pad),
    ("", &["TopK"], extent::top_k),
    ("", &["Compress"], extent::compress),
    ("", &["CenterCropPad"], extent::center_crop_pad),
    ("", &["Conv"], window::conv),
    ("", &["ConvInteger"], window::conv_integer),
    ("", &["QLinearConv"], window::qlinear_conv),
    ("", &["ConvTranspose"], window::conv_transpose),
    ("", &["AveragePool", "LpPool", "MaxPool"], window::pool),
    ("", &["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"], window::global_pool),
    ("", &["MaxUnpool"], window::max_unpool),
    ("", &["MaxRoiPool", "RoiAlign"], window::roi_pool),
    ("", &["Col2Im"], window::col_to_im),
    ("", &["MatMul"], linear::matmul),
    ("", &["MatMulInteger"], linear::matmul_integer),
    ("", &["QLinearMatMul"], linear::qlinear_matmul),
    ("", &["Gemm"], linear::gemm),
    ("", &["Einsum"], linear::einsum),
    ("", &["QuantizeLinear"], linear::quantize),
    ("", &["DequantizeLinear"], linear::dequantize),
    ("", &["DynamicQuantizeLinear"], linear::dynamic_quantize),
    ("", &[
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
        "ReduceProd", "ReduceSum", "ReduceSumSquare",
    ], reduce::reduce),
    ("", &["ArgMax", "ArgMin"], reduce::arg_reduce),
    ("", &["LayerNormalization", "SimplifiedLayerNormalization"], reduce::layer_norm),
    ("", &["BatchNormalization"], reduce::batch_norm),
    ("", &["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"], reduce::loss),
    ("", &["Det"], reduce::det),
    ("", &["Constant"], generate::constant),
    ("", &["ConstantOfShape"], generate::constant_of_shape),
    ("", &["Range"], generate::range),
    ("", &["OneHot"], generate::one_hot),
    ("", &["RandomNormal", "RandomUniform"], generate::random),
    ("", &["Multinomial"], generate::multinomial),
    ("", &["BlackmanWindow", "HammingWindow", "HannWindow"], generate::window),
    ("", &["MelWeightMatrix"], generate::mel_weights),
    ("", &["NonZero"], generate::non_zero),
    ("", &["NonMaxSuppression"], generate::suppression),
    ("", &["Unique"], generate::unique),
    ("", &["OptionalHasElement"], generate::one_bool),
    // Sequences and optionals have no shape; `report` says what becomes of them.
    ("", &[
        "Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SplitToSequence",
    ], generate::no_tensor),
    ("", &["SequenceLength"], generate::one_int),
    ("", &["DFT"], generate::dft),
    ("", &["GRU", "LSTM", "RNN"], sequence::recurrent),
    ("", &["Attention"], sequence::attention),
    ("", &["Resize", "Upsample"], sequence::resize),
    ("", &["GridSample"], sequence::grid_sample),
    ("", &["AffineGrid"], sequence::affine_grid),
    ("", &["DeformConv"], sequence::deform_conv),
    ("com.microsoft", &[
        "BiasGelu", "BiasSoftmax", "FastGelu", "Gelu", "GroupNorm", "QLinearLeakyRelu", "QLinearSigmoid",
        "QLinearSoftmax", "QuickGelu", "RotaryEmbedding",
    ], elementwise::same),
    ("com.microsoft", &["BiasDropout"], elementwise::dropout),
    ("com.microsoft", &["BiasAdd"], elementwise::arithmetic),
    ("com.microsoft", &["LayerNormalization", "SimplifiedLayerNormalization"], reduce::layer_norm),
    ("com.microsoft", &["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"], reduce::skip_layer_norm),
    ("com.microsoft", &["EmbedLayerNormalization"], sequence::embed_layer_norm),
    ("com.microsoft", &["Attention", "QAttention"], sequence::packed_attention),
    ("com.microsoft", &["MultiHeadAttention"], sequence::multi_head_attention),
    ("com.microsoft", &["FusedMatMul", "TransposeMatMul"], linear::fused_matmul),
    ("com.microsoft", &["FusedGemm"], linear::gemm),
    ("com.microsoft", &["MatMulNBits"], linear::matmul_n_bits),
    ("com.microsoft", &["DynamicQuantizeMatMul", "MatMulIntegerToFloat"], linear::matmul_to_float),
    ("com.microsoft", &["QLinearAdd", "QLinearMul"], linear::qlinear_pair),
    ("com.microsoft", &["QuantizeLinear"], linear::quantize),
    ("com.microsoft", &["DequantizeLinear"], linear::dequantize),
    ("com.microsoft", &["FusedConv"], window::conv),
    ("com.microsoft", &["QLinearAveragePool"], window::pool),
    ("com.microsoft", &["DynamicQuantizeLSTM"], sequence::recurrent),
];

/// Rules by operator set and name.
pub(super) fn rules() -> BTreeMap<(&'static str, &'static str), Rule> {
    FAMILIES
        .iter()
        .flat_map(|(domain, kinds, rule)| kinds.iter().map(move |kind| ((*domain, *kind), *rule)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_has_one_row() {
        let rows: usize = FAMILIES.iter().map(|family| family.1.len()).sum();
        assert_eq!(rules().len(), rows);
    }
}
