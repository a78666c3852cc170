//! highwater's own options: scratch memory of ops whose source states none.

use super::simulation::{ON, OWN};
use super::{Acts, DefaultValue, OptionKind, OptionRow, keys};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::WORKSPACE_ESTIMATE,
        kind: OptionKind::TextChoice(&[
            ("off", "none: figures without stated scratch memory are lower bounds"),
            (ON, "by op type (simulation.workspace_table)"),
        ]),
        default: DefaultValue::Text("off"),
        summary: "whether scratch memory is estimated by op type",
        details: "Kernels take scratch memory (workspaces) while they run, and most formats do not state it. On, each \
                  op without stated workspaces that simulation.workspace_table fits holds an estimated one on its own \
                  step. Stated scratch memory always takes precedence. Real kernels depend on the chip and its \
                  operator package.",
        lowers_to: Some("Lowered::workspaces"),
        memory_effect: "one more block of feature memory on the step of each matching op",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::WORKSPACE_TABLE,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(DEFAULT_WORKSPACES),
        summary: "scratch memory by op type, with simulation.workspace_estimate",
        details: "Rules separated by commas, such as Conv*=25%,LayerNorm=2MiB: an op type, or its beginning with a * \
                  behind it; then whole percents of the bytes of the op's results, or a size. Types are compared as \
                  those of simulation.kept_ops, and the first rule that fits holds. The default is a guess for \
                  orientation: convolutions and their gradients, matrix products, attention, norms, reductions, \
                  sorting and recurrent layers.",
        lowers_to: Some("Lowered::workspaces"),
        rule: "K8",
        memory_effect: "with simulation.workspace_estimate on, the size of each estimated workspace; nothing otherwise",
        is_estimate: true,
        acts: Acts::ON_GRAPHS.with(&[keys::WORKSPACE_ESTIMATE]),
        ..OWN
    },
];

/// The default rules by op type: an estimate. Names are those of ONNX, TensorFlow and aten; earlier rules take
/// precedence.
pub(crate) const DEFAULT_WORKSPACES: &str = "Conv2DBackprop*=50%,Conv3DBackprop*=50%,\
convolution_backward*=50%,Conv=25%,ConvTranspose=25%,ConvInteger=25%,Conv1D*=25%,Conv2D*=25%,Conv3D*=25%,\
QLinearConv=25%,DeformConv=25%,DepthwiseConv*=10%,_FusedConv2D=25%,convolution*=25%,_convolution*=25%,conv1d=25%,\
conv2d=25%,conv3d=25%,conv_transpose*=25%,MatMul*=10%,QLinearMatMul=10%,BatchMatMul*=10%,Gemm=10%,GEMM=10%,\
Einsum=10%,mm=10%,bmm=10%,addmm=10%,baddbmm=10%,matmul=10%,linear=10%,Attention=10%,MultiHeadAttention=10%,\
GroupQueryAttention=10%,FlashAttention*=10%,scaled_dot_product*=10%,_scaled_dot_product*=10%,Softmax*=5%,\
LogSoftmax*=5%,SparseSoftmax*=5%,_softmax*=5%,_log_softmax*=5%,LayerNorm*=5%,BatchNorm*=5%,FusedBatchNorm*=5%,\
InstanceNorm*=5%,GroupNorm*=5%,native_layer_norm*=5%,native_batch_norm*=5%,_native_batch_norm*=5%,\
native_group_norm*=5%,TopK*=100%,Unique*=100%,NonZero=100%,topk=100%,sort=100%,argsort=100%,nonzero=100%,\
NonMaxSuppression*=2MiB,LSTM=100%,GRU=100%,RNN=100%,lstm=100%,gru=100%,Reduce*=64KiB,sum=64KiB,mean=64KiB,var=64KiB,\
var_mean=64KiB";
