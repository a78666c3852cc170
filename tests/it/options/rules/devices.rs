//! Devices, clusters and timeouts.

use super::{Case, case};

const CLUSTER: (&str, &str) = ("TF_CONFIG", r#"{"cluster": {"ps": ["a:1"], "worker": ["b:1"]}}"#);
const STRATEGY: (&str, &str) = ("distribute", "tf.distribute.experimental.ParameterServerStrategy()");
const MIXED: (&str, &str) = ("mix_compile_mode", "True");
const SYNC: &str = "stream_sync_timeout";

pub(super) const CASES: &[Case] = &[
    // Parameter servers.
    case(&[STRATEGY, MIXED], "").with(&[CLUSTER]),
    case(&[STRATEGY], "R5E"),
    case(&[STRATEGY], "R5E").with(&[CLUSTER]),
    case(&[STRATEGY, ("mix_compile_mode", "False")], "R5E").with(&[CLUSTER]),
    case(&[MIXED], "R5E").with(&[CLUSTER]),
    case(&[], "R5E").with(&[CLUSTER]),
    case(&[], "").with(&[("TF_CONFIG", "{}")]),
    case(&[], "").with(&[("TF_CONFIG", "")]),
    case(&[], "").with(&[("TF_CONFIG", r#"{"cluster": {}}"#)]),
    case(&[], "R5E").with(&[("TF_CONFIG", "{cluster")]),
    case(&[], "R5E").with(&[("TF_CONFIG", "[1]")]),
    case(&[], "R5E").with(&[("TF_CONFIG", r#"{"cluster": 5}"#)]),
    case(&[("distribute", "MirroredStrategy()")], "R5E"),
    case(&[("distribute", "ps")], "R5E"),
    // Device ids.
    case(&[("session_device_id", "0")], "R45I"),
    case(&[("session_device_id", "7")], "R45I").with(&[("ASCEND_DEVICE_ID", "x")]),
    case(&[("session_device_id", "-1")], "R37E"),
    case(&[("session_device_id", "one")], "R37E"),
    case(&[], "R45I").with(&[("ASCEND_DEVICE_ID", "1")]),
    case(&[], "R45I").with(&[("ASCEND_DEVICE_ID", "1"), ("DEVICE_ID", "-1")]),
    case(&[], "R45I").with(&[("DEVICE_ID", "1")]),
    case(&[], "R45I").with(&[("DEVICE_ID", " 1 ")]),
    case(&[], "").with(&[("DEVICE_ID", "")]),
    case(&[], "R45E").with(&[("DEVICE_ID", "-1")]),
    case(&[], "R45E").with(&[("DEVICE_ID", "1.1")]),
    case(&[], "R45E").with(&[("DEVICE_ID", "+1")]),
    case(&[], "R45E").with(&[("ASCEND_DEVICE_ID", "-aa"), ("DEVICE_ID", "1")]),
    case(&[], "R45E").with(&[("ASCEND_DEVICE_ID", "99999999999999999999")]),
    // Sizes of clusters.
    case(&[], "").with(&[("RANK_SIZE", "8")]),
    case(&[], "K5E").with(&[("RANK_SIZE", "8"), ("CM_WORKER_SIZE", "8")]),
    // Collective communication.
    case(&[("hccl_timeout", "1")], ""),
    case(&[("hccl_timeout", "17340")], ""),
    case(&[("hccl_timeout", "0")], "R27E"),
    case(&[("hccl_timeout", "17341")], "R27E"),
    case(&[("hccl_timeout", "long")], "R27E"),
    case(&[], "").with(&[("HCCL_EXEC_TIMEOUT", "600")]),
    case(&[], "R27W").with(&[("HCCL_EXEC_TIMEOUT", "soon")]),
    case(&[], "R27W").with(&[("HCCL_EXEC_TIMEOUT", "0")]),
    case(&[("hccl_timeout", "600")], "R27I").with(&[("HCCL_EXEC_TIMEOUT", "soon")]),
    // Streams wait longer than communication may take: milliseconds against seconds.
    case(&[(SYNC, "-1")], ""),
    case(&[(SYNC, "60000")], "R28W"),
    case(&[(SYNC, "0")], "R28W"),
    case(&[(SYNC, "1836000")], "R28W"),
    case(&[(SYNC, "1836001")], ""),
    // The effective timeout counts, in steps of 68 s: 59 acts as 68, 600 as 544.
    case(&[(SYNC, "60000"), ("hccl_timeout", "59")], "R28W"),
    case(&[(SYNC, "68000"), ("hccl_timeout", "59")], "R28W"),
    case(&[(SYNC, "68001"), ("hccl_timeout", "59")], ""),
    case(&[(SYNC, "544000"), ("hccl_timeout", "600")], "R28W"),
    case(&[(SYNC, "544001"), ("hccl_timeout", "600")], ""),
    case(&[(SYNC, "60000"), ("hccl_timeout", "60")], "R28W"),
    case(&[(SYNC, "60000")], "R28W").with(&[("HCCL_EXEC_TIMEOUT", "59")]),
    case(&[(SYNC, "69000")], "").with(&[("HCCL_EXEC_TIMEOUT", "59")]),
    case(&[(SYNC, "60000"), ("hccl_timeout", "600")], "R27I R28W").with(&[("HCCL_EXEC_TIMEOUT", "59")]),
    case(&[(SYNC, "60000")], "R28E").with(&[("RANK_SIZE", "8")]),
    case(&[(SYNC, "60000")], "").with(&[("RANK_SIZE", "1")]),
    case(&[(SYNC, "60000"), STRATEGY, MIXED], "R28E").with(&[("RANK_SIZE", "1"), CLUSTER]),
    case(&[(SYNC, "60000")], "R28E").with(&[("CM_WORKER_SIZE", "2")]),
    case(&[(SYNC, "60000"), STRATEGY, MIXED], "R28E").with(&[CLUSTER]),
    case(&[(SYNC, "-2")], "K1E"),
    case(&[("event_sync_timeout", "60000")], ""),
];
