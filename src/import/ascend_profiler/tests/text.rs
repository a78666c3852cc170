//! Behaviour of all CSV tables: slices, limits, cancelling.

use std::io::Cursor;

use super::{read, recordings};
use crate::test_help::tells;
use crate::{ImportError, Input, ReadSeek, import, join_slices};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::Source;

#[test]
fn slices_are_one_table() {
    let part = |rows: &str| -> Box<dyn ReadSeek> {
        Box::new(Cursor::new(
            format!("\u{feff}Component,Timestamp(us),Total Allocated(KB)\r\n{rows}").into_bytes(),
        ))
    };
    let parts = vec![part("GE,1,5"), part("GE,2,6\r\nGE,3,1\r\n"), part("")];
    let mut input = join_slices("memory_record.csv", parts).expect("memory can be read");
    let imported = import(&mut input, &Progress::silent(&Cancel::new())).expect("the table is whole");
    let Source::Recordings(recordings) = imported.source else {
        panic!("recordings")
    };
    assert_eq!(recordings[0].n_steps, 3);
    tells(&imported.diagnostics, &[("the header occurs again", 0)]);
}

#[test]
fn a_missing_quotation_mark_does_not_fill_memory() {
    let mut text = "Component,Timestamp(us),Total Allocated(KB)\nGE,1,5\n\"GE,2,5\n".to_owned();
    text.push_str(&"GE,3,6\n".repeat(4 << 20));
    let error = read(text.as_bytes()).expect_err("the row has no end").to_string();
    assert!(error.contains("16 MiB") && error.contains("line 3"), "{error}");
}

#[test]
fn cancelling_stops_at_once() {
    let mut text = "Component,Timestamp(us),Total Allocated(KB)\n".to_owned();
    text.push_str(&"GE,3,6\n".repeat(100_000));
    let cancel = Cancel::new();
    let stop = |_: &'static str, fraction: f32| {
        if fraction > 0.5 {
            cancel.cancel();
        }
    };
    let mut input = Input::from_bytes("t.csv", text.as_bytes()).expect("memory can be read");
    let result = super::super::import(&mut input, &Progress::new(&cancel, &stop), &mut Diagnostics::new());
    assert!(matches!(result, Err(ImportError::Cancelled(_))));
}

#[test]
fn a_row_is_told_by_the_line_that_editors_show() {
    let header = "Component,Timestamp(us),Total Allocated(KB)";
    for (rows, line) in [
        ("GE,1,5\nGE,x,5\n", 3),
        ("GE,1,5\r\nGE,x,5\r\n", 3),
        ("GE,1,5\r\nGE,x,5", 3),
        ("GE,1,5\r\n\r\n\nGE,x,5", 5),
        ("\"a\r\nb\",1,5\r\nGE,x,5\r\nGE,2,6\r\n", 4),
        ("\"GE\r\n\",x,5\r\nGE,2,6\r\n", 2),
    ] {
        for end in ["\n", "\r\n"] {
            let (_, diagnostics) = recordings(&format!("{header}{end}{rows}"));
            let count_of: Vec<&str> = diagnostics.entries().iter().map(|entry| &*entry.place).collect();
            let expected = format!("line {line}: ");
            assert!(
                count_of.iter().any(|place| place.starts_with(&expected)),
                "{rows:?}: {count_of:?}"
            );
        }
    }
}
