//! Dumps of msmemscope.

use super::{error, recordings};
use crate::test_help::{shows, tells};

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
    let expected = "
        PTA/0, 2 steps: 10 +20
        block  0..2 512 @0x10
        block  1..2 512 @0x10";
    shows(&recordings, expected);
    tells(&diagnostics, &[("the row is left out", 1)]);
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
    let expected = "
        PTA/0, 3 steps: 12 +1 +4
        block inner 0..2 512 @0x10, freed at 2, by f:3 main:9
        block PTA@x 1..3 256 @0x20, by so [1]:0
        Note at 0 0 bytes: SYSTEM START_TRACE
        OutOfMemory at 2 99 bytes: OOM_DETAIL OOM_TRIGGER
        allocated 0:512 1:768 2:256
        reserved 0:1024 1:1024 2:1024
        HAL/0, 1 steps: 15
        block outer 0..1 4096 @0x10
        Note at 0 0 bytes: SYSTEM START_TRACE
        OutOfMemory at 0 99 bytes: OOM_DETAIL OOM_TRIGGER";
    shows(&recordings, expected);
    tells(&diagnostics, &[("event ACCESS", 1)]);
}

#[test]
fn rows_out_of_order_are_listed_both_ways() {
    let (recordings, diagnostics) = recordings(&format!(
        "{HEADER}\n\
         1,MALLOC,PTA,N/A,10,1,1,0,0x10,\"{{size:5}}\",,\n4,FREE,PTA,N/A,40,1,1,0,0x10,\"{{size:5}}\",,\n\
         2,MALLOC,PTA,N/A,20,1,1,0,0x20,\"{{size:6}}\",,\n3,FREE,PTA,N/A,30,1,1,0,0x20,\"{{size:6}}\",,\n"
    ));
    // 6 bytes at once as the rows are, 11 by time.
    let expected = "
        PTA/0, 4 steps:
        block  0..1 5 @0x10, freed at 1
        block  2..3 6 @0x20, freed at 3
        PTA/0 by time, 4 steps: 10 +10 +20 +30
        block  0..3 5 @0x10, freed at 3
        block  1..2 6 @0x20, freed at 2";
    shows(&recordings, expected);
    tells(&diagnostics, &[("are not in the order", 1)]);
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
    let expected = "
        PTA/0, 3 steps: 1 +1 +2
        block  1..2 5 @0x10
        block  2..3 7 @0x10";
    shows(&recordings, expected);
    let expected = [
        ("no block that the table shows", 1),
        ("given out again", 1),
        ("no size", 1),
        ("neither an address", 1),
        ("event is missing", 1),
        ("a number cannot be read", 1),
    ];
    tells(&diagnostics, &expected);
}

#[test]
fn older_dumps_have_sizes_in_columns() {
    let (recordings, _) = recordings(
        "Record Index,Timestamp(ns),Event,Event Type,Process Id,Thread Id,Device Id,Kernel Index,Flag,Addr,Size(byte),\
         Total Allocated(byte),Total Reserved(byte)\n1,10,malloc,PTA,1,1,0,0,0,4096,512,512,1024\n\
         2,20,free,PTA,1,1,0,0,0,4096,512,0,1024\n",
    );
    let expected = "
        PTA/0, 2 steps: 10 +10
        block  0..1 512 @0x1000, freed at 1
        allocated 0:512 1:0
        reserved 0:1024 1:1024";
    shows(&recordings, expected);
    assert!(
        error(&format!("{HEADER}\n1,SYSTEM,START_TRACE,N/A,5,1,1,N/A,N/A,,,\n")).contains("no row of the table says")
    );
}
