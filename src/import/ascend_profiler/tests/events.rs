//! Dumps of msmemscope.

use super::{count_of, error, recordings};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{BlockAddress, MarkKind, TotalKind};

const HEADER: &str = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),\
    Call Stack(C)";

#[test]
fn a_single_cut_time_takes_its_row_alone() {
    let row = |id: u32, event: &str, time: &str| {
        format!("{id},{event},PTA,N/A,{time},1,1,0,0x10,\"{{allocation_id:{id},size:512}}\",,\n")
    };
    let (recordings, diagnostics) = recordings(&format!(
        "{HEADER}\n{}{}{}",
        row(1, "MALLOC", "10"),
        row(2, "MALLOC", "1.7E+15"),
        row(3, "MALLOC", "30")
    ));
    assert_eq!((recordings.len(), recordings[0].n_steps), (1, 2));
    assert!(recordings[0].times.iter().eq([Nanos(10), Nanos(30)]));
    assert_eq!(count_of(&diagnostics, "the row is left out"), 1);
}

#[test]
fn blocks_are_called_like_the_innermost_open_op_of_their_thread() {
    let (recordings, diagnostics) = recordings(&format!(
        "{HEADER}\n\
         1,SYSTEM,START_TRACE,N/A,5,1,1,N/A,N/A,,,\n\
         2,OP_LAUNCH,ATEN_START,outer,10,1,1,0,N/A,,,\n\
         3,OP_LAUNCH,ATEN_START,inner,11,1,1,0,N/A,,,\n\
         4,MALLOC,PTA,N/A,12,1,1,0,0x10,\"{{allocation_id:1,addr:0x10,size:512,total:1024,used:512}}\",\"a.py(3): f\n\
         b.py(9): main\n\",\n\
         5,MALLOC,PTA,N/A,13,1,2,0,0x20,\"{{allocation_id:2,addr:0x20,size:256,owner:PTA@x,total:1024,used:768}}\",,\"so [1]\"\n\
         6,OP_LAUNCH,ATEN_END,inner,14,1,1,0,N/A,,,\n\
         7,MALLOC,HAL,N/A,15,1,1,0,0x10,\"{{addr:0x10,size:4096}}\",\"NA\",\n\
         8,FREE,PTA,N/A,16,1,1,0,0x10,\"{{allocation_id:1,addr:0x10,size:512,total:1024,used:256}}\",,\n\
         9,ACCESS,READ,x,17,1,1,0,0x10,\"{{}}\",,\n\
         10,OOM_DETAIL,OOM_TRIGGER,N/A,18,1,1,0,N/A,\"{{func:f,req_size:99}}\",,\n\
         11,MSTX,Mark,step 1,19,1,1,1,N/A,,,\n"
    ));
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["PTA/0", "HAL/0"]);
    let pta = &recordings[0];
    assert_eq!(pta.text(pta.blocks[0].name), "inner");
    assert_eq!(pta.text(pta.blocks[1].name), "PTA@x");
    assert_eq!(recordings[1].text(recordings[1].blocks[0].name), "outer");
    assert_eq!((pta.blocks[0].end, pta.blocks[0].is_freed), (Step(2), true));
    assert_eq!(pta.blocks[0].address, BlockAddress::new(0x10));
    assert!(pta.times.iter().eq([Nanos(12), Nanos(13), Nanos(16)]));
    assert_eq!(
        pta.total(TotalKind::Allocated).map(|total| total.peak().0),
        Some(Bytes(768))
    );
    assert_eq!(
        pta.total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(1024))
    );
    let frames: Vec<(&str, u32)> = pta
        .frames
        .iter()
        .map(|frame| (pta.text(frame.function), frame.line))
        .collect();
    assert_eq!(frames, [("f", 3), ("main", 9), ("so [1]", 0)]);
    assert_eq!(&*pta.stacks[0], [0, 1]);
    assert!(recordings[1].stacks.is_empty());
    let marks: Vec<(MarkKind, &str)> = pta.marks.iter().map(|mark| (mark.kind, pta.text(mark.text))).collect();
    let oom = (MarkKind::OutOfMemory, "OOM_DETAIL OOM_TRIGGER");
    assert_eq!(marks, [(MarkKind::Note, "SYSTEM START_TRACE"), oom]);
    assert_eq!(pta.marks[1].bytes, Bytes(99));
    assert_eq!(count_of(&diagnostics, "event ACCESS"), 1);
}

