//! Program -> Program: passes that change what lives when, where and how wide, before anything is placed.
//!
//! Each pass is one file, optional, and driven by its own parameters. They apply in this order: calls in place (`inline`, when
//! a workload is made: everything behind sees the called ops), then for each run precision (sizes), host ops (who holds
//! what), estimated workspaces (scratch memory), what loops and branches hold (`control_flow_workspace`), atomic clean (live ranges).
//! Deliberately not here: placement.

mod atomic_clean;
mod control_flow_workspace;
mod host_ops;
pub mod inline;
pub mod name_reuse;
mod op_types;
mod precision;
pub mod remat;
mod workspaces;

pub use atomic_clean::{AtomicClean, atomic_clean, clears};
pub use control_flow_workspace::{ControlFlowWorkspace, control_flow_workspace, with_control_flow_workspaces};
pub use host_ops::{Side, Sides, host_split, without_host};
pub use op_types::{OpTypes, is_matrix_op, plain_type};
pub use precision::{Precision, PrecisionMode, with_precision};
pub use workspaces::{
    MOST_PERCENT, Scratch, WorkspaceTable, computed_bytes, estimated_workspace, op_of_workspace, with_workspaces,
};
