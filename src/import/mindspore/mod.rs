//! Files of `MindSpore` that no other framework writes, a folder or file and a row of the table of importers for each.

mod ops;
pub(super) mod somas;
