//! Problem files: what is read from good ones, what is said about bad ones, the corpus, and files of noise.

use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{ProblemEntry, Source};
use highwater_plan::{AS_DUMPED, BEST, Gap, PlanRequest, find, peak_live, plan, verify};
use proptest::prelude::*;

use crate::support;

#[track_caller]
fn entry(name: &str, text: &str) -> (ProblemEntry, String) {
    let imported = support::read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(imported.format, "planner_problem");
    let Source::Problems(entries) = imported.source else {
        panic!("no problem")
    };
    let remarks: Vec<String> = imported
        .diagnostics
        .entries()
        .iter()
        .map(|entry| format!("{}: {} ({})", entry.severity, entry.message, entry.place))
        .collect();
    (ProblemEntry::clone(&entries[0]), remarks.join("\n"))
}

/// Buffers as `id lower..upper size/alignment@offset`, gaps and groups behind.
fn described(entry: &ProblemEntry) -> String {
    let mut words = Vec::new();
    for (idx, buffer) in entry.problem.buffers.iter().enumerate() {
        let mut word = format!(
            "{} {}..{} {}",
            entry.ids.get(idx),
            entry.time(buffer.lower),
            entry.time(buffer.upper),
            buffer.size.get()
        );
        if buffer.alignment != 1 {
            word += &format!("/{}", buffer.alignment);
        }
        if let Some(offset) = buffer.offset {
            word += &format!("@{offset}");
        }
        for gap in entry.problem.gaps_of(idx) {
            word += &format!(" -{}..{}", entry.time(gap.lower), entry.time(gap.upper));
        }
        words.push(word);
    }
    words.extend(entry.problem.groups.iter().map(|group| format!("{group:?}")));
    words.join("; ")
}

#[test]
fn good_files_are_read() {
    let cases = [
        ("id,lower,upper,size\na,0,4,10\nb,2,6,5\n", "a 0..4 10; b 2..6 5"),
        (
            "\u{feff} Size , UPPER,Lower,ID\r\n10,4,0,a\r\n\r\n5,6,2,b",
            "a 0..4 10; b 2..6 5",
        ),
        ("id,lower,end,size\na,0,3,10\nb,2,2,5\n", "a 0..4 10; b 2..3 5"),
        (
            "id,lower,upper,size,alignment,offset\na,0,4,10,8,16\nb,2,6,5,,\n",
            "a 0..4 10/8@16; b 2..6 5",
        ),
        (
            "id,lower,upper,size,gaps\na,0,40,10,30-31 12-20\n",
            "a 0..40 10 -12..20 -30..31",
        ),
        ("id,lower,end,size,gaps\na,0,40,10,12-20\n", "a 0..41 10 -12..21"),
        (
            "id,lower,upper,size,same_address_as\na,0,4,10,\nb,4,6,5,a\nc,0,1,1,\nd,6,7,1,b\n",
            "a 0..4 10; b 4..6 5; c 0..1 1; d 6..7 1; [0, 1, 3]",
        ),
        (
            "id,lower,upper,size\n\"a, \"\"x\"\"\",0,4,10\n\"line\nbreak\",0,1,0\n,,,\n",
            "a, \"x\" 0..4 10; line\nbreak 0..1 0",
        ),
        ("buffer,start,end,size\na,0,3,10\n", "a 0..4 10"),
        ("id,lower,upper,size,kind\na,0,3,10,weight\n", "a 0..3 10"),
        ("id,lower,upper,size\na,4000000,4000001,1\n", "a 4000000..4000001 1"),
        (
            "id,lower,upper,size,gaps\na,7,18446744073709551615,2305843009213690000,9-10\nb,8,5000000000,0,\n",
            "a 7..18446744073709551615 2305843009213690000 -9..10; b 8..5000000000 0",
        ),
        (
            r#"{"buffers": [{"id": "a", "lower": 0, "upper": 4, "size": 10, "gaps": [[2, 3]]}, {"id": 7, "lower": 1, "end": 4,
                "size": 3, "alignment": 4, "offset": 8, "same_address_as": null, "more": {"x": [1]}}], "capacity": 64}"#,
            "a 0..4 10 -2..3; 7 1..5 3/4@8",
        ),
        (
            "\u{feff}{\"buffers\":[{\"id\":1,\"lower\":0,\"upper\":4,\"size\":1},{\"id\":2,\"lower\":0,\"upper\":4,\"size\":1,\"same_address_as\":1}]}",
            "1 0..4 1; 2 0..4 1; [0, 1]",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(described(&entry("x.csv", text).0), expected, "{text}");
    }
}

