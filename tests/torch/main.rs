//! The allocators of PyTorch and `torch_npu`.

mod conformance;
