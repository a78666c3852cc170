//! Ops that read a tensor's shape and none of its elements.
//!
//! A runtime may answer them from what it knows of the tensor and give its memory back long before. Whether it does is
//! not in the file, so it is a switch.

use super::{Graph, OpId};

/// Types of such ops, as TensorFlow and ONNX name them.
const SHAPE_READS: &[&str] = &["Shape", "ShapeN", "Size", "Rank"];

impl Graph {
    /// Whether an op reads shapes alone.
    pub fn reads_shapes_alone(&self, op: OpId) -> bool {
        SHAPE_READS.contains(&self.op_kind(op))
    }

    /// The same graph, in which ops that read shapes alone keep no tensor alive: they read nothing. Steps stay as they
    /// are. O(ops + tensors).
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
