//! The plan that the source carries, unchanged: so that the vendor's plan can be seen beside ours.

use super::problem::{Placement, PlanError, Task};

/// The recorded offsets. O(n).
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    task.progress.check()?;
    let recorded = task.recorded.ok_or(PlanError::NoRecordedPlan)?;
    Ok(Placement {
        offsets: recorded.offsets.clone(),
        by_buffer: true,
        ..Placement::default()
    })
}
