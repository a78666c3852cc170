//! `memory_record` and `npu_module_mem`.

use super::{error, recordings};
use crate::test_help::{shows, tells};

#[test]
fn components_are_recordings_of_curves() {
    let (recordings, diagnostics) = recordings(
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\r\n\
         APP,20.100\t,,10.5,,,NPU:0\r\nPTA,30\t,2,4,2,1,NPU:0\r\nPTA,10\t,3,4,3,2,NPU:0\r\nPTA,30\t,1,4,1,1,NPU:0\r\n",
    );
    let expected = "
        APP, 1 steps: 20100
        reserved 0:11010048
        PTA, 3 steps: 10000 +20000 +20000
        allocated 0:3145728 1:2097152 2:1048576
        reserved 0:4194304 1:4194304 2:4194304
        active 0:3145728 1:2097152 2:1048576";
    shows(&recordings, expected);
    assert_eq!(diagnostics.entries(), []);
}

#[test]
fn the_unit_is_the_headers_and_devices_are_told_apart() {
    let (recordings, diagnostics) = recordings(
        "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n\
         0,HCCL,1,8,NPU:0\n1,HCCL,1,16,NPU:1\n1,SLOG,2,-1,NPU:1\n1,HCCL,2,-1,NPU:1\n",
    );
    let expected = "
        HCCL NPU:0, 1 steps: 1000
        reserved 0:8192
        HCCL NPU:1, 2 steps: 1000 +1000
        reserved 0:16384";
    shows(&recordings, expected);
    tells(&diagnostics, &[("only releases", 2), ("left out", 3)]);
    assert!(error("Component,Timestamp(us),Total Reserved(lots)\nA,1,1\n").contains("Total Reserved(lots)"));
}

#[test]
fn a_single_cut_time_takes_its_sample_and_many_leave_the_order_of_the_file() {
    let (few, diagnostics) =
        recordings("Component,Timestamp(us),Total Allocated(MB)\nGE,1,5\nGE,1.6E+15,900\nGE,12.5,7\nAPP,13,1\n");
    let expected = "
        GE, 2 steps: 1000 +11500
        allocated 0:5242880 1:7340032
        APP, 1 steps: 13000
        allocated 0:1048576";
    shows(&few, expected);
    tells(&diagnostics, &[("the sample is left out", 1)]);
    let (many, diagnostics) =
        recordings("Component,Timestamp(us),Total Allocated(MB)\nGE,1.7E+15,5\nGE,1.6E+15,6\nGE,12.5,7\n");
    let expected = "
        GE, 3 steps:
        allocated 0:5242880 1:6291456 2:7340032";
    shows(&many, expected);
    tells(&diagnostics, &[("digits of a time", 2)]);
}

#[test]
fn megabytes_of_mindspore_are_1024000_bytes_for_every_component() {
    let header = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type\r\n";
    let (mindspore, diagnostics) = recordings(&format!(
        "{header}GE,1,20.48,40.96,0,NPU:0\r\nMindSpore+GE,1,20.48,40.96,0,NPU:0\r\n\
         MindSpore,2,12.288,1048.576,0.0005,NPU:0\r\nMindSpore+GE,2,32.768,1089.536,0.0005,NPU:0\r\nAPP,3,0,2.048,0,NPU:0\r\n"
    ));
    let expected = "
        GE, 1 steps: 1000
        allocated 0:20971520
        reserved 0:41943040
        active 0:0
        MindSpore+GE, 2 steps: 1000 +1000
        allocated 0:20971520 1:33554432
        reserved 0:41943040 1:1115684864
        active 0:0 1:512
        MindSpore, 1 steps: 2000
        allocated 0:12582912
        reserved 0:1073741824
        active 0:512
        APP, 1 steps: 3000
        allocated 0:0
        reserved 0:2097152
        active 0:0";
    shows(&mindspore, expected);
    tells(&diagnostics, &[("1,024,000 bytes", 1)]);
    // torch_npu's are 1,048,576, and so are the KB of both 1024.
    let (torch, diagnostics) = recordings(&format!("{header}PTA,1,1,20,1,NPU:0\r\nGE,2,1,1,1,NPU:0\r\n"));
    let expected = "
        PTA, 1 steps: 1000
        allocated 0:1048576
        reserved 0:20971520
        active 0:1048576
        GE, 1 steps: 2000
        allocated 0:1048576
        reserved 0:1048576
        active 0:1048576";
    shows(&torch, expected);
    assert_eq!(diagnostics.entries(), []);
    let (kilobytes, diagnostics) = recordings("Component,Timestamp(us),Total Reserved(KB)\nMindSpore,1,1048576\n");
    shows(&kilobytes, "MindSpore, 1 steps: 1000\nreserved 0:1073741824");
    assert_eq!(diagnostics.entries(), []);
}
