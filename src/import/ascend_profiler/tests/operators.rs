//! `operator_memory`.

use super::{count_of, error, recordings};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::TotalKind;

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
    assert_eq!(recordings.len(), 1);
    let recording = &recordings[0];
    assert_eq!(recording.name, "NPU:3");
    assert!(recording.by_stream);
    let times: Vec<u64> = recording.times.iter().map(|time| time.0).collect();
    let start = 1_700_000_000_000_123_450;
    assert_eq!(times, [start, start + 1, start + 281]);
    let [first, second] = recording.blocks.as_slice() else {
        panic!("two blocks")
    };
    assert_eq!(
        (first.bytes, first.birth, first.end, first.is_freed),
        (Bytes(1536), Step(0), Step(2), true)
    );
    assert_eq!(
        (second.bytes, second.birth, second.end, second.is_freed),
        (Bytes(2048), Step(1), Step(3), false)
    );
    assert_eq!((first.stream, second.stream), (77, 78));
    assert_eq!(recording.text(second.name), "aten::b, \"c\"");
    let allocated = recording.total(TotalKind::Allocated).expect("a curve");
    let mib = |halves: u64| Bytes(halves << 19);
    assert_eq!(
        allocated.samples,
        [(Step(0), mib(5)), (Step(1), mib(7)), (Step(2), mib(1))]
    );
    assert_eq!(
        recording.total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(mib(16))
    );
    assert_eq!(diagnostics.entries(), []);
}

#[test]
fn units_stand_in_the_header_and_msprof_states_durations() {
    let (recordings, _) = recordings(
        "Device_id,Name,Size(MB),Allocation Time(us),Duration(ms),Allocation Total Allocated(KB),\
         Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total Reserved(KB)\n\
         1,x,1,10.5,2,3,4,0,4\n0,y,0.25,7,,1,1,,\n1,z,1,11,0,3,4,0,4\n",
    );
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["NPU:1", "NPU:0"]);
    assert_eq!(recordings[0].blocks[0].bytes, Bytes(1 << 20));
    let times: Vec<u64> = recordings[0].times.iter().map(|time| time.0).collect();
    assert_eq!(times, [10_500, 11_000, 11_000, 2_010_500]);
    // A block that lives no time lives a step.
    let instant = recordings[0].blocks[1];
    assert_eq!((instant.birth, instant.end), (Step(1), Step(2)));
    assert_eq!(
        recordings[0].total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(4096))
    );
    assert!(!recordings[1].blocks[0].is_freed);
}

#[test]
fn releases_come_first_at_one_time() {
    let (recordings, _) = recordings(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Device Type\nb,4,20,30,NPU:0\na,3,10,20,NPU:0\nc,2,20,,NPU:0\n",
    );
    assert_eq!(recordings[0].peaks().live, (Bytes(6 << 10), Some(Step(3))));
    let order: Vec<&str> = recordings[0]
        .blocks
        .iter()
        .map(|block| recordings[0].text(block.name))
        .collect();
    assert_eq!(order, ["a", "b", "c"]);
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
    assert_eq!(recordings[0].blocks.len(), 3);
    assert_eq!(recordings[0].blocks.iter().filter(|block| block.is_freed).count(), 2);
    assert_eq!(count_of(&diagnostics, "older than the recording"), 1);
    assert_eq!(count_of(&diagnostics, "never freed"), 1);
    assert_eq!(count_of(&diagnostics, "waited for a stream"), 1);
    assert_eq!(count_of(&diagnostics, "graph engine"), 1);
    assert_eq!(count_of(&diagnostics, "a number cannot be read"), 1);
    assert_eq!(count_of(&diagnostics, "before the allocation"), 1);
    assert_eq!(count_of(&diagnostics, "time of the allocation is missing"), 1);
    assert_eq!(count_of(&diagnostics, "another number of fields"), 2);
    // The graph engine's totals are those of another pool.
    assert_eq!(
        recordings[0].total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(2 << 20))
    );
    let places: Vec<&str> = diagnostics.entries().iter().map(|entry| entry.place.as_str()).collect();
    assert!(places.contains(&"line 6: \"what\""), "{places:?}");
}

