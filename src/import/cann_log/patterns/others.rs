//! Paddle, and memory of the host.
//!
//! Sources: PaddlePaddle/Paddle 1.5 to 3.0 (`cuda_allocator.cc`, `npu_allocator.cc`), pytorch c10/core/CPUAllocator.cpp, numpy
//! `_exceptions.py`, linux `mm/oom_kill.c`.

use super::super::fact::ReportKind::Echo;
use super::Figure::{Allowed, Asked, Device, Free, Holder, Process, Program, Shape, Total, Type};
use super::{ALWAYS, Pattern, ROW, Reads};
use highwater_model::workload::Library;

pub(super) const ROWS: &[Pattern] = &[
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
        has_units: true,
        ends: &["memory is only {}"],
        source: "paddlepaddle 1.5 to 3.0, cuda_allocator.cc, npu_allocator.cc, custom_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "paddle_acl",
        marks: &["ACL error, the error code is"],
        codes: &[("error code is : {}", 207_001)],
        library: Library::Paddle,
        who: "Paddle",
        source: "PaddleCustomDevice 2.4 to 3.0, npu",
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
        has_units: true,
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
            "failed to extend /dev/shm",
        ],
        fields: &[(Asked, "unable to mmap {} bytes"), (Asked, " to {} bytes")],
        library: Library::System,
        host: ALWAYS,
        source: "torch 1.0 to 2.15, MapAllocator.cpp and DataLoader",
        ..ROW
    },
    Pattern {
        name: "shared_worker",
        marks: &["DataLoader worker (pid"],
        needs: &[&["out of shared memory"]],
        fields: &[(Process, "(pid {})")],
        library: Library::System,
        host: ALWAYS,
        ends: &["out of shared memory"],
        source: "torch 1.0 to 2.15, signal_handling.py",
        ..ROW
    },
    Pattern {
        name: "memory_error",
        marks: &["MemoryError"],
        needs: &[&["MemoryError\n", "MemoryError:\n"]],
        library: Library::System,
        host: ALWAYS,
        needs_figure: true,
        source: "Python 3, MemoryError without a message",
        ..ROW
    },
    Pattern {
        name: "container",
        marks: &[
            "Reason: OOMKilled",
            "reason: OOMKilled",
            "0/1 OOMKilled",
            "OOMKilled true",
            "\"OOMKilled\": true",
        ],
        fields: &[(Allowed, " memory: {}")],
        library: Library::System,
        host: ALWAYS,
        ends: &[" memory: {}"],
        source: "kubectl describe and get, docker inspect",
        ..ROW
    },
    Pattern {
        name: "ray_node",
        marks: &["Memory on the node"],
        needs: &[&["exceeds the memory usage threshold"]],
        reads: Reads::Detail,
        fields: &[
            (Process, " pid={}"),
            (Holder("the killed task"), " memory used={}"),
            (Holder("all programs of the node"), "running was {} /"),
            (Total, "running was {} / {} ("),
        ],
        library: Library::System,
        host: ALWAYS,
        has_units: true,
        source: "ray 2.2 to 2.40, the memory monitor",
        ..ROW
    },
    Pattern {
        name: "cuda_malloc",
        marks: &["cudaMalloc failed: out of memory"],
        reads: Reads::Request(Echo),
        fields: &[(Asked, "(requested {}")],
        library: Library::Other,
        source: "mxnet 1.0 to 1.9, pooled_storage_manager.h; llama.cpp 2023",
        ..ROW
    },
    Pattern {
        name: "miopen",
        marks: &["Memory not available to allocate buffer:"],
        fields: &[(Asked, "allocate buffer: {}")],
        library: Library::Other,
        who: "MIOpen",
        needs_figure: true,
        source: "MIOpen 1.3 to 2.20, handlehip.cpp",
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
