//! highwater's rules on texts.

use super::{Case, case};

const STREAMS: &str = "auto_multistream_parallel_mode";
const OCCUPIED: &str = "simulation.occupied_memory";
const WORKSPACES: &str = "simulation.workspace_table";

pub(super) const CASES: &[Case] = &[
    case(&[("fusion_switch_file", "/home/test/fusion_switch-1.cfg")], ""),
    case(&[("fusion_switch_file", "/home/my files/x.cfg")], "K2E"),
    case(&[("op_compiler_cache_dir", "/home/$USER/cache")], "R44I K2E"),
    case(&[("op_compiler_cache_dir", "cache_dir")], "R44I"),
    case(&[(STREAMS, "cv")], ""),
    case(&[(STREAMS, "LoadBalance")], ""),
    case(&[(STREAMS, "LoadBalance:1")], ""),
    case(&[(STREAMS, "MainStream:64")], ""),
    case(&[(STREAMS, "MainStream:65")], "K3E"),
    case(&[(STREAMS, "MainStream:0")], "K3E"),
    case(&[(STREAMS, "MainStream")], "K3E"),
    case(&[(STREAMS, "LoadBalance:")], "K3E"),
    case(&[(STREAMS, "LoadBalance:+3")], "K3E"),
    case(&[(STREAMS, "CV")], "K3E"),
    case(&[(OCCUPIED, "0:2GiB,1:1024")], ""),
    case(&[(OCCUPIED, "")], ""),
    case(&[(OCCUPIED, "2GiB")], "K4E"),
    case(&[(WORKSPACES, "Conv*=25%, LayerNorm=2MiB")], ""),
    case(&[(WORKSPACES, "")], ""),
    case(&[(WORKSPACES, "Conv*")], "K8E"),
    case(&[(WORKSPACES, "Conv*=lots")], "K8E"),
    case(&[(WORKSPACES, "Conv*=25%,Conv*=2MiB")], "K8E"),
    case(&[(WORKSPACES, "C*v=25%")], "K8E"),
    case(&[("simulation.workspace_estimate", "perhaps")], "K1E"),
    case(&[("simulation.policy_2_behaviour", "documented")], ""),
    case(&[("simulation.policy_2_behaviour", "as documented")], "K1E"),
    case(&[("simulation.malloc_ns", "-1")], "K1E"),
    case(&[("simulation.memset_bytes_per_second", "0")], "K1E"),
    case(&[("simulation.memset_bytes_per_second", "800GB")], ""),
    // Options that exclude each other.
    case(&[("save_checkpoints_steps", "5")], ""),
    case(
        &[("save_checkpoints_steps", "5"), ("save_checkpoints_secs", "5")],
        "K7E",
    ),
    case(
        &[
            ("dump_config.enable_dump", "True"),
            ("dump_config.enable_dump_debug", "True"),
            ("dump_config.dump_path", "/d"),
        ],
        "K7E",
    ),
    case(
        &[
            ("dump_config.enable_dump", "True"),
            ("dump_config.enable_dump_debug", "False"),
            ("dump_config.dump_path", "/d"),
        ],
        "",
    ),
    case(&[("oo_level", "O0"), ("topo_sorting_mode", "3")], ""),
    case(&[("oo_level", "O4")], "K1E"),
    case(&[("topo_sorting_mode", "4")], "K1E"),
    case(&[("graph_slice", "manual"), ("recompute", "auto")], ""),
    case(&[("graph_slice", "always")], "K1E"),
    case(&[(OCCUPIED, "0:lots")], "K4E"),
];
