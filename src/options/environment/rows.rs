//! The table of environment variables: one row each.

use super::super::policy_choices::POLICY_TEXTS;
use super::EnvironmentRow;

pub const GE_USE_STATIC_MEMORY: &str = "GE_USE_STATIC_MEMORY";
pub const ASCEND_DEVICE_ID: &str = "ASCEND_DEVICE_ID";
pub const DEVICE_ID: &str = "DEVICE_ID";
pub const ASCEND_WORK_PATH: &str = "ASCEND_WORK_PATH";
pub const ASCEND_CACHE_PATH: &str = "ASCEND_CACHE_PATH";
pub const NPU_COLLECT_PATH: &str = "NPU_COLLECT_PATH";
pub const HCCL_EXEC_TIMEOUT: &str = "HCCL_EXEC_TIMEOUT";
pub const AOE_MODE: &str = "AOE_MODE";
pub const ASCEND_MAX_OP_CACHE_SIZE: &str = "ASCEND_MAX_OP_CACHE_SIZE";
pub const ASCEND_REMAIN_CACHE_SIZE_RATIO: &str = "ASCEND_REMAIN_CACHE_SIZE_RATIO";
pub const TF_CONFIG: &str = "TF_CONFIG";
pub const DUMP_GE_GRAPH: &str = "DUMP_GE_GRAPH";
pub const DUMP_GRAPH_LEVEL: &str = "DUMP_GRAPH_LEVEL";
pub const DUMP_GRAPH_PATH: &str = "DUMP_GRAPH_PATH";
pub const DUMP_GRAPH_FORMAT: &str = "DUMP_GRAPH_FORMAT";
pub const JOB_ID: &str = "JOB_ID";
pub const RANK_SIZE: &str = "RANK_SIZE";
pub const CM_WORKER_SIZE: &str = "CM_WORKER_SIZE";
pub const PYTORCH_CUDA_ALLOC_CONF: &str = "PYTORCH_CUDA_ALLOC_CONF";
pub const PYTORCH_HIP_ALLOC_CONF: &str = "PYTORCH_HIP_ALLOC_CONF";
pub const PYTORCH_ALLOC_CONF: &str = "PYTORCH_ALLOC_CONF";
pub const PYTORCH_NPU_ALLOC_CONF: &str = "PYTORCH_NPU_ALLOC_CONF";

const ADAPTER: &str = "TensorFlow adapter environment variables";

/// What most variables have in common.
const VARIABLE: EnvironmentRow = EnvironmentRow {
    name: "",
    summary: "",
    details: "",
    precedence: "no option is equivalent",
    choices: &[],
    source: "NPURunConfig option reference",
};