#[test]
fn bad_files_are_refused_with_a_place() {
    let head = "id,lower,upper,size,alignment,offset,gaps,same_address_as\n";
    let cases: &[(&str, &[&str])] = &[
        ("a,x,4,1,,,,", &["\"x\" is no whole number", "line 2 column \"lower\""]),
        ("a,1.5,4,1,,,,", &["\"1.5\"", "column \"lower\""]),
        ("a,0,-4,1,,,,", &["-4 is negative", "line 2 column \"upper\""]),
        ("a,0,4,,,,,", &["missing", "column \"size\""]),
        ("a,0,4,+1,,,,", &["\"+1\"", "column \"size\""]),
        (
            "a,0,4,18446744073709551616,,,,",
            &["more than 2^64 - 1", "column \"size\""],
        ),
        ("a,0,4,9223372036854775808,,,,", &["2^62", "line 2"]),
        ("a,4,4,1,,,,", &["lives on no step", "4", "line 2 column \"upper\""]),
        ("a,0,4,1,0,,,", &["alignment of 0", "column \"alignment\""]),
        (
            "a,0,4,1,8,4,,\nb,0,4,1,,,,",
            &["\"a\" is fixed at 4", "multiple", "line 2"],
        ),
        ("a,0,4,1,,,5-6,", &["gap 5-6", "\"a\"", "column \"gaps\""]),
        ("a,0,4,1,,,0-4,", &["the gaps of buffer \"a\" leave no time"]),
        ("a,0,4,1,,,0-3 3-4,", &["the gaps of buffer \"a\" leave no time"]),
        ("a,0,4,1,,,1,", &["12-20", "column \"gaps\""]),
        ("a,0,4,1,,,1-x,", &["\"x\"", "column \"gaps\""]),
        ("a,0,4,1,,,1-2@3:4,", &["@", "not supported", "column \"gaps\""]),
        ("a,0,9,1,,,1-4 3-5,", &["gap 3-5", "overlaps", "line 2"]),
        ("a,0,4,1,,,,b", &["\"b\"", "no other buffer", "line 2"]),
        ("a,0,4,1,,,,a", &["no other buffer", "line 2"]),
        (
            "a,0,4,1,,,,\n\na,0,4,1,,,,",
            &["\"a\" occurs twice, first in line 2", "line 4"],
        ),
        (
            "a,0,4,8,,0,,\nb,2,4,8,,4,,\nc,0,1,1,,,,",
            &["\"a\" and \"b\"", "byte 4 at time 2", "line 3"],
        ),
        (
            "a,0,4,8,,0,,\nb,5,6,8,,4,,a\nc,0,1,1,,,,",
            &["share an address", "0 and 4", "line 3"],
        ),
        (",0,4,1,,,,", &["id is empty", "line 2 column \"id\""]),
        ("a,0,4,1", &["4 fields", "8", "line 2"]),
        ("a,0,4,1,,,,,,5", &["10 fields", "line 2"]),
        ("\"a,0,4,1,,,,", &["no closing quote", "line 2"]),
        ("\"a\"b,0,4,1,,,,", &["behind its closing quote", "line 2"]),
        ("", &["no buffer", "line 1"]),
    ];
    for (rows, parts) in cases {
        refused("x.csv", &format!("{head}{rows}\n"), parts);
    }
    refused("x.csv", "lower,upper,size\n0,1,1\n", &["no column \"id\"", "line 1"]);
    refused(
        "x.csv",
        "id,lower,upper,end,size\na,0,1,1,1\n",
        &["\"upper\"", "\"end\"", "line 1"],
    );
    refused(
        "x.csv",
        "\nid,lower,upper,size,Size\na,0,1,1,1\n",
        &["\"Size\" occurs twice", "line 2"],
    );
    refused(
        "x.csv",
        "id,lower,end,size\na,0,18446744073709551615,1\n",
        &["18446744073709551615", "line 2"],
    );
}

#[test]
fn bad_json_is_refused_with_a_place() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"id": 1, "lower": 0, "size": 1}"#, &["upper", "line 1"]),
        (
            r#"{"id": 1, "lower": 0, "upper": 1, "end": 1, "size": 1}"#,
            &["upper", "end"],
        ),
        (
            r#"{"id": 1, "lower": -1, "upper": 1, "size": 1}"#,
            &["-1", "line 1 column"],
        ),
        (r#"{"lower": 0, "upper": 1, "size": 1}"#, &["id", "line 1"]),
        (
            r#"{"id": 1, "lower": 1, "upper": 1, "size": 1}"#,
            &["\"1\" lives on no step"],
        ),
        (
            r#"{"id": 1, "lower": 0, "upper": 1, "size": 1, "gaps": [[0, 2]]}"#,
            &["gap 0-2"],
        ),
        (
            r#"{"id": 1, "lower": 0, "upper": 1, "size": 1, "same_address_as": 2}"#,
            &["\"2\"", "buffers[0]"],
        ),
        (
            r#"{"id": 1, "lower": 0, "upper": 1, "size": 1}, {"id": "1", "lower": 0, "upper": 1, "size": 1}"#,
            &["\"1\" occurs twice", "buffers[0]", "buffers[1]"],
        ),
        (r#"{"id": 1, "lower": 0, "upper": 1, "size": 1"#, &["line 1"]),
    ];
    for (rows, parts) in cases {
        refused("x.json", &format!("{{\"buffers\": [{rows}]}}"), parts);
    }
}

