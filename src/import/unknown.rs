//! The error for content that no importer recognises, with a guess at its format and advice.

use super::{IMPORTERS, ImportError, Input, unread_formats};

/// The error for content that no importer reads.
pub(super) fn unknown(input: &Input<'_>) -> ImportError {
    match unread_formats::advice(input) {
        Some(advice) if !is_blank(input) => ImportError::Unread { advice },
        _ => ImportError::UnknownFormat { advice: advice(input) },
    }
}

/// Whether there is nothing that a name could be about.
fn is_blank(input: &Input<'_>) -> bool {
    input.head().iter().all(|byte| *byte == 0)
}

fn advice(input: &Input<'_>) -> String {
    let head = input.head();
    if input.is_empty() {
        return "the file is empty; write or copy it again".to_owned();
    }
    if is_blank(input) {
        // Only the head was read, and of packed content the rest is not available.
        return format!(
            "the file begins with {} zero bytes; it was not written out, copy it again",
            head.len()
        );
    }
    let what = if matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) {
        "it looks like JSON, but has the keys of no known form (docs/text-formats.md describes them); "
    } else {
        ""
    };
    format!(
        "{what}highwater reads {}; export a model as ONNX, or pass --open-as if the content is one of these",
        titles()
    )
}

/// All formats in words, those of models first.
fn titles() -> String {
    let titles: Vec<&str> = IMPORTERS.iter().rev().map(|row| row.title).collect();
    titles.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> String {
        let input = Input::from_bytes("x", bytes).expect("memory can be read");
        unknown(&input).to_string()
    }

    #[test]
    fn it_says_what_the_content_is() {
        for (bytes, expected) in [
            (&b""[..], "empty"),
            (&[0; 9], "9 zero bytes"),
            (b"\x89PNG\r\n", "picture"),
            (b"PK\x03\x04....", ".keras"),
            (b" {\"a\": 1}", "JSON"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
                "git lfs pull",
            ),
            (b"\n<!DOCTYPE HTML>\n<html></html>", "web page"),
            (b"\x1f\x8b\x08\0", "gzip within gzip"),
            (&[&[b'a'; 257][..], b"ustar\x0000"].concat(), "tar archive"),
            (b"hello", "ONNX models"),
        ] {
            let said = said(bytes);
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn formats_are_listed_in_words() {
        let said = said(b"hello");
        for row in IMPORTERS.iter().filter(|row| row.name.contains('_')) {
            assert!(!said.contains(row.name), "{said}");
        }
    }
}
