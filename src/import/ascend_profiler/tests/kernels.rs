//! Tables of kernels: both spellings, several devices, rows without a duration.

use super::recordings;
use crate::test_help::shows;

#[test]
fn kernels_of_torch_npu_are_ops_by_their_starts() {
    let (recordings, diagnostics) = recordings(
        "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n\
         1,0,matmul,MatMulV2,AI_CORE,1700000000000010.5\t,12.25,0,24\n\
         1,0,cast,Cast,AI_VECTOR_CORE,1700000000000000.000\t,3,0,40\n\
         2,0,matmul,MatMulV2,AI_CORE,1700000000000100.125\t,10.5,0,24\n",
    );
    let expected = "
        NPU:0, 0 steps:
        op cast Cast +1700000000000000000 takes 3000, scratch 0
        op matmul MatMulV2 +1700000000000010500 takes 12250, scratch 0
        op matmul MatMulV2 +1700000000000100125 takes 10500, scratch 0";
    shows(&recordings, expected);
    assert!(!recordings[0].has_content() && diagnostics.entries().is_empty());
}

#[test]
fn kernels_of_msprof_stand_by_device() {
    let (recordings, diagnostics) = recordings(
        "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n\
         1,4294967295,3,5,conv1,Conv2D,AI_CORE,10,20\n\
         0,4294967295,3,5,conv1,Conv2D,AI_CORE,11,21\n\
         0,4294967295,4,5,relu,Relu,AI_CORE,40,N/A\n",
    );
    let expected = "
        NPU:0, 0 steps:
        op conv1 Conv2D +11000 takes 21000, scratch 0
        NPU:1, 0 steps:
        op conv1 Conv2D +10000 takes 20000, scratch 0";
    shows(&recordings, expected);
    assert_eq!(diagnostics.entries().len(), 1, "{:?}", diagnostics.entries());
}