#[test]
fn cut_times_are_not_believed() {
    let (recordings, diagnostics) = recordings(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Stream Ptr,Device Type\n\
         a,1,1.69512E+15,1.69512E+15,9.4509E+13,NPU:0\nb,2,1.69512E+15,,9.4509E+13,NPU:0\n",
    );
    let recording = &recordings[0];
    assert!(recording.times.is_empty());
    assert_eq!(recording.n_steps, 2);
    assert_eq!(recording.blocks[0].end, Step(2));
    assert_eq!(recording.blocks[0].stream, 94_509_000_000_000);
    assert_eq!(count_of(&diagnostics, "digits of a time are cut off"), 2);
    assert_eq!(diagnostics.entries()[0].place, "1.69512E+15");
}

#[test]
fn a_single_cut_time_takes_its_row_alone() {
    let (recordings, diagnostics) = recordings(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Stream Ptr,Device Type\n\
         a,1,10,20,7,NPU:0\nb,2,1.7E+15,1.7E+15,7,NPU:0\nc,4,30,40,7,NPU:0\n",
    );
    let recording = &recordings[0];
    assert_eq!((recording.blocks.len(), recording.times.len()), (2, 4));
    assert_eq!(recording.peaks().live.0, Bytes(4096));
    assert_eq!(count_of(&diagnostics, "the row is left out"), 1);
}

#[test]
fn one_of_two_rows_with_a_cut_time_leaves_the_other() {
    let (recordings, diagnostics) =
        recordings("Name,Size(KB),Allocation Time(us),Release Time(us)\na,1,10,20\nb,2,1.7E+15,1.7E+15\n");
    assert_eq!((recordings[0].blocks.len(), recordings[0].times.len()), (1, 2));
    assert_eq!(count_of(&diagnostics, "the row is left out"), 1);
}

#[test]
fn only_a_curve_that_is_there_is_spoken_of() {
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us)";
    let (_, without) = recordings(&format!("{header}\na,1,10,20,25\n"));
    assert_eq!(count_of(&without, "which no curve of this file shows"), 1);
    let (_, with) = recordings(&format!("{header},Allocation Total Active(MB)\na,1,10,20,25,3\n"));
    assert_eq!(count_of(&with, "which the curve of active bytes shows"), 1);
}

#[test]
fn a_table_without_rows_says_so() {
    let (recordings, diagnostics) = recordings("Name,Size(KB),Allocation Time(us)\n");
    assert!(recordings.is_empty());
    assert_eq!(count_of(&diagnostics, "the table has no rows"), 1);
}

#[test]
fn nothing_readable_is_an_error() {
    assert!(error("Name,Size(KB),Allocation Time(us)\n,-5,1\n").contains("no row of the table says"));
    let all_bad = error("Name,Size(KB),Allocation Time(us)\na,x,1\nb,y,2\n");
    assert!(
        all_bad.contains("no row of the table can be read") && all_bad.contains("line 2"),
        "{all_bad}"
    );
    let unit = error("Name,Size(pages),Allocation Time(us)\na,1,1\n");
    assert!(unit.contains("Size(pages)"), "{unit}");
    let no_unit = error("Name,Size(KB),Allocation Time\na,1,1\n");
    assert!(no_unit.contains("Allocation Time"), "{no_unit}");
}

#[test]
fn huge_values_do_not_overflow() {
    let (recordings, diagnostics) = recordings(
        "Name,Size(GB),Allocation Time(s),Duration(s)\na,4294967295,1,2\nb,4294967295,1,18446744073\n\
         c,99999999999999,1,1\nd,1,18446744074,1\n",
    );
    assert_eq!(recordings[0].blocks.len(), 1);
    assert_eq!(recordings[0].times.last(), Some(Nanos(3_000_000_000)));
    assert_eq!(count_of(&diagnostics, "too large to count"), 1);
    assert_eq!(count_of(&diagnostics, "negative or too large"), 2);
}
