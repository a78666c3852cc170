//! `memory_record` and `npu_module_mem`.

use super::{count_of, error, recordings};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::TotalKind;

#[test]
fn a_single_cut_time_takes_its_sample_alone() {
    let (recordings, diagnostics) =
        recordings("Component,Timestamp(us),Total Allocated(MB)\nGE,1,5\nGE,1.6E+15,900\nGE,12.5,7\nAPP,13,1\n");
    assert_eq!((recordings[0].n_steps, recordings[0].times.len()), (2, 2));
    let peak = recordings[0].total(TotalKind::Allocated).map(|total| total.peak().0);
    assert_eq!(peak, Some(Bytes(7 << 20)));
    assert_eq!(count_of(&diagnostics, "the sample is left out"), 1);
}

#[test]
fn components_are_recordings_of_curves() {
    let (recordings, diagnostics) = recordings(
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\r\n\
         APP,20.100\t,,10.5,,,NPU:0\r\nPTA,30\t,2,4,2,1,NPU:0\r\nPTA,10\t,3,4,3,2,NPU:0\r\nPTA,30\t,1,4,1,1,NPU:0\r\n",
    );
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["APP", "PTA"]);
    assert_eq!(recordings[0].total(TotalKind::Allocated), None);
    assert_eq!(
        recordings[0].total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(21 << 19))
    );
    let samples = &recordings[1].total(TotalKind::Allocated).expect("a curve").samples;
    let mib = |n: u64| Bytes(n << 20);
    assert_eq!(samples, &[(Step(0), mib(3)), (Step(1), mib(2)), (Step(2), mib(1))]);
    let times: Vec<u64> = recordings[1].times.iter().map(|time| time.0).collect();
    assert_eq!(times, [10_000, 30_000, 30_000]);
    assert_eq!(diagnostics.entries(), []);
}

#[test]
fn the_unit_is_the_headers_and_devices_are_told_apart() {
    let (recordings, diagnostics) = recordings(
        "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n\
         0,HCCL,1,8,NPU:0\n1,HCCL,1,16,NPU:1\n1,SLOG,2,-1,NPU:1\n1,HCCL,2,-1,NPU:1\n",
    );
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["HCCL NPU:0", "HCCL NPU:1"]);
    assert_eq!(
        recordings[1].total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(16 << 10))
    );
    assert_eq!(count_of(&diagnostics, "only releases"), 2);
    assert_eq!(count_of(&diagnostics, "left out"), 3);
    assert!(error("Component,Timestamp(us),Total Reserved(lots)\nA,1,1\n").contains("Total Reserved(lots)"));
}

#[test]
fn cut_times_leave_the_order_of_the_file() {
    let (recordings, diagnostics) =
        recordings("Component,Timestamp(us),Total Allocated(MB)\nGE,1.7E+15,5\nGE,1.6E+15,6\nGE,12.5,7\n");
    assert!(recordings[0].times.is_empty());
    let samples = &recordings[0].total(TotalKind::Allocated).expect("a curve").samples;
    assert_eq!(samples[0].1, Bytes(5 << 20));
    assert_eq!(count_of(&diagnostics, "digits of a time"), 2);
}
