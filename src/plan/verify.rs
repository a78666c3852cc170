//! Brute-force check of a plan, independent of every strategy. O(n^2) at worst; buffers without
//! overlap in steps are skipped by a sweep over births.

use super::problem::{Plan, Problem};

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanDefect {
    /// A buffer has no offset, or there are offsets too many.
    #[error("the plan has {offsets} offsets for {buffers} buffers")]
    Count {
        /// Offsets in the plan.
        offsets: usize,
        /// Buffers in the problem.
        buffers: usize,
    },
    /// An offset is not a multiple of the buffer's alignment.
    #[error("buffer {buffer} starts at {offset}, which is no multiple of {alignment}")]
    Misaligned {
        /// Position of the buffer.
        buffer: usize,
        /// Its offset.
        offset: u64,
        /// Its alignment.
        alignment: u64,
    },
    /// Two buffers hold the same byte on the same step.
    #[error("buffers {first} and {second} both hold byte {offset} on step {step}")]
    Overlap {
        /// Position of the one buffer.
        first: usize,
        /// Position of the other.
        second: usize,
        /// A byte that both hold.
        offset: u64,
        /// A step on which both do.
        step: u32,
    },
    /// The footprint is not the highest end.
    #[error("the plan states a footprint of {stated} bytes, its buffers end at {actual}")]
    Footprint {
        /// As stated.
        stated: u64,
        /// As found.
        actual: u64,
    },
}

/// Checks counts, alignment, the footprint, and that no two live buffers overlap.
///
/// # Errors
/// The first defect in the order of births.
pub fn verify(problem: &Problem, plan: &Plan) -> Result<(), PlanDefect> {
    if plan.offsets.len() != problem.buffers.len() {
        return Err(PlanDefect::Count {
            offsets: plan.offsets.len(),
            buffers: problem.buffers.len(),
        });
    }
    let mut actual = 0;
    for (idx, (buffer, offset)) in problem.buffers.iter().zip(&plan.offsets).enumerate() {
        if offset % buffer.alignment.max(1) != 0 {
            return Err(PlanDefect::Misaligned {
                buffer: idx,
                offset: *offset,
                alignment: buffer.alignment,
            });
        }
        actual = actual.max(offset.saturating_add(buffer.size.get()));
    }
    if actual != plan.footprint.get() {
        return Err(PlanDefect::Footprint {
            stated: plan.footprint.get(),
            actual,
        });
    }
    overlaps(problem, plan)
}

fn overlaps(problem: &Problem, plan: &Plan) -> Result<(), PlanDefect> {
    let mut by_birth: Vec<usize> = (0..problem.buffers.len()).collect();
    by_birth.sort_unstable_by_key(|idx| (problem.buffers[*idx].lower, *idx));
    let mut live: Vec<usize> = Vec::new();
    for idx in by_birth {
        let buffer = &problem.buffers[idx];
        live.retain(|other| problem.buffers[*other].upper > buffer.lower);
        for other in &live {
            let start = plan.offsets[idx].max(plan.offsets[*other]);
            let end = (plan.offsets[idx].saturating_add(buffer.size.get()))
                .min(plan.offsets[*other].saturating_add(problem.buffers[*other].size.get()));
            if start < end {
                return Err(PlanDefect::Overlap {
                    first: *other,
                    second: idx,
                    offset: start,
                    step: buffer.lower.0,
                });
            }
        }
        live.push(idx);
    }
    Ok(())
}
