//! `operator_memory`.

use super::{error, recordings};
use crate::test_help::{shows, tells};

const CLASS_A: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),\
    Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),\
    Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type";

#[test]
fn blocks_times_and_curves_of_torch_npu() {
    let text = format!(
        "\u{feff}{CLASS_A}\r\n\
         aten::a,1.5,1700000000000123.450\t,1700000000000123.731\t,1700000000000123.730\t,1,1,2.5,4,2.5,0.5,4,0.5,77,NPU:3\r\n\
         \"aten::b, \"\"c\"\"\",2,1700000000000123.451\t,,,,,3.5,8,3.5,,,,78,NPU:3\r\n"
    );
    let (recordings, diagnostics) = recordings(&text);
    assert!(recordings[0].by_stream);
    let expected = r#"
        NPU:3, 3 steps: 1700000000000123450 +1 +281
        block aten::a 0..2 1536 stream 77, freed at 2
        block aten::b, "c" 1..3 2048 stream 78
        allocated 0:2621440 1:3670016 2:524288
        reserved 0:4194304 1:8388608 2:4194304
        active 0:2621440 1:3670016 2:524288"#;
    shows(&recordings, expected);
    assert_eq!(diagnostics.entries(), []);
}

#[test]
fn units_stand_in_the_header_and_msprof_states_durations() {
    let (recordings, _) = recordings(
        "Device_id,Name,Size(MB),Allocation Time(us),Duration(ms),Allocation Total Allocated(KB),\
         Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total Reserved(KB)\n\
         1,x,1,10.5,2,3,4,0,4\n0,y,0.25,7,,1,1,,\n1,z,1,11,0,3,4,0,4\n",
    );
    // A block that lives no time lives a step.
    let expected = "
        NPU:1, 4 steps: 10500 +500 +500 +2000000
        block x 0..3 1048576, freed at 3
        block z 1..2 1048576, freed at 2
        allocated 0:3072 1:3072 2:0 3:0
        reserved 0:4096 1:4096 2:4096 3:4096
        NPU:0, 1 steps: 7000
        block y 0..1 262144
        allocated 0:1024
        reserved 0:1024";
    shows(&recordings, expected);
}

#[test]
fn releases_come_first_at_one_time() {
    let (recordings, _) = recordings(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Device Type\nb,4,20,30,NPU:0\na,3,10,20,NPU:0\nc,2,20,,NPU:0\n",
    );
    let expected = "
        NPU:0, 5 steps: 10000 +10000 +10000 +10000 +20000
        block a 0..1 3072, freed at 1
        block b 2..4 4096, freed at 4
        block c 3..5 2048";
    shows(&recordings, expected);
}

#[test]
fn rows_that_say_little_are_counted() {
    let (recordings, diagnostics) = recordings(&format!(
        "{CLASS_A}\n\
         ,-5.5,,20,,,,,,,1,1,1,7,NPU:0\n\
         a,1,10,,15,,,2,2,2,,,,7,NPU:0\n\
         b,1,11,14,18,,,2,2,2,2,2,2,7,NPU:0\n\
         cann::c,1,12,13,,,,0.5,9,,0,9,,,NPU:0\n\
         d,what,12,13,,,,1,1,1,1,1,1,7,NPU:0\n\
         e,1,12,9,,,,1,1,1,1,1,1,7,NPU:0\n\
         f,1,,9,,,,1,1,1,1,1,1,7,NPU:0\n\
         g,1\n\
         h,1,12,13,,,,1,1,1,1,1,1,7,NPU:0,more\n\n"
    ));
    // The graph engine's totals are those of another pool.
    let expected = "
        NPU:0, 5 steps: 10000 +1000 +2000 +3000 +4000
        block a 0..5 1024 stream 7
        block b 1..4 1024 stream 7, freed at 4
        block cann::c 2..3 1024, freed at 3
        allocated 0:2097152 1:2097152 4:2097152
        reserved 0:2097152 1:2097152 4:2097152
        active 0:2097152 1:2097152 4:2097152";
    shows(&recordings, expected);
    let expected = [
        ("older than the recording", 1),
        ("never freed", 1),
        ("waited for a stream", 1),
        ("graph engine", 1),
        ("a number cannot be read", 1),
        ("before the allocation", 1),
        ("time of the allocation is missing", 1),
        ("another number of fields", 2),
    ];
    tells(&diagnostics, &expected);
    let places: Vec<&str> = diagnostics.entries().iter().map(|entry| entry.place.as_str()).collect();
    assert!(places.contains(&"line 6: \"what\""), "{places:?}");
}

