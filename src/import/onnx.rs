//! stub
use super::{ImportError, Input};
use crate::diagnostics::Diagnostics;
use crate::progress::Progress;
use crate::workload::Source;
pub(super) fn detect(_input: &Input<'_>) -> bool {
    false
}
pub(super) fn import(_: &mut Input<'_>, _: &Progress<'_>, _: &mut Diagnostics) -> Result<Source, ImportError> {
    Err(ImportError::at_byte("stub", 0))
}
