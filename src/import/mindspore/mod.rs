//! Files of `MindSpore` that no other framework writes, a folder or file and a row of the table of importers for each.

pub(super) mod ir;
pub(super) mod mindir;
mod ops;
pub(super) mod somas;
mod stages;

pub use stages::{FolderFile, superseded_dumps};