#[track_caller]
fn refused(name: &str, text: &str, parts: &[&str]) {
    let error = support::read(name, text.as_bytes())
        .map(|_| ())
        .unwrap_err()
        .to_string();
    for part in parts {
        assert!(error.contains(part), "{error}\nlacks {part}, for\n{text}");
    }
}

#[test]
fn offsets_fix_and_record_or_record_alone() {
    let (all, remarks) = entry("x.csv", "id,lower,upper,size,offset\na,0,4,8,0\nb,2,6,8,8\n");
    assert_eq!(described(&all), "a 0..4 8@0; b 2..6 8@8");
    assert_eq!(all.recorded.as_ref().unwrap().offsets, [0, 8]);
    assert_eq!(remarks, "");
    let (some, _) = entry("x.csv", "id,lower,upper,size,offset\na,0,4,8,0\nb,2,6,8,\n");
    assert!(some.recorded.is_none());
    let (broken, remarks) = entry("x.csv", "id,lower,upper,size,offset\na,0,4,8,0\nb,2,6,8,4\n");
    assert_eq!(described(&broken), "a 0..4 8; b 2..6 8");
    assert_eq!(broken.recorded.as_ref().unwrap().offsets, [0, 4]);
    for part in ["\"a\" and \"b\"", "byte 4 at time 2", "as_dumped", "line 3"] {
        assert!(remarks.contains(part), "{remarks}");
    }
    let (name, _) = entry("x.1048576.csv", "id,lower,upper,size\na,0,4,8\n");
    assert_eq!((name.capacity, name.name.as_str()), (None, "x.1048576.csv"));
    let json = r#"{"name": "n", "capacity": 9, "buffers": [{"id": 1, "lower": 0, "upper": 1, "size": 1}]}"#;
    let (json, _) = entry("x.json", json);
    assert_eq!((json.capacity, json.name.as_str()), (Some(Bytes(9)), "n"));
}

#[test]
fn large_times_become_ranks() {
    let (entry, remarks) = entry(
        "x.csv",
        "id,lower,upper,size,gaps\na,10,5000000000,8,20-4000000001\nb,20,30,8,\n",
    );
    assert_eq!(entry.times, [10, 20, 30, 4_000_000_001, 5_000_000_000]);
    assert_eq!(entry.problem.buffers[0].upper, Step(4));
    let gap = Gap {
        buffer: 0,
        lower: Step(1),
        upper: Step(3),
    };
    assert_eq!(entry.problem.gaps, [gap]);
    assert!(
        remarks.contains("5000000000") && remarks.contains("0 to 4"),
        "{remarks}"
    );
}

#[test]
fn a_plan_of_the_engine_is_recorded_and_fixes_nothing() {
    let text = r#"{"note": "x", "tensors": [
        {"tensor": "data:0", "born": 0, "last": 1, "offset": 1024, "bytes": 100, "op": "Data"},
        {"tensor": "conv:0", "born": 1, "last": 3, "offset": 0, "bytes": 600, "op": "Conv2D"}]}"#;
    let (entry, remarks) = entry("x.json", text);
    assert_eq!(described(&entry), "data:0 0..2 100/512; conv:0 1..4 600/512");
    assert_eq!(entry.recorded.unwrap().offsets, [1024, 0]);
    for part in ["512", "as_dumped", "\"data:0\"", "at 1024", "ends at 600"] {
        assert!(remarks.contains(part), "{remarks}");
    }
}

