//! Precision: element widths that the compiler changes, as new sizes of storages.
//!
//! ```text
//! Relu --float32--> [MatMul] --float32, 2 bytes under "matrix results in 16 bits"--> Relu --float32-->
//! ```
//!
//! In: a graph, its sizes, a [`Precision`]. Out: sizes with other bytes for some storages of activations. A storage
//! follows its root tensor (dtype and producer), views and in-place results included; inputs, outputs, residents,
//! scratch memory, integers, booleans and float64 do not change; stated bytes are scaled by the ratio of the widths. An
//! estimate: the compiler decides op by op, by its kernels, and may insert casts.

use std::collections::BTreeMap;

use super::op_types::{OpTypes, is_matrix_op, plain_type};
use highwater_model::graph::{DType, Graph, Id as _, Role, Sizes};

/// Results that change their width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrecisionMode {
    #[default]
    Keep,
    /// float32 results of matrix ops become 16 bits wide.
    MatrixTo16,
    /// float32 and 16-bit results of matrix ops become 8 bits wide.
    MatrixTo8,
    /// Every float32 result becomes 16 bits wide.
    AllTo16,
    /// Every 16-bit float result becomes 32 bits wide.
    AllTo32,
    /// float32 results of all ops but the kept ones become 16 bits wide.
    MixedTo16,
    /// float32 results of all ops but the kept ones become 8 bits wide.
    MixedTo8,
}

impl PrecisionMode {
    /// Whether [`Precision::kept`] applies.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::MixedTo16 | Self::MixedTo8)
    }
}

/// A mode, and the op types that mixed precision does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precision {
    pub mode: PrecisionMode,
    /// Read in mixed modes only.
    pub kept: OpTypes,
    /// Widths of single operators, which win over the mode.
    pub customized: CustomWidths,
}

/// Widths in bits of the results of single operators; `None` where the data type has no known width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomWidths {
    /// By name of the op; wins over its type.
    pub by_name: BTreeMap<String, Vec<Option<u32>>>,
    pub by_type: BTreeMap<String, Vec<Option<u32>>>,
}

impl CustomWidths {
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.by_type.is_empty()
    }

    fn bits(&self, name: &str, kind: &str, output: usize) -> Option<u32> {
        let of_name = self.by_name.get(name);
        let widths = of_name.or_else(|| self.by_type.get(plain_type(kind)))?;
        *widths.get(output)?
    }
}

impl Precision {
    /// The new width in bits of a result; `None` where it does not change.
    pub fn bits(&self, kind: &str, dtype: DType) -> Option<u32> {
        let is_single = dtype == DType::Float32;
        let is_half = matches!(dtype, DType::Float16 | DType::Bfloat16);
        let (applies, bits) = match self.mode {
            PrecisionMode::Keep => (false, 0),
            PrecisionMode::MatrixTo16 => (is_single && is_matrix_op(kind), 16),
            PrecisionMode::MatrixTo8 => ((is_single || is_half) && is_matrix_op(kind), 8),
            PrecisionMode::AllTo16 => (is_single, 16),
            PrecisionMode::AllTo32 => (is_half, 32),
            PrecisionMode::MixedTo16 => (is_single && !self.kept.contains(kind), 16),
            PrecisionMode::MixedTo8 => (is_single && !self.kept.contains(kind), 8),
        };
        applies.then_some(bits)
    }
}

/// O(tensors).
pub fn with_precision(graph: &Graph, mut sizes: Sizes, precision: &Precision) -> Sizes {
    if precision.mode == PrecisionMode::Keep && precision.customized.is_empty() {
        return sizes;
    }
    let mut is_output = vec![false; graph.storages().len()];
    for tensor in graph.outputs() {
        is_output[graph.tensors()[*tensor].storage.idx()] = true;
    }
    for (id, storage) in graph.storages().iter_ids() {
        let root = &graph.tensors()[storage.root];
        let Some(op) = root
            .producer
            .filter(|_| root.role == Role::Activation && !is_output[id.idx()])
        else {
            continue;
        };
        let kind = graph.op_kind(op);
        let output = graph.results(op).iter().position(|tensor| *tensor == storage.root);
        let custom = output.and_then(|output| precision.customized.bits(graph.op_name(op), kind, output));
        if let Some(bits) = custom.or_else(|| precision.bits(kind, root.dtype)) {
            let scaled = u128::from(sizes.storage(id)) * u128::from(bits);
            let bytes = scaled.div_ceil(u128::from(root.dtype.bits()));
            sizes.set_storage(id, u64::try_from(bytes).unwrap_or(u64::MAX));
        }
    }
    sizes
}
