//! The error for content that no importer recognises, with a guess at its format and advice.

use super::{ImportError, Input};

/// First bytes of files that people take for models or recordings, what they are, and what to do with them.
const KNOWN_STARTS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "it is a picture (PNG)"),
    (b"\xff\xd8\xff", "it is a picture (JPEG)"),
    (b"%PDF", "it is a document (PDF)"),
    (
        b"\x89HDF",
        "it is HDF5, in which Keras keeps weights; write the graph with assets/exporters/tf_export.py",
    ),
    (
        b"PK\x03\x04",
        "it is a ZIP archive, as .pt, .pth and .keras files of weights are; unpack it and open what is in it, or write the \
         graph with a script of assets/exporters",
    ),
    (
        b"version https://git-lfs.github.com/spec/",
        "it is a pointer of Git LFS, not the file itself; fetch the file with `git lfs pull`",
    ),
    (b"7z\xbc\xaf", "it is a 7z archive; unpack it and open what is in it"),
    (
        b"\xfd7zXZ",
        "it is compressed with xz; unpack it and open what is in it",
    ),
    (b"BZh", "it is compressed with bzip2; unpack it and open what is in it"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed with zstd; unpack it and open what is in it",
    ),
    (b"\x1f\x8b", "it is gzip within gzip; unpack it once and open that"),
    (b"\x7fELF", "it is a program (ELF)"),
    (
        b"SQLite format 3\0",
        "it is an SQLite database without a table of memory that the Ascend profilers or msmemscope write",
    ),
];

const TAR_MARK_AT: usize = 257;

/// The error for content that is of none of the formats of these names.
pub(super) fn unknown(input: &Input<'_>, known: &[&str]) -> ImportError {
    ImportError::UnknownFormat {
        advice: advice(input, known),
    }
}

fn advice(input: &Input<'_>, known: &[&str]) -> String {
    let head = input.head();
    if input.is_empty() {
        return "the file is empty; write or copy it again".to_owned();
    }
    if head.iter().all(|byte| *byte == 0) {
        // Only the head was read, and of packed content the rest is not available.
        return format!(
            "the file begins with {} zero bytes; it was not written out, copy it again",
            head.len()
        );
    }
    if let Some((_, advice)) = KNOWN_STARTS.iter().find(|(start, _)| head.starts_with(start)) {
        return (*advice).to_owned();
    }
    let text = head.trim_ascii_start();
    if head.get(TAR_MARK_AT..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return "it is a tar archive; unpack it and open what is in it, or the folder".to_owned();
    }
    let begins = |start: &[u8]| {
        text.get(..start.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    if [&b"<!doctype html"[..], b"<html"].into_iter().any(begins) {
        return "it is a web page (HTML), as where a link leads to the page about a file; download the file itself"
            .to_owned();
    }
    let names = known.join(", ");
    if matches!(text.first(), Some(b'{' | b'[')) {
        return format!(
            "it looks like JSON, but has the keys of no known form; docs/format.md describes the forms, and opening it as \
             a format (--open-as on the command line) reads it as one of {names}"
        );
    }
    format!(
        "export the model as ONNX, or convert it to the JSON described in docs/format.md; opening it as a format (--open-as on the \
         command line) reads it as one of {names}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> String {
        let input = Input::from_bytes("x", bytes).expect("memory can be read");
        unknown(&input, &["native", "onnx"]).to_string()
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
            (b"hello", "native, onnx"),
        ] {
            let said = said(bytes);
            assert!(said.contains(expected), "{said}");
        }
    }
}