#[test]
fn cut_times_are_not_believed_and_a_single_one_takes_its_row_alone() {
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Stream Ptr,Device Type\n";
    let (all, diagnostics) = recordings(&format!(
        "{header}a,1,1.69512E+15,1.69512E+15,9.4509E+13,NPU:0\nb,2,1.69512E+15,,9.4509E+13,NPU:0\n"
    ));
    let expected = "
        NPU:0, 2 steps:
        block a 0..2 1024 stream 94509000000000, freed at 2
        block b 1..2 2048 stream 94509000000000";
    shows(&all, expected);
    tells(&diagnostics, &[("digits of a time are cut off", 2)]);
    assert_eq!(diagnostics.entries()[0].place, "1.69512E+15");
    for rows in [
        "a,1,10,20,7,NPU:0\nb,2,1.7E+15,1.7E+15,7,NPU:0\nc,4,30,40,7,NPU:0\n",
        "a,1,10,20,7,NPU:0\nb,2,1.7E+15,1.7E+15,7,NPU:0\n",
    ] {
        let (one, diagnostics) = recordings(&format!("{header}{rows}"));
        let left = rows.lines().count() - 1;
        assert_eq!((one[0].blocks.len(), one[0].times.len()), (left, 2 * left));
        tells(&diagnostics, &[("the row is left out", 1)]);
    }
}

#[test]
fn only_a_curve_that_is_there_is_spoken_of() {
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us)";
    let (_, without) = recordings(&format!("{header}\na,1,10,20,25\n"));
    tells(&without, &[("which no curve of this file shows", 1)]);
    let (_, with) = recordings(&format!("{header},Allocation Total Active(MB)\na,1,10,20,25,3\n"));
    tells(&with, &[("which the curve of active bytes shows", 1)]);
}

#[test]
fn nothing_readable_is_an_error_and_no_row_is_told() {
    let (recordings, diagnostics) = recordings("Name,Size(KB),Allocation Time(us)\n");
    assert!(recordings.is_empty());
    tells(&diagnostics, &[("the table has no rows", 1)]);
    for (text, expected) in [
        ("Name,Size(KB),Allocation Time(us)\n,-5,1\n", "no row of the table says"),
        (
            "Name,Size(KB),Allocation Time(us)\na,x,1\nb,y,2\n",
            "no row of the table can be read",
        ),
        ("Name,Size(KB),Allocation Time(us)\na,x,1\nb,y,2\n", "line 2"),
        ("Name,Size(pages),Allocation Time(us)\na,1,1\n", "Size(pages)"),
        ("Name,Size(KB),Allocation Time\na,1,1\n", "Allocation Time"),
    ] {
        assert!(error(text).contains(expected), "{}", error(text));
    }
}

#[test]
fn huge_values_do_not_overflow() {
    let (recordings, diagnostics) = recordings(
        "Name,Size(GB),Allocation Time(s),Duration(s)\na,4294967295,1,2\nb,4294967295,1,18446744073\n\
         c,99999999999999,1,1\nd,1,18446744074,1\n",
    );
    let expected = "
        device, 2 steps: 1000000000 +2000000000
        block a 0..1 4611686017353646080, freed at 1";
    shows(&recordings, expected);
    tells(&diagnostics, &[("too large to count", 1), ("negative or too large", 2)]);
}

