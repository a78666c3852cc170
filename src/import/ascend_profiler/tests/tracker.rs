//! `memory_block.csv` of `MindSpore`'s memory tracker.

use std::sync::Arc;

use crate::test_help::{self, shows, tells};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{Recording, Source};

const HEADER: &str = "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_used_memory,actual_peak_memory,\
    file_name,line_num,type,producer_task,task_name,node_name,graph_name,user_tasks,last_user_task,python_stack,is_persistent,\
    is_small,\n";

fn recordings(text: &str) -> (Vec<Arc<Recording>>, Diagnostics) {
    let imported = test_help::read("memory_block.csv", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "mindspore_tracker");
    match imported.source {
        Source::Recordings(recordings) => (recordings, imported.diagnostics),
        other => panic!("not a recording: {other:?}"),
    }
}

#[test]
fn blocks_are_those_of_their_pools_with_the_lines_that_ask() {
    let (pools, diagnostics) = recordings(&format!(
        "{HEADER}\
         1,9,0x124080000000,0,Ascend,1048576,1048576,1048576,a.cc,10,Weight,0,InitWeights,w,g,{{2-}},2,,1,0,\n\
         3,6,0x124080100000,2,Ascend,2097152,3145728,3145728,b.cc,11,Kernel,2,0_MatMul,Default/MatMul-op0,k0,{{5-}},5,\
         File:/m/train.py;Line:40;Function:main|File:/m/net.py;Line:7;Function:construct|,0,0,\n\
         4,9223372036854775807,0x124080300000,0,Ascend,512,3146240,3146240,,,Kernel,3,1_ReLU,,k0,{{7-}},7,,0,1,\n\
         5,7,0x7f00,0,AscendHost,64,,,c.cc,3,Other,,,,,,,,0,1,\n"
    ));
    let expected = "
        Ascend, 5 steps:
        block w 0..4 1048576 @0x124080000000 stream 0, freed at 4, by w:10
        block Default/MatMul-op0 1..3 2097152 @0x124080100000 stream 2, freed at 3, by :11 construct:7 main:40
        block 1_ReLU 2..5 512 @0x124080300000 stream 0
        allocated 0:1048576 1:3145728 2:3146240
        AscendHost, 2 steps:
        block  0..1 64 @0x7f00 stream 0, freed at 1, by :3";
    shows(&pools, expected);
    assert_eq!(diagnostics.entries(), []);
    let sites: Vec<&str> = pools[0].blocks.iter().map(|block| pools[0].block_name(block)).collect();
    assert_eq!(sites, ["w", "construct (net.py:7)", "1_ReLU"]);
    assert_eq!(pools[0].peaks().live.0.get(), 1_048_576 + 2_097_152 + 512);
}

#[test]
fn rows_of_other_versions_and_of_hyper_dry_run_are_read() {
    // Ends and starts at one stamp, a stack that ends in the line that asks, columns that are missing.
    let (pools, _) = recordings(
        "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,file_name,line_num,task_name,node_name,python_stack\n\
         0,2,0xf0,0,Fake,100,/m/a.py,5,forward,aten.mm,\"File:/m/a.py;Line:9;Function:<module>|File:/m/a.py;Line:5;Function:f\"\n\
         2,3,0xf1,0,Fake,200,/m/a.py,5,forward,aten.add,\n2,2,0xf2,0,Fake,50,,,backward,,\n",
    );
    let expected = "
        Fake, 6 steps:
        block aten.mm 0..1 100 @0xf0 stream 0, freed at 1, by f:5 <module>:9
        block aten.add 2..5 200 @0xf1 stream 0, freed at 5, by aten.add:5
        block backward 3..4 50 @0xf2 stream 0, freed at 4";
    shows(&pools, expected);
}

#[test]
fn a_table_without_rows_says_why_and_bad_rows_are_counted() {
    let (pools, diagnostics) = recordings(HEADER);
    assert!(pools.is_empty());
    tells(
        &diagnostics,
        &[("the table has no rows", 1), ("no rows of the CPU's pool", 1)],
    );
    let (pools, diagnostics) = recordings(&format!(
        "{HEADER}1,9,0x1,0,Ascend,8,8,8,,,,,,,,,,,,,\n9,1,0x1,0,Ascend,8,8,8,,,,,,,,,,,,,\nx,1,0x1,0,Ascend,8,8,8,,,,,,,,,,,,,\n\
         1,y,0x1,0,Ascend,8,8,8,,,,,,,,,,,,,\n1,2,0x1,0,Ascend,-8,8,8,,,,,,,,,,,,,\n\
         9223372036854775807,9223372036854775807,0x1,0,Ascend,8,8,8,,,,,,,,,,,,,\n"
    ));
    assert_eq!(pools[0].blocks.len(), 1);
    tells(
        &diagnostics,
        &[
            ("ends before it begins", 2),
            ("allocation cannot be read", 1),
            ("release cannot be read", 1),
            ("size cannot be read", 1),
        ],
    );
}
