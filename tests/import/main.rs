//! Importers: what is read of files made here and of the corpus, and what is said about the rest.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod calls;
mod known_bytes;
mod onnx;
mod onnx_corpus;
#[path = "../support/oracle.rs"]
mod oracle;
#[path = "../support/support.rs"]
mod support;
mod tensorflow;
mod tensorflow_binary;
mod tensorflow_corpus;
mod tensorflow_notices;
mod tensorflow_shapes;