#[test]
fn rows_out_of_order_are_listed_both_ways() {
    let (recordings, diagnostics) = recordings(&format!(
        "{HEADER}\n\
         1,MALLOC,PTA,N/A,10,1,1,0,0x10,\"{{size:5}}\",,\n4,FREE,PTA,N/A,40,1,1,0,0x10,\"{{size:5}}\",,\n\
         2,MALLOC,PTA,N/A,20,1,1,0,0x20,\"{{size:6}}\",,\n3,FREE,PTA,N/A,30,1,1,0,0x20,\"{{size:6}}\",,\n"
    ));
    let peaks: Vec<(&str, u64)> = recordings
        .iter()
        .map(|recording| (recording.name.as_str(), recording.peaks().live.0.get()))
        .collect();
    assert_eq!(peaks, [("PTA/0", 6), ("PTA/0 by time", 11)]);
    assert!(recordings[0].times.is_empty());
    assert_eq!(count_of(&diagnostics, "are not in the order"), 1);
}

#[test]
fn odd_events_are_counted() {
    let (recordings, diagnostics) = recordings(&format!(
        "{HEADER}\n\
         1,FREE,PTA,N/A,1,1,1,0,0x99,\"{{size:5}}\",,\n2,MALLOC,PTA,N/A,2,1,1,0,0x10,\"{{size:5}}\",,\n\
         3,MALLOC,PTA,N/A,3,1,1,0,0x10,\"{{size:7}}\",,\n4,MALLOC,PTA,N/A,4,1,1,0,0x30,{{}},,\n\
         5,MALLOC,PTA,N/A,5,1,1,0,N/A,\"{{size:1}}\",,\n6,OP_LAUNCH,ATEN_END,never,6,1,1,0,N/A,,,\n\
         7,,PTA,N/A,6,1,1,0,N/A,,,\n8,MALLOC,PTA,N/A,x,1,1,0,0x10,\"{{size:7}}\",,\n"
    ));
    assert_eq!(recordings[0].blocks.len(), 2);
    assert_eq!(recordings[0].peaks().live.0, Bytes(7));
    assert_eq!(count_of(&diagnostics, "no block that the table shows"), 1);
    assert_eq!(count_of(&diagnostics, "given out again"), 1);
    assert_eq!(count_of(&diagnostics, "no size"), 1);
    assert_eq!(count_of(&diagnostics, "neither an address"), 1);
    assert_eq!(count_of(&diagnostics, "event is missing"), 1);
    assert_eq!(count_of(&diagnostics, "a number cannot be read"), 1);
}

#[test]
fn older_dumps_have_sizes_in_columns() {
    let (recordings, _) = recordings(
        "Record Index,Timestamp(ns),Event,Event Type,Process Id,Thread Id,Device Id,Kernel Index,Flag,Addr,Size(byte),\
         Total Allocated(byte),Total Reserved(byte)\n1,10,malloc,PTA,1,1,0,0,0,4096,512,512,1024\n\
         2,20,free,PTA,1,1,0,0,0,4096,512,0,1024\n",
    );
    assert_eq!(recordings[0].blocks[0].bytes, Bytes(512));
    assert!(recordings[0].blocks[0].is_freed);
    assert!(
        error(&format!("{HEADER}\n1,SYSTEM,START_TRACE,N/A,5,1,1,N/A,N/A,,,\n")).contains("no row of the table says")
    );
}
