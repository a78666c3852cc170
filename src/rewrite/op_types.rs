//! Sets of op types, and the types that run on a matrix unit in ONNX, TensorFlow and PyTorch.
//!
//! Names are compared without the prefix `aten.` and the overload suffix: `aten.mm.default` is `mm`.

use std::collections::BTreeSet;

use highwater_model::graph::Graph;

/// Types of matrix multiplication and convolution.
const MATRIX_OPS: &[&str] = &[
    // ONNX
    "MatMul",
    "MatMulInteger",
    "Gemm",
    "Einsum",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DeformConv",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "QLinearConv",
    "QLinearMatMul",
    // TensorFlow and the engine's own
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "DeformableConv2D",
    "FullyConnection",
    "GEMM",
    "MatMulV2",
    "MatMulV3",
    "SparseMatMul",
    "_FusedConv2D",
    "_FusedMatMul",
    // PyTorch
    "addbmm",
    "addmm",
    "addmm_",
    "addmv",
    "baddbmm",
    "baddbmm_",
    "bilinear",
    "bmm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "convolution_backward",
    "dot",
    "einsum",
    "linear",
    "linear_backward",
    "matmul",
    "mm",
    "mv",
    "scaled_dot_product_attention",
];

/// Prefixes of further families: gradients of convolutions, depthwise forms, kinds of attention.
const MATRIX_FAMILIES: &[&str] = &[
    "Conv2DBackprop",
    "Conv3DBackprop",
    "DepthwiseConv",
    "_convolution",
    "_scaled_dot_product_",
    "cudnn_convolution",
    "mkldnn_convolution",
];

/// An op type without library prefix and overload suffix.
pub fn plain_type(kind: &str) -> &str {
    match kind.strip_prefix("aten.").or_else(|| kind.strip_prefix("aten::")) {
        Some(name) => name.split_once('.').map_or(name, |(name, _)| name),
        None => kind.strip_suffix(".default").unwrap_or(kind),
    }
}

pub fn is_matrix_op(kind: &str) -> bool {
    let kind = plain_type(kind);
    MATRIX_OPS.contains(&kind) || MATRIX_FAMILIES.iter().any(|family| kind.starts_with(family))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpTypes {
    names: BTreeSet<String>,
}

impl OpTypes {
    /// Reads names separated by commas; blanks around them are ignored.
    pub fn parse(text: &str) -> Self {
        let mut types = Self::default();
        for name in text.split(',') {
            types.insert(name);
        }
        types
    }

    /// Ignores an empty name.
    pub fn insert(&mut self, kind: &str) {
        let kind = plain_type(kind.trim());
        if !kind.is_empty() {
            self.names.insert(kind.to_owned());
        }
    }

    pub fn remove(&mut self, kind: &str) {
        self.names.remove(plain_type(kind.trim()));
    }

    pub fn contains(&self, kind: &str) -> bool {
        self.names.contains(plain_type(kind))
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Names in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether a graph has an op of one of these types.
    pub fn occur_in(&self, graph: &Graph) -> bool {
        !self.is_empty() && graph.ops().ids().any(|op| self.contains(graph.op_kind(op)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_under_every_spelling() {
        for kind in [
            "MatMul",
            "aten.mm.default",
            "aten::addmm.out",
            "aten.convolution_backward.default",
            "aten._scaled_dot_product_flash_attention.default",
            "Conv2DBackpropFilter",
            "DepthwiseConv2dNative",
            "QLinearConv",
            "mm.default",
        ] {
            assert!(is_matrix_op(kind), "{kind}");
        }
        for kind in [
            "Concat",
            "Convert",
            "aten.add.Tensor",
            "Relu",
            "QLinearAdd",
            "com.MatMul",
            "",
        ] {
            assert!(!is_matrix_op(kind), "{kind}");
        }
    }

    #[test]
    fn sets_read_names_with_commas() {
        let mut types = OpTypes::parse(" Softmax, aten._softmax.default,,");
        assert_eq!(types.iter().collect::<Vec<_>>(), ["Softmax", "_softmax"]);
        assert!(types.contains("aten._softmax.default"));
        types.remove("_softmax");
        assert!(!types.contains("aten._softmax.default"));
    }
}
