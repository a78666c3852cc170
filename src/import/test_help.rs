//! Shared by the tests of several importers.

use std::sync::Arc;

use super::{ImportError, Imported, Input, import};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::{Recording, Source};

/// Reads `bytes` as the file `name`, whatever importer recognises it.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let cancel = Cancel::new();
    import(&mut Input::from_bytes(name, bytes)?, &Progress::silent(&cancel))
}

type ImportFn = fn(&mut Input<'_>, &Progress<'_>, &mut Diagnostics) -> Result<Source, ImportError>;

pub(crate) fn recordings(
    import: ImportFn,
    name: &str,
    bytes: &[u8],
) -> Result<(Vec<Arc<Recording>>, Diagnostics), ImportError> {
    let cancel = Cancel::new();
    let mut diagnostics = Diagnostics::new();
    match import(
        &mut Input::from_bytes(name, bytes)?,
        &Progress::silent(&cancel),
        &mut diagnostics,
    )? {
        Source::Recordings(recordings) => Ok((recordings, diagnostics)),
        other => panic!("not a recording: {other:?}"),
    }
}

/// Numbers below the argument, the same in every run: for damaging files.
pub(crate) fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("a small number")
    }
}
