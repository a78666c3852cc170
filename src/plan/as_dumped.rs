//! The plan recorded in the source, unchanged, to compare the vendor's plan with ours.

use super::problem::{Placement, PlanError, Task};

/// O(n).
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    task.progress.check()?;
    let recorded = task.recorded.ok_or(PlanError::NoRecordedPlan)?;
    Ok(Placement {
        offsets: recorded.offsets.clone(),
        by_buffer: true,
        ..Placement::default()
    })
}
