//! Tables of kernels: both spellings, several devices, rows without a duration.

use super::recordings;
use highwater_model::units::Nanos;

/// Name, type, start and duration of each op.
fn ops(recording: &highwater_model::workload::Recording) -> Vec<(&str, &str, u64, u64)> {
    let row = |op: &highwater_model::workload::RecordedOp| {
        (recording.text(op.name), recording.text(op.kind), op.start.0, op.time.0)
    };
    recording.ops.iter().map(row).collect()
}

#[test]
fn kernels_of_torch_npu_are_ops_by_their_starts() {
    let (recordings, diagnostics) = recordings(
        "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n\
         1,0,matmul,MatMulV2,AI_CORE,1700000000000010.5\t,12.25,0,24\n\
         1,0,cast,Cast,AI_VECTOR_CORE,1700000000000000.000\t,3,0,40\n\
         2,0,matmul,MatMulV2,AI_CORE,1700000000000100.125\t,10.5,0,24\n",
    );
    assert_eq!(recordings.len(), 1);
    assert_eq!(recordings[0].name, "NPU:0");
    let start = 1_700_000_000_000_000_000;
    assert_eq!(
        ops(&recordings[0]),
        [
            ("cast", "Cast", start, 3_000),
            ("matmul", "MatMulV2", start + 10_500, 12_250),
            ("matmul", "MatMulV2", start + 100_125, 10_500)
        ]
    );
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
    let named: Vec<(&str, Nanos)> = recordings
        .iter()
        .map(|one| (one.name.as_str(), one.ops[0].time))
        .collect();
    assert_eq!(named, [("NPU:0", Nanos(21_000)), ("NPU:1", Nanos(20_000))]);
    assert_eq!(diagnostics.entries().len(), 1, "{:?}", diagnostics.entries());
}
