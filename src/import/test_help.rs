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

/// What was said, a line for each message.
pub(crate) fn messages(diagnostics: &Diagnostics) -> String {
    let entries = diagnostics.entries().iter();
    let lines = entries.map(|entry| format!("{} x{} at {}\n", entry.message, entry.count, entry.place));
    lines.collect()
}

/// Reads bytes with a few of them changed, taken out or put in (one of `letters`), other ones in every round. The rounds are
/// the same in every run.
pub(crate) fn damage(whole: &[u8], rounds: u32, letters: &[u8], mut read: impl FnMut(&[u8])) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("a small number")
    };
    for _ in 0..rounds {
        let mut bytes = whole.to_vec();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = u8::try_from(random(256)).expect("a byte"),
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.drain(at..bytes.len().min(at + 1 + random(8)))),
                _ => bytes.insert(at, letters[random(letters.len())]),
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        read(&bytes);
    }
}

/// The recordings of damaged files hold what every recording does, and have figures.
pub(crate) fn check_recordings(result: Result<Source, ImportError>) {
    if let Ok(Source::Recordings(recordings)) = result {
        for recording in recordings {
            assert_eq!(recording.check(), Ok(()));
            recording.peaks();
        }
    }
}
