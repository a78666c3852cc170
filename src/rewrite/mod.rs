//! Program -> Program: passes that change what lives when, where and how wide, before anything is placed.
//!
//! Each pass is one file, optional, and driven by its own parameters. They apply in this order: precision (sizes),
//! host ops (who holds what), estimated workspaces (scratch memory), atomic clean (live ranges). Deliberately not here:
//! placement.

mod atomic_clean;
mod host_ops;
pub mod name_reuse;
mod op_types;
mod precision;
pub mod remat;
mod workspaces;

pub use atomic_clean::{AtomicClean, atomic_clean, clears};
pub use host_ops::{Side, Sides, host_split, without_host};
pub use op_types::{OpTypes, is_matrix_op, plain_type};
pub use precision::{Precision, PrecisionMode, with_precision};
pub use workspaces::{Scratch, WorkspaceTable, estimated_workspace, op_of_workspace, with_workspaces};
