//! Which tensors the nodes of an instruction's shape are, numbered within a computation.
//!
//! Most instructions make one tensor for each node. Some only pass on what others made: of a tuple the table of pointers is
//! new, its elements are those of its operands; what a get-tuple-element takes is an element itself. So every value has one
//! tensor, however many tuples it is handed through, as in XLA's own analysis of values. Where shapes contradict each
//! other, or an operand comes later in the text, the nodes count as new.

use super::model::{Computation, Instruction};

/// The tensors of a computation.
#[derive(Debug)]
pub(super) struct Values {
    /// By instruction, in the order of nodes.
    nodes: Vec<u32>,
    /// The start of each instruction's nodes; one more at the end.
    starts: Vec<usize>,
    /// The first new tensor of each instruction; one more at the end.
    firsts: Vec<u32>,
    /// Of each instruction that yields a tuple, the first nodes of its elements.
    elements: Vec<Box<[u32]>>,
}

impl Values {
    /// Linear in the nodes of all shapes.
    pub(super) fn new(computation: &Computation) -> Self {
        let mut values = Self {
            nodes: Vec::new(),
            starts: vec![0],
            firsts: vec![0],
            elements: Vec::with_capacity(computation.instructions.len()),
        };
        let mut next = 0_u32;
        for (at, instruction) in (0_u32..).zip(&computation.instructions) {
            let n_nodes = instruction.shape.nodes();
            let passed = values.passed_on(at, instruction);
            // Nodes behind the new ones are passed on.
            let n_passed = u32::try_from(passed.len()).unwrap_or(u32::MAX);
            let n_new = n_nodes.saturating_sub(n_passed);
            values.nodes.extend(next..next.saturating_add(n_new));
            values.nodes.extend(passed);
            next = next.saturating_add(n_new);
            values.starts.push(values.nodes.len());
            values.firsts.push(next);
            values.elements.push(instruction.shape.starts());
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

    /// The number of an instruction's nodes that are new; they come before those that are passed on.
    pub(super) fn n_new(&self, instruction: u32) -> usize {
        let at = instruction as usize;
        (self.firsts[at + 1] - self.firsts[at]) as usize
    }

    /// The tensors of element `number` of a tuple; `None` where there is none.
    pub(super) fn element(&self, instruction: u32, number: u64) -> Option<&[u32]> {
        let starts = self.elements.get(instruction as usize)?;
        let number = usize::try_from(number).ok()?;
        let (start, end) = (*starts.get(number)?, *starts.get(number.checked_add(1)?)?);
        self.of(instruction).get(start as usize..end as usize)
    }

    /// The tensors that an instruction passes on: its last nodes.
    fn passed_on(&self, at: u32, instruction: &Instruction) -> Vec<u32> {
        let n_nodes = instruction.shape.nodes() as usize;
        let is_earlier = instruction.operands.iter().all(|operand| *operand < at);
        let Some(first) = instruction.operands.first().filter(|_| is_earlier) else {
            return Vec::new();
        };
        let passed = match &*instruction.opcode {
            "get-tuple-element" => self.element(*first, instruction.number).map(<[u32]>::to_vec),
            "optimization-barrier" | "opt-barrier" | "domain" | "add-dependency" => Some(self.of(*first).to_vec()),
            "tuple" => {
                let passed = instruction.operands.iter().flat_map(|operand| self.of(*operand));
                let passed: Vec<u32> = passed.copied().take(n_nodes).collect();
                return if passed.len() + 1 == n_nodes {
                    passed
                } else {
                    Vec::new()
                };
            }
            _ => None,
        };
        passed.filter(|passed| passed.len() == n_nodes).unwrap_or_default()
    }
}
