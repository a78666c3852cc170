//! `MindSpore`, Paddle, and memory of the host.
//!
//! Sources: mindspore-ai/mindspore r0.5 to r2.10 (`mem_dynamic_allocator.cc`, `ascend_memory_adapter.cc`, `actor_common.h`), PaddlePaddle/Paddle
//! 1.5 to 3.0 (`cuda_allocator.cc`, `npu_allocator.cc`), pytorch c10/core/CPUAllocator.cpp, numpy `_exceptions.py`, linux `mm/oom_kill.c`.

use super::Figure::{Allocated, Allowed, Asked, Device, Free, Holder, Kernel, Process, Program, Shape, Total, Type};
use super::{ALWAYS, Pattern, ROW};
use highwater_model::workload::Library;

pub(super) const ROWS: &[Pattern] = &[
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
        ends: &["alloc size:"],
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
        ends: &["required size["],
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
    Pattern {
        name: "paddle",
        marks: &["Out of memory error on"],
        needs: &[&["annot allocate", "annot malloc"]],
        fields: &[
            (Asked, "annot allocate {}"),
            (Asked, "annot malloc {}"),
            (Device, "error on GPU {}"),
            (Device, "error on NPU {}"),
            (Device, "error on XPU {}"),
            (Device, "error on MLU {}"),
            (Device, "error on gpu:{}"),
            (Device, "error on npu:{}"),
            (Device, "error on xpu:{}"),
            (Free, "available memory is only {}"),
            (Holder("all programs on the device"), "{} memory has been allocated"),
        ],
        library: Library::Paddle,
        who: "Paddle",
        host: &["error on CPU", "error on CUDAPinned"],
        ends: &["memory is only"],
        source: "paddlepaddle 1.5 to 3.0, cuda_allocator.cc, npu_allocator.cc, custom_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "paddle_host",
        marks: &["Fail to alloc memory of"],
        fields: &[(Asked, "memory of {} size")],
        library: Library::Paddle,
        who: "Paddle",
        host: ALWAYS,
        needs_figure: true,
        source: "paddlepaddle 1.5 to 3.0, cpu_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "torch_cpu",
        marks: &["DefaultCPUAllocator:"],
        fields: &[(Asked, "tried to allocate {}")],
        library: Library::System,
        who: "torch",
        host: ALWAYS,
        needs_figure: true,
        ends: &["bytes", "new RAM"],
        source: "torch 1.0 to 2.15, alloc_cpu.cpp",
        ..ROW
    },
    Pattern {
        name: "numpy",
        marks: &["Unable to allocate"],
        needs: &[&["array with shape"]],
        fields: &[
            (Asked, "Unable to allocate {}"),
            (Shape, "array with shape ({})"),
            (Type, "data type {}"),
        ],
        library: Library::System,
        who: "numpy",
        host: ALWAYS,
        ends: &["data type"],
        source: "numpy 1.17 to 2.4, _exceptions.py",
        ..ROW
    },
    Pattern {
        name: "cpp",
        marks: &[
            "instance of 'std::bad_alloc'",
            "what(): std::bad_alloc",
            "Error: std::bad_alloc",
        ],
        library: Library::System,
        host: ALWAYS,
        source: "C++ standard library",
        ..ROW
    },
    Pattern {
        name: "errno",
        marks: &["[Errno 12] Cannot allocate memory"],
        library: Library::System,
        host: ALWAYS,
        source: "Python 3, OSError of ENOMEM",
        ..ROW
    },
    Pattern {
        name: "kernel",
        marks: &[
            "Out of memory: Killed process",
            "Out of memory: Kill process",
            "Memory cgroup out of memory: Killed process",
            "Memory cgroup out of memory: Kill process",
            "kernel: Killed process",
        ],
        fields: &[
            (Process, " process {}"),
            (Program, "({})"),
            (Holder("the killed process"), "anon-rss:{}"),
        ],
        library: Library::System,
        host: ALWAYS,
        needs_figure: true,
        source: "linux 3.10 to 6.12, oom_kill.c",
        ..ROW
    },
    Pattern {
        name: "shared",
        marks: &[
            "insufficient shared memory (shm)",
            "unable to mmap",
            "unable to allocate shared memory",
        ],
        fields: &[(Asked, "unable to mmap {} bytes")],
        library: Library::System,
        host: ALWAYS,
        source: "torch 1.0 to 2.15, MapAllocator.cpp and DataLoader",
        ..ROW
    },
    Pattern {
        name: "cluster",
        marks: &[
            "oom-kill event",
            "oom_kill event",
            "Exceeded job memory limit",
            "killed due to memory pressure",
            "killed due to the node running low on memory",
        ],
        library: Library::System,
        host: ALWAYS,
        source: "slurm 17 to 24, ray 2.2 to 2.40",
        ..ROW
    },
];
