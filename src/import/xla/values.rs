//! Which tensors the nodes of an instruction's shape are, numbered within a computation.
//!
//! Most instructions make one tensor for each node. Some only pass on what others made ([`forwarded`]): of a tuple the table
//! of pointers is new, its elements are those of its operands; what a get-tuple-element takes is an element itself. So every
//! value has one tensor, however many tuples it is handed through. Where shapes contradict each other, or an operand comes
//! later in the text, the nodes count as new.

use super::forwarded::forwarded;
use super::model::Computation;
use highwater_model::graph::GraphError;
use highwater_model::lists::Lists;

/// The most tensors that instructions read for each byte of their file.
const READS_PER_BYTE: u64 = 4;

/// The tensors of a computation.
#[derive(Debug)]
pub(super) struct Values {
    /// By instruction, in the order of nodes.
    nodes: Vec<u32>,
    /// The start of each instruction's nodes; one more at the end.
    starts: Vec<usize>,
    /// The first new tensor of each instruction; one more at the end.
    firsts: Vec<u32>,
}

impl Values {
    /// Linear in the nodes of all shapes.
    pub(super) fn new(computation: &Computation) -> Self {
        let mut values = Self {
            nodes: Vec::new(),
            starts: vec![0],
            firsts: vec![0],
        };
        let mut next = 0_u32;
        for (at, instruction) in (0_u32..).zip(&computation.instructions) {
            let is_earlier = instruction.operands.iter().all(|operand| *operand < at);
            for source in forwarded(computation, instruction) {
                let passed = source.filter(|_| is_earlier).and_then(|(operand, node)| {
                    let operand = instruction.operands.get(operand as usize)?;
                    values.of(*operand).get(node as usize).copied()
                });
                values.nodes.push(passed.unwrap_or(next));
                next = next.saturating_add(u32::from(passed.is_none()));
            }
            values.starts.push(values.nodes.len());
            values.firsts.push(next);
        }
        values
    }

    pub(super) fn of(&self, instruction: u32) -> &[u32] {
        let at = instruction as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.nodes[*start..*end],
            _ => &[],
        }
    }

    /// Whether a tensor of an instruction is new, not passed on.
    pub(super) fn is_new(&self, instruction: u32, tensor: u32) -> bool {
        let at = instruction as usize;
        (self.firsts[at]..self.firsts[at + 1]).contains(&tensor)
    }

    /// The number of tensors.
    pub(super) fn len(&self) -> usize {
        self.firsts.last().map_or(0, |last| *last as usize)
    }

    /// The tensors that each instruction reads, of a computation of a file of `len` bytes.
    ///
    /// # Errors
    /// [`GraphError::TooLarge`]: an op that reads a tuple reads all of it, so a few bytes of text can mean a million elements.
    pub(super) fn reads(&self, computation: &Computation, len: u64) -> Result<Lists<u32>, GraphError> {
        let mut left = len.saturating_mul(READS_PER_BYTE).max(1 << 20);
        let mut reads = Lists::default();
        for at in 0..u32::try_from(computation.instructions.len()).unwrap_or(u32::MAX) {
            let read = self.read_by(computation, at);
            left = left.checked_sub(read.len() as u64).ok_or(GraphError::TooLarge)?;
            reads.push(read);
        }
        Ok(reads)
    }

    /// The tensors that an instruction reads; of a tuple that it takes an element of, that element alone: XLA knows its place.
    fn read_by(&self, computation: &Computation, at: u32) -> Vec<u32> {
        let instruction = &computation.instructions[at as usize];
        let is_element = &*instruction.opcode == "get-tuple-element";
        let mut read = Vec::new();
        for operand in &instruction.operands {
            let element = computation.instructions[*operand as usize].element(instruction.number);
            let all = self.of(*operand);
            let element = all.get(element.start as usize..element.end as usize);
            read.extend(
                element
                    .filter(|element| is_element && !element.is_empty())
                    .unwrap_or(all),
            );
        }
        read
    }

    /// The instruction that makes a tensor.
    pub(super) fn maker(&self, tensor: u32) -> u32 {
        let at = self.firsts.partition_point(|first| *first <= tensor);
        u32::try_from(at).unwrap_or(u32::MAX).saturating_sub(1)
    }
}
