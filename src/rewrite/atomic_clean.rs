//! Atomic clean: who clears the memory that ops add to, and what that costs in memory.
//!
//! ```text
//! collective (0)   |==a==========|   cleared once at the start: apart and alive for the whole run
//! separate (1)        |==a==|        cleared right before its op: an ordinary lifetime
//! ```
//!
//! In: a program and the graph's atomic marks. Out: the program with longer live ranges under the collective
//! policy. Source: `atomic_clean_policy` of `MemoryConfig`. Launch counts and times are not modelled here.

use crate::graph::Graph;
use crate::units::Step;
use crate::workload::Program;

/// `atomic_clean_policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtomicClean {
    /// 0: one clean at the front of the graph.
    #[default]
    Collective,
    /// 1: each op's memory is cleared before it runs.
    Separate,
}

/// Applies the policy. Linear (plus a sort where a range changed).
pub fn atomic_clean(mut program: Program, graph: &Graph, policy: AtomicClean) -> Program {
    if policy == AtomicClean::Separate {
        return program;
    }
    let n_steps = program.lifetimes.n_steps;
    let is_atomic = |tensor| graph.tensors()[tensor].is_atomic;
    for item in &mut program.lifetimes.items {
        if is_atomic(item.tensor) {
            item.birth = Step(0);
            item.end = Step(n_steps);
        }
    }
    program
        .lifetimes
        .items
        .sort_unstable_by_key(|item| (item.birth, item.tensor));
    program.kept_apart = (0_u32..)
        .zip(&program.lifetimes.items)
        .filter(|(_, item)| is_atomic(item.tensor))
        .map(|(position, _)| position)
        .collect();
    program
}
