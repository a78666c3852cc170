//! What an instruction passes on: nodes of its result that are nodes of its operands, as in XLA's own analysis of values.
//!
//! ```text
//! get-tuple-element, tuple         the element; every element
//! barriers, NAME-update            everything
//! NAME-start                       its operands, as the first element (copy-start: the second); the others are new
//! NAME-done                        the result of the start, its second element (copy-done, recv-done: the first)
//! all-reduce-start, -done          the start makes the result, done passes it on
//! ```

use std::ops::Range;

use super::model::{Computation, Instruction};
use super::shape::Shape;

/// A node of an operand: the operand's position among the operands, and the number of the node.
pub(super) type Source = (u32, u32);

/// Of each node of the result where it comes from; `None` for a new value. Linear in the nodes of the result.
pub(super) fn forwarded(computation: &Computation, instruction: &Instruction) -> Vec<Option<Source>> {
    let operand = |operand: &u32| &computation.instructions[*operand as usize];
    let n_nodes = instruction.n_nodes();
    let mut nodes: Vec<Option<Source>> = vec![None; n_nodes as usize];
    let Some(first) = instruction.operands.first().map(operand) else {
        return nodes;
    };
    let whole = 0..first.n_nodes();
    match &*instruction.opcode {
        "get-tuple-element" => {
            pass(&mut nodes, 0, 0, first.element(instruction.number));
        }
        "optimization-barrier" | "opt-barrier" | "domain" | "add-dependency" => pass(&mut nodes, 0, 0, whole),
        "tuple" => pass_operands(&mut nodes, 1..n_nodes, instruction, operand),
        "all-reduce-start" | "all-reduce-scatter-start" | "send-done" => {}
        "send" => pass_first(&mut nodes, instruction, 0, whole),
        "copy-start" => pass_first(&mut nodes, instruction, 1, whole),
        "recv-done" => pass_first(&mut nodes, instruction, 0, first.element(0)),
        "copy-done" => pass(&mut nodes, 0, 0, first.element(0)),
        opcode if opcode.ends_with("-update") => pass(&mut nodes, 0, 0, whole),
        opcode if opcode.ends_with("-start") => {
            // A tuple of the operands, or the only operand as it is.
            let first = instruction.element(0);
            match instruction.shape.element(0) {
                Some(Shape::Tuple(_)) => pass_operands(&mut nodes, first.start + 1..first.end, instruction, operand),
                Some(_) => pass_first(&mut nodes, instruction, 0, whole),
                None => {}
            }
        }
        opcode if opcode.ends_with("-done") => {
            let result = match opcode {
                "all-reduce-done" => whole,
                _ => first.element(1),
            };
            pass(&mut nodes, 0, 0, result);
        }
        _ => {}
    }
    nodes
}

/// Nodes of an operand become those from `start` on, where there are as many; from 0 on they are the whole result.
fn pass(nodes: &mut [Option<Source>], start: u32, operand: u32, from: Range<u32>) {
    let start = start as usize;
    let end = start + from.len();
    if end > nodes.len() || (start == 0 && end != nodes.len()) {
        return;
    }
    for (node, source) in nodes[start..end].iter_mut().zip(from) {
        *node = Some((operand, source));
    }
}

/// Nodes of the first operand are an element of the result.
fn pass_first(nodes: &mut [Option<Source>], instruction: &Instruction, element: u64, from: Range<u32>) {
    let to = instruction.element(element);
    if to.len() == from.len() && !to.is_empty() {
        pass(nodes, to.start, 0, from);
    }
}

/// All operands one behind the other, where they fill these nodes.
fn pass_operands<'c>(
    nodes: &mut [Option<Source>],
    room: Range<u32>,
    instruction: &Instruction,
    of: impl Fn(&u32) -> &'c Instruction,
) {
    let counts = || instruction.operands.iter().map(|operand| of(operand).n_nodes());
    if counts().fold(0, u32::saturating_add) as usize != room.len() {
        return;
    }
    let mut start = room.start;
    for (operand, count) in (0..).zip(counts()) {
        pass(nodes, start, operand, 0..count);
        start += count;
    }
}