/// Every variable that the rules, the policy or the originals read.
pub static ENVIRONMENT: &[EnvironmentRow] = &[
    GE_USE_STATIC_MEMORY_ROW,
    EnvironmentRow {
        name: ASCEND_DEVICE_ID,
        summary: "logical device id of the process",
        details: "An integer of 0 or more; other values are rejected. The simulation takes it to choose an entry of \
                  simulation.occupied_memory.",
        precedence: "below session_device_id and above DEVICE_ID; without any of them the id is 0",
        source: "NPURunConfig option reference; TensorFlow adapter",
        ..VARIABLE
    },
    EnvironmentRow {
        name: DEVICE_ID,
        summary: "physical device id of the process",
        details: "An integer of 0 or more; other values are rejected. Physical ids are those of the machine, not of \
                  the container.",
        precedence: "below session_device_id and ASCEND_DEVICE_ID",
        source: "TensorFlow adapter",
        ..VARIABLE
    },
    EnvironmentRow {
        name: ASCEND_WORK_PATH,
        summary: "directory of the files that a run writes",
        details: "Debug files of ops, dumps of failing ops, results of fusion and weights in files go below it. Without \
                  it they go to the current directory.",
        precedence: "below debug_dir and NPU_COLLECT_PATH, where these are for the same files",
        ..VARIABLE
    },
    EnvironmentRow {
        name: ASCEND_CACHE_PATH,
        summary: "the directory for the cache of compiled ops",
        details: "The cache is in a subdirectory whose name is kernel_cache and the host's id. Without it and the option, \
                  the cache is in $HOME/atc_data.",
        precedence: "below op_compiler_cache_dir",
        ..VARIABLE
    },
    EnvironmentRow {
        name: NPU_COLLECT_PATH,
        summary: "directory of fault data",
        details: "Where it is set, failing ops are dumped in mode 1 and into this directory, whatever \
                  enable_exception_dump says. Ops must then not be compiled with the check oom of op_debug_config.",
        precedence: "above enable_exception_dump and DUMP_GRAPH_PATH",
        ..VARIABLE
    },
    EnvironmentRow {
        name: HCCL_EXEC_TIMEOUT,
        summary: "timeout of collective operations in seconds",
        details: "The same as hccl_timeout, from outside the script: a number above 0 and up to 17340, rounded down to \
                  multiples of 68. In a cluster stream_sync_timeout must be longer. Without both, 1836.",
        precedence: "below hccl_timeout",
        ..VARIABLE
    },
    EnvironmentRow {
        name: AOE_MODE,
        summary: "tuning mode of the Ascend optimization engine",
        details: "The same as aoe_mode, from outside the script. Tuning also needs a work_path.",
        precedence: "below aoe_mode",
        choices: &[
            ("1", "tunes subgraphs"),
            ("2", "tunes single ops"),
            ("4", "tunes how gradients are split"),
        ],
        ..VARIABLE
    },
    EnvironmentRow {
        name: ASCEND_MAX_OP_CACHE_SIZE,
        summary: "limit of the cache of compiled ops in megabytes",
        details: "Above it, files that were not read for half an hour are removed. -1 turns the ageing off. Without it \
                  and the file, 500.",
        precedence: "below max_op_cache_size in op_cache.ini, which is in op_compiler_cache_dir",
        ..VARIABLE
    },
    EnvironmentRow {
        name: ASCEND_REMAIN_CACHE_SIZE_RATIO,
        summary: "share of a full cache of compiled ops that is kept, in percent",
        details: "A number from 1 to 100. Without it and the file, 50.",
        precedence: "below remain_cache_size_ratio in op_cache.ini, which is in op_compiler_cache_dir",
        ..VARIABLE
    },
    EnvironmentRow {
        name: TF_CONFIG,
        summary: "the cluster of a training with parameter servers, as JSON",
        details: "An object with the parts cluster and task, as TensorFlow defines it. A cluster needs the option \
                  distribute and mix_compile_mode=True, or the adapter refuses the configuration. It also makes the \
                  timeouts depend on each other.",
        source: "TensorFlow adapter npu_config.py",
        ..VARIABLE
    },
    EnvironmentRow {
        name: DUMP_GE_GRAPH,
        summary: "graph dumps of the engine, and their detail",
        details: "The files show how the graph looks between the stages of the compiler. Any other value writes nothing.",
        choices: &[
            ("1", "everything"),
            ("2", "without data such as weights"),
            ("3", "the nodes and how they are linked"),
        ],
        source: "GE dump graph details",
        ..VARIABLE
    },
    EnvironmentRow {
        name: DUMP_GRAPH_LEVEL,
        summary: "compiler stages that DUMP_GE_GRAPH writes",
        details: "A number for a set of stages, or names of stages separated by |. Without DUMP_GE_GRAPH it has no \
                  effect.",
        source: "GE dump graph details",
        ..VARIABLE
    },
    EnvironmentRow {
        name: DUMP_GRAPH_PATH,
        summary: "the directory for the files of DUMP_GE_GRAPH",
        details: "An absolute path or one relative to the script. Without it they go to the current directory, or below \
                  ASCEND_WORK_PATH. Where NPU_COLLECT_PATH is set, they go to extra-info/graph below that, and this \
                  variable has no effect.",
        precedence: "below NPU_COLLECT_PATH, above ASCEND_WORK_PATH",
        source: "GE dump graph details",
        ..VARIABLE
    },
    EnvironmentRow {
        name: DUMP_GRAPH_FORMAT,
        summary: "the format of the files of DUMP_GE_GRAPH",
        details: "Names separated by |, such as onnx or ge_proto. Without DUMP_GE_GRAPH it has no effect.",
        source: "GE dump graph details",
        ..VARIABLE
    },
    EnvironmentRow {
        name: JOB_ID,
        summary: "the name of the job",
        details: "A text that tells the jobs of a machine apart in logs. It changes nothing about a run.",
        source: ADAPTER,
        ..VARIABLE
    },
    EnvironmentRow {
        name: RANK_SIZE,
        summary: "number of training processes",
        details: "For training whose members are listed in a rank table. The adapter needs exactly one of RANK_SIZE \
                  and CM_WORKER_SIZE.",
        precedence: "not beside CM_WORKER_SIZE",
        source: ADAPTER,
        ..VARIABLE
    },
    EnvironmentRow {
        name: CM_WORKER_SIZE,
        summary: "number of training processes (with a chief)",
        details: "For training whose members report to a chief instead of being listed. The adapter needs exactly one \
                  of RANK_SIZE and CM_WORKER_SIZE.",
        precedence: "not beside RANK_SIZE",
        source: ADAPTER,
        ..VARIABLE
    },
    EnvironmentRow {
        name: PYTORCH_CUDA_ALLOC_CONF,
        summary: "settings of PyTorch's caching allocator",
        details: "Pairs KEY:VALUE with commas between them, such as expandable_segments:True or \
                  max_split_size_mb:256. Recordings of PyTorch are replayed under them.",
        precedence: "above PYTORCH_HIP_ALLOC_CONF and PYTORCH_ALLOC_CONF, which are then not read, also where this one is empty",
        source: "PyTorch CUDA semantics, memory management; libc10 of the wheels of torch 2.0 to 2.15",
        ..VARIABLE
    },
    EnvironmentRow {
        name: PYTORCH_HIP_ALLOC_CONF,
        summary: "settings of PyTorch's caching allocator, by the name of AMD devices",
        details: "The same keys as PYTORCH_CUDA_ALLOC_CONF. From torch 2.10 on it is read for CUDA devices too; before, only \
                  builds for AMD devices read it.",
        precedence: "below PYTORCH_CUDA_ALLOC_CONF and above PYTORCH_ALLOC_CONF, which is then not read",
        source: "libc10 of the wheels of torch 2.0 to 2.15",
        ..VARIABLE
    },
    EnvironmentRow {
        name: PYTORCH_ALLOC_CONF,
        summary: "settings of PyTorch's caching allocator, for every kind of device",
        details: "The same keys as PYTORCH_CUDA_ALLOC_CONF. The allocator of CUDA devices reads it from torch 2.10 on; 2.9 and \
                  older do not.",
        precedence: "below PYTORCH_CUDA_ALLOC_CONF and PYTORCH_HIP_ALLOC_CONF; torch_npu refuses it beside PYTORCH_NPU_ALLOC_CONF",
        source: "PyTorch CUDA semantics, memory management; libc10 of the wheels of torch 2.0 to 2.15",
        ..VARIABLE
    },
    EnvironmentRow {
        name: PYTORCH_NPU_ALLOC_CONF,
        summary: "settings of torch_npu's caching allocator",
        details: "Pairs KEY:VALUE with commas between them. expandable_segments:True is refused together with \
                  max_split_size_mb or garbage_collection_threshold.",
        precedence: "not beside PYTORCH_ALLOC_CONF",
        source: "torch_npu",
        ..VARIABLE
    },
];

const GE_USE_STATIC_MEMORY_ROW: EnvironmentRow = EnvironmentRow {
    name: GE_USE_STATIC_MEMORY,
    summary: "memory policy of a session, set outside the script",
    details: "The older form of `static_memory_policy`, with the same numbers. It is deprecated, and its \
              documentation forbids it together with the option. GE compares the text exactly: an unknown value, such \
              as `5` or ` 2`, silently selects nothing. Releases of 2020 to 2022 took any value as a request for one \
              shared arena.",
    precedence: "none: GE combines it with memory_config.static_memory_policy (or ge.exec.staticMemoryPolicy): 2 and \
                 3 give policy 4",
    choices: &POLICY_TEXTS,
    source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
};
