//! Ops that read a tensor's shape and none of its elements.
//!
//! A runtime may answer them without the tensor's memory and free it long before. The file does not state whether it
//! does, so this is a switch.

use super::{Graph, OpId};

/// Types of such ops in TensorFlow and ONNX.
const SHAPE_READS: &[&str] = &["Shape", "ShapeN", "Size", "Rank"];

impl Graph {
    /// Whether an op reads only shapes.
    pub fn reads_shapes_alone(&self, op: OpId) -> bool {
        SHAPE_READS.contains(&self.op_kind(op))
    }

    /// A copy in which ops that read only shapes read nothing, so they keep no tensor live. Steps do not
    /// change. O(ops + tensors).
    #[must_use]
    pub fn without_shape_reads(&self) -> Self {
        let mut graph = self.clone();
        let reading: Vec<OpId> = self.ops.ids().filter(|op| self.reads_shapes_alone(*op)).collect();
        for op in reading {
            let operands = &mut graph.ops[op].operands;
            operands.end = operands.start;
        }
        graph
    }
}
