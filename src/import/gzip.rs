//! gzip: recognised by its first two bytes, unpacked in memory up to a limit.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use super::input::HEAD_BYTES;
use super::{ImportError, Input};
use crate::progress::Progress;

/// The most bytes that a compressed file may unpack to (512 MiB).
pub(super) const UNPACK_LIMIT: u64 = 512 << 20;

/// Whether the content is gzip.
pub(super) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// The unpacked content as an input of its own, its name without `.gz`.
pub(super) fn unpack(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Input<'static>, ImportError> {
    let name = input.name().strip_suffix(".gz").unwrap_or(input.name()).to_owned();
    let packed = input.len();
    let mut decoder = MultiGzDecoder::new(input.reader()?);
    let mut bytes = Vec::new();
    loop {
        progress.set("unpacking", bytes.len() as u64, packed.saturating_mul(8))?;
        let piece = decoder
            .by_ref()
            .take(1 << 20)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(&error, bytes.len()))?;
        if piece == 0 {
            return Input::from_bytes(&name, bytes);
        }
        if bytes.len() as u64 > UNPACK_LIMIT {
            return Err(ImportError::UnpacksTooLarge { limit: UNPACK_LIMIT });
        }
    }
}

/// The first bytes that the content unpacks to, as an input; `None` where it is damaged there.
pub(super) fn unpacked_head(input: &mut Input<'_>) -> Option<Input<'static>> {
    let name = input.name().strip_suffix(".gz").unwrap_or(input.name()).to_owned();
    let mut bytes = Vec::new();
    let reader = input.reader().ok()?;
    let decoder = MultiGzDecoder::new(reader);
    // What follows may be damaged: the head is enough to tell the format.
    let read = decoder.take(HEAD_BYTES).read_to_end(&mut bytes);
    if bytes.is_empty() && read.is_err() {
        return None;
    }
    Input::from_bytes(&name, bytes).ok()
}

fn damaged(error: &std::io::Error, unpacked: usize) -> ImportError {
    ImportError::at(
        format!("the gzip data are damaged ({error})"),
        format!("unpacked byte {unpacked}"),
        "copy or compress the file again",
    )
}
