//! The memory that the tables of a file may take: a small multiple of the file's size.

use super::ImportError;

/// The bytes of tables that may still be made from a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    /// Four times the file and 85 MB.
    pub(super) const fn for_file(len: u64) -> Self {
        Self {
            left: len.saturating_mul(4).saturating_add(85_000_000),
        }
    }

    pub(super) fn charge(&mut self, bytes: u64, at: u64) -> Result<(), ImportError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(ImportError::at_byte(
                "the file packs more nodes, names and types into its bytes than any real model",
                at,
            )),
        }
    }
}
