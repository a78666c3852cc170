//! `MindSpore`.
//!
//! Sources: mindspore-ai/mindspore r0.5 to r2.10 (`mem_dynamic_allocator.cc`, `ascend_memory_adapter.cc`, `ascend_memory_manager.cc`,
//! `actor_common.h`, `kernel_runtime.cc`).

use super::Figure::{Allocated, Allowed, Asked, Device, Free, Holder, Kernel, Total};
use super::{Pattern, ROW, Reads};
use highwater_model::workload::Library;

pub(super) const ROWS: &[Pattern] = &[
    Pattern {
        name: "mindspore_device",
        marks: &["Malloc device memory failed"],
        fields: &[
            (Asked, "failed, size{}"),
            (Asked, "Alloc size:{}"),
            (Total, "HBM size:{}"),
            (Total, "MOC size:{}"),
            (Total, " total size:{}"),
            (Free, " free size:{}"),
            (Free, ", free: {}"),
            (Device, " Device {}"),
        ],
        library: Library::MindSpore,
        who: "MindSpore",
        needs_figure: true,
        ends: &["may be other processes", "Ascend Out of Memory"],
        source: "mindspore 1.0 to 2.10, ascend_memory_manager.cc, ascend_memory_adapter.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_half",
        marks: &["Free memory size is less than half of total memory size"],
        reads: Reads::Statement(&[
            (" total size:{}", "the device has {} bytes"),
            (" free size:{}", "less than half is free at the start, {} bytes"),
        ]),
        fields: &[(Device, " Device {}")],
        source: "mindspore 2.0 to 2.10, ascend_memory_adapter.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_node",
        marks: &[
            "Malloc for kernel output failed",
            "Malloc for kernel workspace failed",
            "Malloc for kernel input failed",
        ],
        fields: &[(Kernel, "node:{}")],
        library: Library::MindSpore,
        who: "MindSpore",
        source: "mindspore 1.5 to 2.2, kernel_runtime.cc and control actors",
        ..ROW
    },
    Pattern {
        name: "mindspore_cuda",
        marks: &["cudaStreamCreate", "cudaEventCreate", "cudaMalloc failed, ret"],
        needs: &[&["failed, ret[2]"], &["out of memory"]],
        library: Library::MindSpore,
        who: "MindSpore",
        source: "mindspore 1.0 to 2.10, cuda_driver.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_pool",
        marks: &["TotalUsedMemStatistics"],
        needs: &[&["is more than total mem size"]],
        fields: &[
            (Asked, "alloc size : {}"),
            (Allocated, "TotalUsedMemStatistics : {}"),
            (Total, "total mem size : {}"),
        ],
        library: Library::MindSpore,
        who: "MindSpore",
        source: "mindspore 2.0 to 2.3, mem_dynamic_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_kernel",
        marks: &["Device(id:", "Device memory isn't enough", "Memory isn't enough"],
        needs: &[&["isn't enough and alloc failed"]],
        fields: &[
            (Asked, "alloc size: {}"),
            (Device, "Device(id:{}"),
            (Kernel, "kernel name: {}, alloc size"),
            (Kernel, "actor name: {}, alloc size"),
        ],
        library: Library::MindSpore,
        who: "MindSpore",
        host: &["Memory isn't enough"],
        needs_figure: true,
        ends: &["alloc size: {}"],
        source: "mindspore 1.3 to 2.10, actor_common.h",
        ..ROW
    },
    Pattern {
        name: "mindspore_free",
        marks: &["urrent free memory size["],
        needs: &[&["required size["]],
        fields: &[(Asked, "required size{}"), (Free, "free memory size{}")],
        library: Library::MindSpore,
        who: "MindSpore",
        ends: &["required size {}"],
        source: "mindspore 0.5 to 2.10, gpu_memory_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_request",
        marks: &["Out of Memory!!! Request memory size"],
        fields: &[
            (Asked, "Request memory size:{}"),
            (Total, "Device HBM memory size:{}"),
            (Total, "Device MOC memory size:{}"),
            (Allowed, "MindSpore Used memory size:{}"),
            (Holder("static memory"), "Total Static Memory size:{}"),
            (Holder("dynamic memory"), "Total Dynamic memory size:{}"),
        ],
        library: Library::MindSpore,
        who: "MindSpore",
        needs_figure: true,
        ends: &["memory size of this graph"],
        source: "mindspore 1.7 to 2.10, ascend_memory_adapter.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_dynamic",
        marks: &["Out of memory!!! total"],
        fields: &[
            (Asked, " malloc {}"),
            (Total, "total{}"),
            (Allocated, "memory used{}"),
            (Allocated, "memory pool{}"),
        ],
        library: Library::MindSpore,
        who: "MindSpore",
        needs_figure: true,
        ends: &["failed"],
        source: "mindspore 0.2 to 1.6, ascend_memory_manager.cc",
        ..ROW
    },
    Pattern {
        name: "mindspore_alloc",
        marks: &["Alloc device memory["],
        needs: &[&["failed"]],
        fields: &[(Asked, "Alloc device memory{}")],
        library: Library::MindSpore,
        who: "MindSpore",
        source: "mindspore 0.5 to 2.10, gpu_memory_allocator.cc",
        ..ROW
    },
];
