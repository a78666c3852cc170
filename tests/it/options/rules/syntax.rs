//! highwater's own rules of texts.

use super::{Case, case};

const STREAMS: &str = "auto_multistream_parallel_mode";
const OCCUPIED: &str = "simulation.occupied_memory";

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
    case(&[(OCCUPIED, "0:lots")], "K4E"),
];