proptest! {
    /// Noise in a file is an error or a problem, never a panic; what is read can be planned or is refused.
    #[test]
    fn noise_never_panics(
        is_json in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
    ) {
        let csv = "id,lower,upper,size,alignment,offset,gaps,same_address_as\n\"a\",0,12,40,8,0,4-6 8-9,\r\nb,12,20,41,,0,,a\nc,3,9,7,2,40,,\n";
        let json = r#"{"buffers":[{"id":"a","lower":0,"upper":12,"size":40,"alignment":8,"offset":0,"gaps":[[4,6]]},{"id":2,"lower":12,"end":20,"size":9,"same_address_as":"a"}],"capacity":99}"#;
        let mut bytes = if is_json { json } else { csv }.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"0123456789,-\"\n{}[]"[usize::from(byte) % 18]),
                _ => bytes[at] = b'0' + byte % 10,
            }
        }
        if let Ok(imported) = support::read("x.csv", &bytes)
            && let Source::Problems(entries) = imported.source
        {
            let entry = &entries[0];
            let cancel = Cancel::new();
            let request = PlanRequest { recorded: entry.recorded.as_ref(), ..PlanRequest::new(&entry.problem) };
            let planned = super::plan(find("greedy_by_size").unwrap(), &request, &Progress::silent(&cancel)).unwrap();
            prop_assert!(planned.plan.footprint >= peak_live(&entry.problem).0);
        }
    }
}

#[test]
fn the_corpus_is_read_and_bounded_as_recorded() {
    let Some(folder) = support::shared("corpus/fetched/alloc_benchmarks") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let files = support::files(&folder, ".csv");
    assert!(!files.is_empty());
    for path in files {
        let name = support::name(&path);
        let (entry, _) = entry(&name, &std::fs::read_to_string(&path).unwrap());
        let row = &expected[&name];
        let sum: Bytes = entry.problem.buffers.iter().map(|buffer| buffer.size).sum();
        assert_eq!(row["n"], entry.problem.buffers.len(), "{name}");
        assert_eq!(row["sum_size"], sum.get(), "{name}");
        assert_eq!(row["max_load_half_open"], entry.problem.lower_bound().get(), "{name}");
        assert_eq!(row["max_load_half_open"], peak_live(&entry.problem).0.get(), "{name}");
    }
}

#[test]
fn the_engine_s_plan_is_compared_with_ours() {
    let Some(folder) = support::shared("corpus/fetched/ge_dumps") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("resnet50_ge_plan.json")).unwrap();
    let (entry, remarks) = entry("resnet50_ge_plan.json", &text);
    assert!(remarks.contains("ends at 4221344"), "{remarks}");
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let request = PlanRequest {
        recorded: entry.recorded.as_ref(),
        ..PlanRequest::new(&entry.problem)
    };
    let dumped = plan(find(AS_DUMPED).unwrap(), &request, &progress).unwrap();
    assert_eq!(verify(&entry.problem, &dumped.plan), Ok(()));
    assert_eq!(dumped.plan.footprint, Bytes(4_522_496));
    let features = entry.problem.buffers.iter().zip(&dumped.plan.offsets).skip(1);
    let end = features.map(|(buffer, offset)| offset + buffer.size.get()).max();
    assert_eq!(end, Some(4_221_344), "without the graph input");
    assert_eq!(dumped.lower_bound, Bytes(3_612_672));
    let best = plan(find(BEST).unwrap(), &request, &progress).unwrap();
    assert_eq!(best.plan.footprint, dumped.lower_bound, "ours reaches the bound");
}

/// Bytes and steps of every piece of fixed shapes, one by one.
fn collides(problem: &highwater_plan::PlacementProblem) -> bool {
    let shapes = highwater_model::workload::Shapes::new(problem);
    let mut held = std::collections::BTreeSet::new();
    (0_u32..).zip(&shapes.items).any(|(idx, item)| {
        let mut cells = shapes.pieces_of(idx).iter().flat_map(|piece| {
            (piece.lower..piece.upper).flat_map(|step| (0..piece.size).map(move |byte| (step, byte)))
        });
        // Every cell is tried, so that those of a shape are all held by it.
        item.fixed
            .is_some_and(|at| cells.any(|(step, byte)| !held.insert((step, at + byte))))
    })
}

proptest! {
    #[test]
    fn fixed_shapes_collide_where_they_hold_one_byte(
        rows in prop::collection::vec((0_u32..20, 2_u32..8, 1_u64..5, 0_u64..24, 0_u32..4), 1..12),
    ) {
        let mut problem = highwater_plan::PlacementProblem::default();
        for (position, (lower, life, size, offset, kind)) in (0_u32..).zip(rows) {
            problem.buffers.push(highwater_plan::Buffer {
                lower: Step(lower),
                upper: Step(lower + life),
                size: Bytes(size),
                alignment: 1,
                offset: (kind != 3).then_some(offset),
            });
            if kind == 0 {
                problem.gaps.push(Gap { buffer: position, lower: Step(lower + 1), upper: Step(lower + 2) });
            }
        }
        prop_assert_eq!(problem.validate().is_err(), collides(&problem));
    }
}
