//! The integration tests, one binary.

mod onnx_corpus;
