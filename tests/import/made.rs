//! Protocol buffers written by hand, and what is said of a file.

use highwater_import::Imported;

pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// A field of a number.
pub(crate) fn number(field: u64, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value.cast_unsigned(), &mut out);
    out
}

/// A field of bytes, which a text or a message is too.
pub(crate) fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 2, &mut out);
    varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

/// The place of the first diagnostic whose message has a text, and its count.
pub(crate) fn told(imported: &Imported, text: &str) -> Option<(String, u64)> {
    let mut entries = imported.diagnostics.entries().iter();
    let found = entries.find(|entry| entry.message.contains(text))?;
    Some((found.place.clone(), found.count))
}
