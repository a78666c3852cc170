//! Importers: what is read of files made here and of the corpus, and what is said about the rest.
#![expect(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain numbers and may stop at the first surprise"
)]

mod ascend;
mod calls;
mod corpus;
mod faults;
mod forms;
mod functions;
mod made;
mod onnx;
mod onnx_corpus;
mod onnx_ops;
#[path = "../support/oracle.rs"]
mod oracle;
#[path = "../support/support.rs"]
mod support;
mod tensorflow;
mod tensorflow_binary;
mod tensorflow_choices;
mod tensorflow_corpus;
mod tensorflow_notices;
mod tensorflow_shapes;
mod tensorflow_signatures;
