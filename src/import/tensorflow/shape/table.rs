//! The table of shape rules: one row per family of ops.
//!
//! The types of outputs come from the public op registry (`ops.txt`). Ops without outputs need no row.

use std::collections::BTreeMap;

use super::{
    convolution, decompose, elementwise, examples, generate, gradient, image, layout, lists, matrix, norm, pick,
    quantize, random, recurrent, reduce, scatter, slice, state,
};
use crate::shape;
use crate::shape::call::Call;
use highwater_model::graph::Dim;

/// States the shapes of the outputs as far as it can.
pub(super) type Rule = fn(&mut Call<'_>) -> Option<()>;

pub(super) const FAMILIES: &[(&str, Rule)] = &[
    (
        "Abs Ceil Floor LogicalNot Neg Relu Rint Round Sqrt Square",
        shape::elementwise::unary,
    ),
    (
        "Acos Acosh AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation Angle Asin Asinh AsString Atan \
         Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e \
         BesselY0 BesselY1 Bucketize CheckNumerics CheckNumericsV2 Cholesky ClipByValue ComplexAbs Conj \
         Conv2DBackpropInputV2 Conv3DBackpropInput Cos Cosh Cumprod Cumsum CumulativeLogsumexp DataFormatDimMap \
         DataFormatVecPermute Dawsn DebugGradientIdentity DebugGradientRefIdentity DecodeBase64 Digamma \
         Dilation2DBackpropInput DrawBoundingBoxes DrawBoundingBoxesV2 Elu EncodeBase64 Erf Erfc Erfinv Exp \
         Expint Expm1 FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars \
         FakeQuantWithMinMaxVarsPerChannel FFT FFT2D FFT3D FresnelCos FresnelSin HSVToRGB IFFT IFFT2D IFFT3D Imag \
         InplaceAdd InplaceSub InplaceUpdate Inv Invert IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p \
         LogSoftmax LookupTableFind LRN MatrixBandPart MatrixExponential MatrixInverse MatrixLogarithm \
         MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixSquareRoot MaxPool3DGrad MaxPoolGrad MaxPoolGradV2 \
         MaxPoolGradWithArgmax Ndtri QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 \
         QuantizeAndDequantizeV4 RandomShuffle Real Reciprocal Relu6 Reverse ReverseSequence ReverseV2 RGBToHSV \
         Roll Rsqrt Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Spence StringLower StringStrip \
         StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Tan Tanh \
         TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate \
         TensorStridedSliceUpdate _UnaryOpsComposition",
        shape::elementwise::same,
    ),
    (
        "AddN EluGrad InvGrad LeakyReluGrad LRNGrad ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad \
         SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad",
        elementwise::agreed,
    ),
    (
        "_EagerConst CopyHost DeepCopy Enter Exit Identity IdentityN NextIteration PreventGradient Print RefEnter \
         RefExit RefIdentity RefNextIteration Snapshot StopGradient",
        shape::elementwise::identity,
    ),
    ("_SwitchN RefSwitch Switch", elementwise::switch),
    ("EnsureShape", elementwise::ensure_shape),
    ("BiasAdd BiasAddV1", elementwise::bias_add),
    (
        "Add AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Equal FloorDiv \
         FloorMod Greater GreaterEqual Igamma Igammac IgammaGradA LeftShift Less LessEqual LogicalAnd LogicalOr \
         Maximum Minimum Mod Mul MulNoNan NextAfter NotEqual Pow RealDiv RightShift SquaredDifference Sub \
         TruncateDiv TruncateMod Xdivy Xlog1py Xlogy Zeta",
        elementwise::binary,
    ),
    ("Cast", shape::elementwise::cast),
    ("Bitcast", elementwise::bitcast),
    ("Select", elementwise::select),
    ("SelectV2", shape::elementwise::select),
    (
        "AccumulatorNumAccumulated AudioSummary AudioSummaryV2 BarrierReadySize CountUpTo HistogramSummary ImageSummary \
         IsBoostedTreesEnsembleInitialized IsVariableInitialized L2Loss LookupTableSize LookupTableSizeV2 LoopCond \
         MergeSummary MutexLock OptionalHasValue \
         QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2 ReaderNumRecordsProduced ReaderNumRecordsProducedV2 \
         RequantizationRange RequantizationRangePerChannel ScalarSummary StatelessRandomGetAlg StringFormat \
         TensorArraySize TensorArraySizeV2 TensorArraySizeV3 TensorListConcatLists TensorSummary TensorSummaryV2 \
         VarIsInitializedOp",
        |call| call.out_scalars(0),
    ),
    ("ListDiff", |call| call.out_from(0, &[Dim::Unknown])),
    (
        "_HostRecv _Recv AccumulatorTakeGradient DecodeImage DecodeRaw EagerPyFunc PyFunc PyFuncStateless QueueDequeue QueueDequeueMany QueueDequeueManyV2 \
         QueueDequeueV2 ReaderRead ReaderReadV2 ReadFile Recv Restore RestoreSlice RestoreV2 StringJoin Substr \
         Unstage WholeFileReader WholeFileReaderV2",
        |_| None,
    ),
    ("_FusedMatMul MatMul QuantizedMatMul SparseMatMul", matrix::matmul),
    ("BatchMatMul BatchMatMulV2 BatchMatMulV3", matrix::batch_matmul),
    ("Einsum", matrix::einsum),
    ("_FusedConv2D Conv2D QuantizedConv2D", |call| {
        convolution::convolve(call, 2, false)
    }),
    ("_FusedConv3D Conv3D", |call| convolution::convolve(call, 3, false)),
    ("Conv", convolution::conv_any),
    (
        "_FusedDepthwiseConv2dNative DepthwiseConv2dNative QuantizedDepthwiseConv2D",
        |call| convolution::convolve(call, 2, true),
    ),
    ("Dilation2D", convolution::dilation_2d),
    (
        "AvgPool3DGrad AvgPoolGrad Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput",
        |call| convolution::gradient(call, 0),
    ),
    (
        "Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter",
        |call| convolution::gradient(call, 1),
    ),
    (
        "AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolV2 MaxPoolWithArgmax QuantizedAvgPool QuantizedMaxPool",
        convolution::pool,
    ),
    (
        "Conv2DBackpropFilterV2 Conv3DBackpropFilter Dilation2DBackpropFilter InTopK InTopKV2 MaxPool3DGradGrad \
         MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradGradWithArgmax ResizeBicubicGrad ResizeBilinearGrad \
         ScaleAndTranslateGrad",
        |call| call.like(0, 1),
    ),
    ("BiasAddGrad", convolution::bias_gradient),
    (
        "_FusedBatchNormEx FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
        norm::batch_norm,
    ),
    (
        "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
        norm::batch_norm_gradient,
    ),
    ("SoftmaxCrossEntropyWithLogits", norm::softmax_loss),
    ("SparseSoftmaxCrossEntropyWithLogits", norm::sparse_softmax_loss),
    ("CTCLoss CTCLossV2", norm::ctc_loss),
    ("All Any EuclideanNorm Max Mean Min Prod Sum", reduce::reduce),
    ("ArgMax ArgMin", reduce::arg_reduce),
    (
        "SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum",
        reduce::segment,
    ),
    (
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum",
        reduce::unsorted_segment,
    ),
    (
        "SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtN \
         SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumGrad \
         SparseSegmentSumWithNumSegments",
        reduce::sparse_segment,
    ),
    ("Bincount DenseBincount", reduce::bincount),
    ("Reshape", layout::reshape),
    ("Squeeze", layout::squeeze),
    ("ExpandDims", layout::expand_dims),
    ("ConjugateTranspose Transpose", layout::transpose),
    ("MirrorPad MirrorPadGrad Pad PadV2", layout::pad),
    ("Tile", shape::layout::tile),
    ("BroadcastTo", layout::broadcast_to),
    ("DepthToSpace SpaceToDepth", layout::blocks),
    (
        "BatchToSpace BatchToSpaceND SpaceToBatch SpaceToBatchND",
        layout::batch_blocks,
    ),
    ("Diag DiagPart MatrixDiag MatrixDiagPart", layout::diagonal),
    ("MatrixDiagV3", decompose::wide_diagonal),
    ("Svd", decompose::svd),
    ("Qr", decompose::qr),
    ("Lu", decompose::lu),
    ("SelfAdjointEigV2", decompose::eigen),
    ("LogMatrixDeterminant MatrixDeterminant", shape::reduce::determinant),
    ("IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D", decompose::real_fourier),
    ("Const HostConst", generate::constant),
    (
        "Placeholder PlaceholderV2 PlaceholderWithDefault",
        generate::placeholder,
    ),
    ("IteratorGetNext IteratorGetNextSync", generate::next_batch),
    (
        "ImmutableConst ParallelConcat TemporaryVariable Variable VariableV2",
        generate::shaped,
    ),
    (
        "Empty ParameterizedTruncatedNormal RandomStandardNormal RandomUniform RandomUniformInt \
         StatefulStandardNormal StatelessRandomBinomial StatelessRandomNormal StatelessRandomNormalV2 \
         StatelessRandomPoisson StatelessRandomUniform StatelessRandomUniformFullInt \
         StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformIntV2 \
         StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2 StridedSliceGrad \
         TruncatedNormal",
        |call| generate::shaped_by(call, 0),
    ),
    (
        "ScatterNd StatefulRandomBinomial StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform \
         StatefulUniformFullInt StatefulUniformInt",
        |call| generate::shaped_by(call, 2),
    ),
    ("Fill", generate::fill),
    ("OnesLike ZerosLike", generate::like_filled),
    ("Range", shape::generate::range),
    ("LinSpace", |call| call.out(0, &[call.scalar_dim(2)])),
    ("Shape ShapeN", generate::shape),
    ("Size", shape::generate::size),
    ("Rank", generate::rank),
    ("RandomGamma RandomPoisson RandomPoissonV2", random::per_parameter),
    ("Multinomial StatelessMultinomial", random::multinomial),
    (
        "StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg",
        random::key_counter,
    ),
    (
        "AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler \
         LogUniformCandidateSampler UniformCandidateSampler",
        random::candidates,
    ),
    ("BroadcastGradientArgs", gradient::arguments),
    ("BroadcastArgs", gradient::broadcast_args),
    ("Slice", slice::slice),
    ("StridedSlice", slice::strided_slice),
    ("Gather", shape::pick::gather),
    ("GatherV2", pick::gather_v2),
    ("ResourceGather", pick::resource_gather),
    ("GatherNd ResourceGatherNd", shape::pick::gather_nd),
    ("Concat ConcatV2 QuantizedConcat", pick::concat),
    ("ConcatOffset", pick::concat_offset),
    ("Split", pick::split),
    ("SplitV", pick::split_v),
    ("Pack", pick::pack),
    ("Unpack", pick::unpack),
    ("TopK TopKV2", shape::pick::top_k),
    ("OneHot", shape::layout::one_hot),
    ("Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2", pick::unique),
    ("Where", pick::positions_of),
    ("DynamicStitch ParallelDynamicStitch", scatter::stitch),
    ("DynamicPartition", scatter::partition),
    ("InvertPermutation", scatter::invert_permutation),
    ("SparseToDense", |call| generate::shaped_by(call, 1)),
    ("VarHandleOp", state::handle),
    ("ReadVariableOp", state::read),
    ("TensorListElementShape VariableShape", state::target_shape),
    ("Assign AssignAdd AssignSub", state::assign),
    (
        "ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdam ApplyAdaMax ApplyAddSign \
         ApplyCenteredRMSProp ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum ApplyPowerSign \
         ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp DestroyTemporaryVariable ScatterAdd \
         ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdMax ScatterNdMin \
         ScatterNdNonAliasingAdd ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate SparseApplyAdadelta \
         SparseApplyAdagrad SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2 \
         SparseApplyMomentum SparseApplyProximalAdagrad SparseApplyProximalGradientDescent SparseApplyRMSProp \
         StridedSliceAssign",
        state::update,
    ),
    ("EmptyTensorList TensorListReserve", lists::empty),
    ("TensorListFromTensor", lists::from_tensor),
    ("TensorListScatter TensorListScatterV2", lists::scattered),
    ("TensorListSplit", lists::split),
    (
        "TensorListPushBack TensorListScatterIntoExistingList TensorListSetItem",
        lists::put,
    ),
    ("TensorListPopBack", lists::pop),
    ("TensorListGetItem", lists::item),
    ("TensorListStack", lists::stack),
    ("TensorListGather", lists::gather),
    ("TensorListConcat TensorListConcatV2", lists::concat),
    ("TensorListLength", lists::length),
    ("TensorListResize", lists::resized),
    ("TensorArrayV3", lists::array),
    ("TensorArrayGradV3", lists::array_gradient),
    (
        "TensorArrayScatterV3 TensorArraySplitV3 TensorArrayWriteV3",
        lists::array_write,
    ),
    ("TensorArrayReadV3", lists::array_read),
    ("TensorArrayGatherV3", lists::array_gather),
    ("TensorArrayConcatV3", lists::array_concat),
    (
        "QuantizedResizeBilinear ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor \
         ResizeNearestNeighborGrad ScaleAndTranslate",
        image::resize,
    ),
    ("CropAndResize", image::crop_and_resize),
    ("ExtractImagePatches", image::patches),
    (
        "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5",
        image::suppression,
    ),
    ("DecodeBmp DecodeJpeg DecodePng", image::decode),
    ("DecodeAndCropJpeg", image::decode_cropped),
    ("ParseExample ParseExampleV2 ParseSingleExample", examples::parse),
    ("ImageProjectiveTransformV2 ImageProjectiveTransformV3", image::project),
    (
        "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2",
        image::random_box,
    ),
    (
        "Dequantize QuantizedBiasAdd QuantizedInstanceNorm QuantizeDownAndShrinkRange QuantizedRelu \
         QuantizedRelu6 QuantizedReluX QuantizeV2 Requantize RequantizePerChannel",
        quantize::with_range,
    ),
    ("QuantizedAdd QuantizedMul", quantize::binary_with_range),
    ("QuantizedReshape", quantize::reshape_with_range),
    (
        "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient QuantizeAndDequantizeV4Grad",
        quantize::rounding_gradient,
    ),
    ("GRUBlockCell LSTMBlockCell", recurrent::lstm_cell),
    ("BlockLSTM BlockLSTMV2", recurrent::lstm_layer),
    ("BlockLSTMGrad BlockLSTMGradV2", recurrent::lstm_layer_gradient),
    ("CudnnRNN CudnnRNNV2 CudnnRNNV3", recurrent::vendor_layer),
    (
        "CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3",
        recurrent::vendor_gradient,
    ),
    ("CudnnRNNParamsSize", |call| call.out(0, &[Dim::Known(1)])),
];

pub(super) fn rules() -> BTreeMap<&'static str, Rule> {
    FAMILIES
        .iter()
        .flat_map(|(kinds, rule)| kinds.split_whitespace().map(move |kind| (kind, *rule)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensorflow::ops::OpTable;

    #[test]
    fn no_op_is_in_two_rows() {
        let mut kinds: Vec<&str> = FAMILIES.iter().flat_map(|family| family.0.split_whitespace()).collect();
        kinds.sort_unstable();
        let twice: Vec<&str> = kinds
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .map(|pair| pair[0])
            .collect();
        assert_eq!(twice, Vec::<&str>::new());
    }

    #[test]
    fn every_row_names_an_op_with_outputs() {
        let table = OpTable::new();
        let wrong: Vec<&str> = rules()
            .into_keys()
            .filter(|kind| table.outputs(kind).is_none_or(|mut outputs| outputs.next().is_none()))
            .collect();
        assert_eq!(wrong, Vec::<&str>::new());
    }
}
