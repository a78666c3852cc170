//! A program of blocks, variables and ops with roles: the input of name reuse.
//!
//! Modelled on Paddle's fluid: ops name variables by name and slot, a block may have a parent and, where it is the
//! gradient of another, a forward block. A name may be written more than once.

use indexmap::IndexMap;

use crate::graph::{Id as _, TensorId};
use crate::units::Bytes;
use crate::workload::GraphIdx;

/// A variable declared by a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockVariable {
    /// Dimensions; -1 is the batch, known at run time.
    pub shape: Vec<i64>,
    /// The element type in the program's notation (`FP32`).
    pub dtype: Box<str>,
    /// Whether it outlives the program's run (such as parameters).
    pub is_persistable: bool,
    /// Its kind in the program's notation; `LOD_TENSOR` for tensors.
    pub kind: Box<str>,
}

/// Slots of an op with their names.
pub type Slots = Vec<(Box<str>, Vec<Box<str>>)>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockOp {
    pub kind: Box<str>,
    pub inputs: Slots,
    pub outputs: Slots,
    /// Attribute `op_role`: 0 forward, 1 backward, 2 optimize, bit 256 loss.
    pub role: Option<i64>,
    /// Attribute `op_role_var`: pairs of parameter and gradient.
    pub role_variables: Option<Vec<Box<str>>>,
    /// The block that it runs, by position.
    pub sub_block: Option<u32>,
    /// Attribute `force_cpu`.
    pub is_forced_to_cpu: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The enclosing block, by position.
    pub parent: Option<u32>,
    /// The block whose gradient it computes, by position.
    pub forward: Option<u32>,
    /// In file order.
    pub variables: IndexMap<Box<str>, BlockVariable>,
    pub ops: Vec<BlockOp>,
}

/// A program; block 0 is the global one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockProgram {
    /// The name shown to users.
    pub name: String,
    /// Blocks by position; at least the global one.
    pub blocks: Vec<Block>,
}

impl BlockProgram {
    /// A variable by the position of its block and its position there.
    pub fn variable(&self, block: GraphIdx, variable: TensorId) -> Option<(&str, &BlockVariable)> {
        let block = self.blocks.get(block.idx())?;
        let (name, variable) = block.variables.get_index(variable.idx())?;
        Some((name, variable))
    }
}

impl BlockVariable {
    /// Bytes with unknown dimensions as `batch`; saturates. `None` where the width of the type is unknown.
    pub fn bytes(&self, batch: u64) -> Option<Bytes> {
        let bits: u128 = match &*self.dtype {
            "INT2" | "UINT2" => 2,
            "INT4" | "UINT4" | "FLOAT4" => 4,
            "BOOL" | "INT8" | "UINT8" | "FLOAT8" => 8,
            "FP16" | "INT16" | "UINT16" | "BF16" => 16,
            "FP32" | "INT32" | "UINT32" | "COMPLEX32" => 32,
            "FP64" | "INT64" | "UINT64" | "SIZE_T" | "COMPLEX64" => 64,
            "COMPLEX128" => 128,
            _ => return None,
        };
        let dims = self.shape.iter().map(|dim| u64::try_from(*dim).unwrap_or(batch));
        let elements = if dims.clone().any(|dim| dim == 0) {
            0
        } else {
            dims.fold(1, u64::saturating_mul)
        };
        let bytes = (u128::from(elements) * bits).div_ceil(8);
        Some(Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)))
    }
}
