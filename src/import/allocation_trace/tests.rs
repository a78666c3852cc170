//! Unit tests of reading traces.

use super::*;
use highwater_model::progress::Cancel;
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationTrace, TraceCommand, TraceName};

fn read(text: &[u8]) -> Result<AllocationTrace, ImportError> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("small.trace", text)?;
    let source = import(&mut input, &Progress::silent(&cancel), &mut Diagnostics::new())?;
    match source {
        Source::Traces(mut traces) => Ok(Arc::unwrap_or_clone(traces.remove(0))),
        other => panic!("{other:?}"),
    }
}

fn is_trace(text: &[u8]) -> bool {
    detect(&Input::from_bytes("", text).expect("memory can be read"))
}

#[test]
fn every_command_is_read() {
    let text = "# all of them\ndevice 32G\nthreshold_gb 3\nno_reserve\nuse 1\na x 1.5K # why\nf x\nsync\nrecycle\n\
                recycle_l1\ndestroy 1\nend_iteration x\nload G 10 20:nz 5:g\nexec G\nbegin G\nfinish G\nunload G\n\
                w x 7\nwf x\nfixed G 3M\nunfixed G\n";
    let trace = read(text.as_bytes()).expect("a trace");
    assert_eq!(trace.device_bytes, Some(Bytes::gib(32)));
    assert_eq!(trace.threshold_gib, Some(3));
    assert!(!trace.can_reserve);
    assert_eq!(trace.commands.len(), 17);
    assert_eq!(trace.lines[0], 5);
    assert_eq!(
        trace.commands[1],
        TraceCommand::Allocate {
            id: TraceName(0),
            bytes: Bytes(1536)
        }
    );
    assert_eq!(
        (trace.names.get(0), trace.names.get(1), trace.names.len()),
        ("x", "G", 2)
    );
    let flags: Vec<(u64, bool, bool, bool)> = trace
        .segments
        .iter()
        .map(|one| (one.bytes.get(), one.by_caller, one.is_zero_copy, one.has_gap))
        .collect();
    assert_eq!(
        flags,
        [
            (10, false, false, false),
            (20, true, true, false),
            (5, false, false, true)
        ]
    );
}

#[test]
fn a_fraction_of_a_byte_is_cut_off() {
    let trace = read(b"a x 0.3K\na y 1.9\n").expect("a trace");
    let sizes: Vec<Bytes> = trace
        .commands
        .iter()
        .map(|command| match command {
            TraceCommand::Allocate { bytes, .. } => *bytes,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sizes, [Bytes(307), Bytes(1)]);
}

#[test]
fn every_error_names_its_line_and_what_to_do() {
    for (text, expected) in [
        ("a x 1\nb x\n", "\"b\" is no command at line 2; docs/text-formats.md"),
        ("a x\n", "\"a\" takes 2 words behind it, and there are 1 at line 1;"),
        ("load\n", "\"load\" takes at least 1 words behind it"),
        ("\n\na x 1T\n", "\"1T\" is no size at line 3; write bytes"),
        ("a x -1\n", "\"-1\" is no size"),
        ("a x 1.2.3\n", "\"1.2.3\" is no size"),
        ("a x 99999999999999999999\n", "is no size"),
        ("a x 99999999999G\n", "is no size"),
        ("use one\n", "\"one\" is no whole number"),
        ("use 4294967296\n", "pool 4294967296 is beyond"),
        (
            "load G 5:q\n",
            "\"q\" is no flag of a segment at line 1; the flags are n",
        ),
        ("a x 1\ndevice 4G\n", "\"device\" comes after a command at line 2;"),
        ("device 0\n", "a device of 0 bytes cannot be simulated"),
        ("device 5000G\n", "cannot be simulated at line 1; state between"),
    ] {
        let error = read(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let error = read(b"a x 1\nf \xff\n").expect_err("no text").to_string();
    assert!(error.contains("not UTF-8 at line 2"), "{error}");
}

#[test]
fn hostile_files_are_refused_with_a_sentence() {
    let long = [b"load G ".as_slice(), "1 ".repeat(3 << 20).as_bytes()].concat();
    let error = read(&long).expect_err("too long").to_string();
    assert!(error.contains("longer than") && error.contains("line 1"), "{error}");
    let pools = (0..300)
        .map(|pool| format!("use {pool}\n"))
        .collect::<Vec<String>>()
        .concat();
    let error = read(pools.as_bytes()).expect_err("too many").to_string();
    assert!(
        error.contains("more than 256 pools") && error.contains("line 257"),
        "{error}"
    );
}

#[test]
fn a_long_head_is_judged_by_whole_lines() {
    let lines: Vec<String> = (0..20_000).map(|block| format!("a block{block} 512\n")).collect();
    let text = lines.concat();
    assert!(is_trace(text.as_bytes()));
    assert_eq!(read(text.as_bytes()).expect("a trace").commands.len(), 20_000);
}
