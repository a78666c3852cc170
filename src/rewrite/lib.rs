//! Program -> Program: passes that change what lives when, where and how wide, before anything is placed.
//!
//! Each pass is one file, optional, with its own parameters. Order: inlining of calls (`inline`, when a workload is
//! made), then for each run precision (sizes), host ops, estimated workspaces, memory of loops and branches
//! (`control_flow_workspace`), atomic clean (live ranges). Placement is in `plan`.

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
pub use precision::{CustomWidths, Precision, PrecisionMode, with_precision};
pub use workspaces::{
    MAX_PERCENT, Scratch, WorkspaceTable, computed_bytes, estimated_workspace, op_of_workspace, with_workspaces,
};