/// Rows of both pools at once, as `torch_npu` 2.14 writes them; `tail` has further rows of the caching pool.
fn two_pools(tail: &str) -> String {
    format!(
        "{CLASS_A}\n\
         aten::a,2048,10,20,25,,,2,20,2,4,20,6,9,NPU:0\n\
         aten::b,4096,11,30,31,,,6,20,6,0,20,4,9,NPU:0\n\
         aten::w,65536,12,19,,,,64,64,64,0,64,0,9,NPU:0\n{tail}"
    )
}

#[test]
fn the_workspace_pool_of_torch_npu_has_a_recording_apart() {
    let (both, diagnostics) = recordings(&two_pools(""));
    let expected = "
        NPU:0, 4 steps: 10000 +1000 +10000 +20000
        block aten::a 0..2 2097152 stream 9, freed at 2
        block aten::b 1..3 4194304 stream 9, freed at 3
        allocated 0:2097152 1:6291456 2:4194304 3:0
        reserved 0:20971520 1:20971520 2:20971520 3:20971520
        active 0:2097152 1:6291456 2:6291456 3:4194304
        NPU:0 workspace, 2 steps: 12000 +7000
        block aten::w 0..1 67108864 stream 9, freed at 1
        allocated 0:67108864 1:0
        reserved 0:67108864 1:67108864
        active 0:67108864 1:0";
    shows(&both, expected);
    tells(&diagnostics, &[("workspace pool", 1)]);
    assert!(both.iter().all(|pool| pool.device == "NPU:0"));
}

#[test]
fn rows_that_the_end_of_the_profile_cuts_off_belong_to_the_pool_whose_total_they_continue() {
    // Never freed; freed while a stream still used it; a workspace that is never freed; one whose total fits neither pool.
    let (both, _) = recordings(&two_pools(
        "aten::c,1024,32,,,,,1,20,5,,,,9,NPU:0\n\
         aten::d,2048,33,34,,,,3,20,7,1,20,7,9,NPU:0\n\
         aten::v,1024,35,,,,,1,64,1,,,,9,NPU:0\n\
         aten::e,1024,36,,,,,50,64,50,,,,9,NPU:0\n",
    ));
    let names = |pool: usize| -> Vec<&str> {
        let blocks = both[pool].blocks.iter();
        blocks.map(|block| both[pool].text(block.name)).collect()
    };
    assert_eq!(names(0), ["aten::a", "aten::b", "aten::c", "aten::d", "aten::e"]);
    assert_eq!(names(1), ["aten::w", "aten::v"]);
}

#[test]
fn a_tool_that_states_no_active_release_has_one_pool() {
    // MindSpore writes N/A for what it does not state.
    let (one, diagnostics) = recordings(&format!("{CLASS_A}\na,1024,10,20,N/A,,,1,4,1,0,4,0,7,NPU:0\n"));
    assert_eq!(one.len(), 1);
    tells(&diagnostics, &[("workspace pool", 0)]);
}

#[test]
fn blocks_that_are_never_freed_beside_workspaces_are_the_caching_pools() {
    let (both, _) = recordings(&format!(
        "{CLASS_A}\nweights,4096,5,,,,,4,20,4,,,,9,NPU:0\naten::w,65536,12,19,,,,64,64,64,0,64,0,9,NPU:0\n"
    ));
    let peaks: Vec<(&str, u64, u64)> = both
        .iter()
        .map(|pool| {
            (
                pool.name.as_str(),
                pool.peaks().live.0.0 >> 20,
                pool.peaks().reserved.0.0 >> 20,
            )
        })
        .collect();
    assert_eq!(peaks, [("NPU:0", 4, 20), ("NPU:0 workspace", 64, 64)]);
    let (alone, _) = recordings(&format!("{CLASS_A}\naten::w,65536,12,19,,,,64,64,64,0,64,0,9,NPU:0\n"));
    assert_eq!(
        alone.iter().map(|pool| pool.name.as_str()).collect::<Vec<_>>(),
        ["NPU:0 workspace"]
    );
}
