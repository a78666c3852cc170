//! The allocators of PyTorch and `torch_npu`.

#![expect(clippy::print_stdout, reason = "tests say what they compared")]

mod conformance;
mod recording;
mod rules;
mod settings;
mod trace;
