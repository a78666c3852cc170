//! What servers and tools state of memory without a failed request.
//!
//! Sources: vllm 0.4 to 0.22, vllm-ascend 0.7 to 0.22, sglang 0.3 to 0.5, `MindIE` 1.0 to 2.1, tensorflow 1 to 2.21.

use super::{Pattern, ROW, Reads};

pub(super) const ROWS: &[Pattern] = &[
    Pattern {
        name: "vllm_weights",
        marks: &[
            "Loading model weights took",
            "Model loading took",
            "Loading weights took",
        ],
        reads: Reads::Statement(&[
            ("weights took {} GB", "the weights take {} GiB"),
            ("weights took {} GiB", "the weights take {} GiB"),
            ("loading took {} GiB", "the model takes {} GiB"),
            ("loading took {} GB", "the model takes {} GiB"),
        ]),
        source: "vllm 0.4 to 0.22, model_runner.py",
        ..ROW
    },
    Pattern {
        name: "vllm_cache",
        marks: &["Available KV cache memory:", "available KV cache memory"],
        reads: Reads::Statement(&[
            ("vailable KV cache memory: {}", "{} are left for the KV cache"),
            ("vailable KV cache memory ({}", "{} are left for the KV cache"),
            (
                "({}) KV cache is needed",
                "{} are needed for the KV cache of one request",
            ),
        ]),
        ends: &["vailable KV cache memory: ", "vailable KV cache memory ("],
        source: "vllm 0.8 to 0.22, gpu_worker.py, kv_cache_utils.py",
        ..ROW
    },
    Pattern {
        name: "vllm_cache_needed",
        marks: &["To serve at least one request"],
        reads: Reads::Statement(&[
            ("max seq len ({})", "the longest request has {} tokens"),
            ("{} KV cache is needed", "{} are needed for its KV cache"),
            ("KV cache memory ({}", "{} are left for the KV cache"),
            ("maximum model length is {}", "{} tokens would fit"),
        ]),
        ends: &["KV cache memory ("],
        source: "vllm 0.8 to 0.22, kv_cache_utils.py",
        ..ROW
    },
    Pattern {
        name: "vllm_cache_tokens",
        marks: &["max seq len ("],
        needs: &[&["stored in KV cache ("]],
        reads: Reads::Statement(&[
            ("max seq len ({})", "the longest request has {} tokens"),
            ("stored in KV cache ({})", "the KV cache has room for {} tokens"),
        ]),
        ends: &["stored in KV cache ("],
        source: "vllm 0.2 to 0.8, worker.py",
        ..ROW
    },
    Pattern {
        name: "vllm_no_cache",
        marks: &["No available memory for the cache blocks"],
        reads: Reads::Statement(&[("No available memory", "no memory is left for blocks of the KV cache")]),
        source: "vllm 0.3 to 0.22, kv_cache_utils.py",
        ..ROW
    },
    Pattern {
        name: "vllm_startup",
        marks: &["Free memory on device"],
        reads: Reads::Statement(&[
            ("on device{}({}/{}) on startup", "{} of {} are free at the start"),
            (
                "GPU memory utilization ({}, {})",
                "the server may use the share {} of the device, {}",
            ),
            (
                "GPU memory utilization is ({}, {})",
                "the server may use the share {} of the device, {}",
            ),
            ("usage: {} for weights", "the weights take {}"),
            ("{} for peak activation", "activations take {} at most"),
            ("{} for non-torch memory", "{} are outside torch's pool"),
            ("Current kv cache memory in use is {}", "the KV cache has {}"),
        ]),
        ends: &[
            "Decrease GPU memory",
            "GPU memory used by other processes",
            "Current kv cache memory",
        ],
        source: "vllm 0.8 to 0.22, gpu_worker.py; vllm-ascend 0.10 to 0.22, worker.py",
        ..ROW
    },
    Pattern {
        name: "vllm_profile",
        marks: &["the current vLLM instance can use"],
        reads: Reads::Statement(&[
            ("total_gpu_memory ({})", "the device has {}"),
            (
                "gpu_memory_utilization ({}) = {};",
                "the server may use the share {} of it, {}",
            ),
            ("model weights take {}", "the weights take {}"),
            ("non_torch_memory takes {}", "{} are outside torch's pool"),
            ("activation peak memory takes {}", "activations take {} at most"),
            ("reserved for KV Cache is {}", "{} are left for the KV cache"),
        ]),
        ends: &["reserved for KV Cache is"],
        source: "vllm 0.7 to 0.8, worker.py",
        ..ROW
    },
    Pattern {
        name: "vllm_blocks",
        marks: &[
            "GPU KV cache size:",
            "# GPU blocks:",
            "# NPU blocks:",
            "# npu blocks:",
            "# cuda blocks:",
        ],
        reads: Reads::Statement(&[
            ("KV cache size: {} tokens", "the KV cache has room for {} tokens"),
            ("GPU blocks: {}", "the KV cache has {} blocks on the device"),
            ("NPU blocks: {}", "the KV cache has {} blocks on the device"),
            ("# cuda blocks: {}", "the KV cache has {} blocks on the device"),
            ("npu blocks: {}", "the KV cache has {} blocks on the device"),
            ("CPU blocks: {}", "{} blocks on the host"),
        ]),
        source: "vllm 0.3 to 0.22",
        ..ROW
    },
    Pattern {
        name: "vllm_ascend",
        marks: &["Available memory:", "Total non KV cache memory:"],
        reads: Reads::Statement(&[
            ("Available memory: {}", "memory for the KV cache: {}"),
            ("total memory: {}", "memory of the device: {}"),
            ("non KV cache memory: {}", "{} are used besides the KV cache"),
        ]),
        source: "vllm-ascend 0.7 to 0.22, worker.py",
        ..ROW
    },
    Pattern {
        name: "sglang_weights",
        marks: &[
            "Load weight begin",
            "Load weight end",
            "Memory pool end",
            "Capture cuda graph begin",
            "Capture cuda graph end",
            "Capture npu graph begin",
            "Init torch distributed ends",
        ],
        reads: Reads::Statement(&[
            ("Load weight begin{}avail mem={}", "free memory before the weights: {}"),
            ("Load weight end{}avail mem={}", "free memory after the weights: {}"),
            ("Memory pool end{}avail mem={}", "free memory after the KV cache: {}"),
            (
                "graph begin{}avail mem={}",
                "free memory before the capture of graphs: {}",
            ),
            ("graph end{}avail mem={}", "free memory after the capture of graphs: {}"),
            (
                "distributed ends{}avail mem={}",
                "free memory after the start of communication: {}",
            ),
            ("mem usage={}", "this took {}"),
        ]),
        source: "sglang 0.3 to 0.5, model_runner.py",
        ..ROW
    },
    Pattern {
        name: "sglang_cache",
        marks: &[
            "KV Cache is allocated",
            "max_total_num_tokens=",
            "Not enough memory. Please try to increase --mem-fraction-static",
        ],
        reads: Reads::Statement(&[
            (
                "K size: {}, V size: {}",
                "the KV cache has {} for keys and {} for values",
            ),
            ("KV size: {}", "the KV cache has {}"),
            ("#tokens: {}", "it has room for {} tokens"),
            ("max_total_num_tokens={}", "the KV cache has room for {} tokens"),
            ("available_gpu_mem={}", "{} of the device are free"),
            (
                "Not enough memory",
                "the memory that --mem-fraction-static leaves does not suffice for the KV cache",
            ),
        ]),
        source: "sglang 0.3 to 0.5, memory_pool.py, scheduler.py",
        ..ROW
    },
    Pattern {
        name: "sglang_batch",
        marks: &["Decode out of memory", "Prefill out of memory"],
        reads: Reads::Statement(&[
            (
                "Decode out of memory",
                "the KV cache has no room for the batch that is decoded",
            ),
            (
                "Prefill out of memory",
                "the KV cache has no room for the batch that is prefilled",
            ),
        ]),
        source: "sglang 0.3 to 0.5, schedule_batch.py",
        ..ROW
    },
    Pattern {
        name: "mindie",
        marks: &[
            "kv cache will allocate",
            "kv_cache will allocate",
            "warmup_memory_gb",
            "npu_block_num",
            "free_memory_gb",
        ],
        reads: Reads::Statement(&[
            ("will allocate {}", "the KV cache takes {}"),
            ("warmup_memory_gb: {}", "warm-up takes {} GiB"),
            ("npu_block_num: {}", "the KV cache has {} blocks on the device"),
            ("free_memory_gb: {}", "{} GiB are free"),
        ]),
        source: "MindIE 1.0 to 2.1, cache_manager.py, model_runner.py",
        ..ROW
    },
    Pattern {
        name: "tensorflow_host",
        marks: &["exceeds 10% of "],
        reads: Reads::Statement(&[(
            "exceeds 10% of free system memory",
            "a tensor takes more than a tenth of the host's free memory",
        )]),
        source: "tensorflow 1.8 to 2.21, cpu_allocator_impl.cc",
        ..ROW
    },
];
