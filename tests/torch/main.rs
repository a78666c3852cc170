//! The allocators of PyTorch and `torch_npu`.

mod conformance;
mod recording;
mod rules;
mod settings;
mod trace;
