//! Unit tests of reading logs.

use super::*;
use highwater_model::progress::Cancel;
use highwater_model::units::Bytes;
use highwater_model::workload::TapeCall;

fn read_with(text: &str) -> Result<(Tape, Diagnostics), ImportError> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("small.log", text.as_bytes())?;
    let mut diagnostics = Diagnostics::new();
    match import(&mut input, &Progress::silent(&cancel), &mut diagnostics)? {
        Source::Tapes(mut tapes) => Ok((Arc::unwrap_or_clone(tapes.remove(0)), diagnostics)),
        other => panic!("{other:?}"),
    }
}

fn read(text: &str) -> Tape {
    read_with(text).expect("a tape").0
}

fn wrong(text: &str) -> String {
    read_with(text).expect_err("an error").to_string()
}

/// Lines in short: `C x 64`, `F op 35 a,b -> r:64 v:@0`, `M op 7 a,b 0`, `= d s`, `< d s`, `- x`, or JSON.
fn log(lines: &[&str]) -> String {
    let list = |names: &str| -> String {
        let names = names.split(',').filter(|name| !name.is_empty());
        names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",")
    };
    let mut text = String::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let json = match words[..] {
            ["C", name, bytes] => format!(
                "{{\"INSTRUCTION\":\"CONSTANT\",\"NAME\":\"{name}\"}}\n{{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"{name}\",\
                 \"MEMORY\":\"{bytes}\"}}"
            ),
            ["F", op, time, args, ref results @ ..] => {
                let names: Vec<&str> = results.iter().filter_map(|result| result.split(':').next()).collect();
                let mut json = format!(
                    "{{\"INSTRUCTION\":\"CALL\",\"NAME\":\"{op}\",\"TIME\":\"{time}\",\"ARGS\":[{}],\"RESULT\":[{}]}}",
                    list(args),
                    list(&names.join(","))
                );
                for result in results {
                    let (name, bytes) = result.split_once(':').expect("a result has a colon");
                    let alias = bytes.strip_prefix('@').unwrap_or("-1");
                    let bytes = bytes.strip_prefix('@').map_or(bytes, |_| "4096");
                    json += &format!(
                        "\n{{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"{name}\",\"MEMORY\":{bytes}}}\n{{\"INSTRUCTION\":\
                         \"ALIAS\",\"NAME\":\"{name}\",\"ALIAS\":\"{alias}\"}}"
                    );
                }
                json
            }
            ["M", op, time, args, mutated] => format!(
                "{{\"INSTRUCTION\":\"MUTATE\",\"NAME\":\"{op}\",\"TIME\":{time},\"ARGS\":[{}],\"MUTATE\":[{mutated}]}}",
                list(args)
            ),
            ["=", dst, src] => format!("{{\"INSTRUCTION\":\"COPY\",\"DST\":\"{dst}\",\"SRC\":\"{src}\"}}"),
            ["<", dst, src] => format!("{{\"INSTRUCTION\":\"COPY_FROM\",\"DST\":\"{dst}\",\"SRC\":\"{src}\"}}"),
            ["-", name] => format!("{{\"INSTRUCTION\":\"RELEASE\",\"NAME\":\"{name}\"}}"),
            _ => (*line).to_owned(),
        };
        text += &json;
        text.push('\n');
    }
    text
}

const START: &str = "{\"INSTRUCTION\":\"ANNOTATE\",\"ANNOTATION\":\"START\"}";

#[test]
fn every_instruction_is_read() {
    let tape = read(&log(&[
        START,
        "C x 64",
        "F split 35 x a:128 v:@0",
        "= b a",
        "M add_ 7 a,x 0",
        "< b v",
        "- missing",
        "- v",
        "- x",
    ]));
    let tensors: Vec<(&str, u32, u64, u32, bool)> = tape
        .tensors
        .iter()
        .map(|tensor| {
            (
                &*tensor.name,
                tensor.storage,
                tensor.bytes.get(),
                tensor.op,
                tensor.is_external,
            )
        })
        .collect();
    assert_eq!(
        tensors,
        [
            ("x", 0, 64, 0, true),
            ("a", 1, 128, 1, false),
            ("v", 0, 0, 1, false),
            ("a$", 3, 128, 2, false)
        ]
    );
    let ops: Vec<(&str, u64, bool)> = tape.ops.iter().map(|op| (&*op.name, op.time.0, op.is_source)).collect();
    assert_eq!(
        ops,
        [("constant/0", 0, true), ("split/1", 35, false), ("add_/2", 7, false)]
    );
    let wires: Vec<(&[u32], &[u32])> = tape.ops.iter().map(|op| (&*op.inputs, &*op.outputs)).collect();
    assert_eq!(wires, [(&[][..], &[0][..]), (&[0], &[1, 2]), (&[1, 0], &[3])]);
    assert_eq!(
        tape.calls,
        [
            TapeCall::Call(0),
            TapeCall::Call(1),
            TapeCall::Retain(1),
            TapeCall::Call(2),
            TapeCall::Release(1),
            TapeCall::Release(1),
            TapeCall::Retain(2),
            TapeCall::Release(2),
            TapeCall::Release(0),
        ]
    );
    // x is released; a names the new tensor, v and b both name the view, which has one reference left.
    assert_eq!(tape.kept, [3, 2, 2]);
    assert_eq!(tape.tensors[0].bytes, Bytes(64));
}

#[test]
fn a_changed_view_has_the_size_of_its_storage() {
    let tape = read(&log(&["C x 64", "F f 1 x a:100", "F view 1 a v:@0", "M relu_ 1 v 0"]));
    assert_eq!((tape.tensors[3].bytes, tape.tensors[3].storage), (Bytes(100), 3));
    assert_eq!(&*tape.tensors[3].name, "v$");
}

#[test]
fn lines_before_the_start_are_not_counted() {
    let whole = log(&["C y 1", "nonsense", "F f 1 missing r:1", START, "C x 64"]);
    let (tape, diagnostics) = read_with(&whole).expect("a tape");
    assert_eq!((tape.tensors.len(), diagnostics.entries().len()), (1, 0));
    let (tape, diagnostics) = read_with(&log(&["C x 64", "F f 1 x r:1"])).expect("a tape");
    assert_eq!((tape.tensors.len(), diagnostics.entries().len()), (2, 1));
    let again = read(&log(&[START, "C x 64", START, "C y 64"]));
    assert_eq!(again.tensors.len(), 2);
}

#[test]
fn errors_name_their_line_and_what_to_do() {
    let case = |lines: &[&str]| wrong(&log(lines));
    let memory = "{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"r\",\"MEMORY\":\"5\"}";
    let call = "{\"INSTRUCTION\":\"CALL\",\"NAME\":\"f\",\"TIME\":\"1\",\"ARGS\":[],\"RESULT\":[\"r\"]}";
    for (text, expected) in [
        (case(&[START, "F f 1 x r:1"]), "\"x\" names no tensor above at line 2"),
        (
            case(&[START, "C x 1", "F f 1 x r:@1"]),
            "argument 1 is asked for, and \"f/1\" has 1 at line 6",
        ),
        (
            case(&[START, "C x 1", "M f 1 x 7"]),
            "argument 7 is asked for, and \"f\" has 1 at line 4",
        ),
        (case(&[START, "C x -1"]), "\"x\" has -1 bytes at line 3"),
        (case(&[START, "C x 1", "F f -3 x"]), "the op takes -3 ns at line 4"),
        (case(&[START, "C x 1.5"]), "\"1.5\" is no whole number"),
        (
            case(&[START, call, "- r"]),
            "the result \"r\" of \"f/0\" has no MEMORY line before this at line 3",
        ),
        (
            case(&[START, call, memory]),
            "the result \"r\" of \"f/0\" has no ALIAS line before this at line 3, the last",
        ),
        (
            case(&[START, memory]),
            "the MEMORY of \"r\" belongs to no result above at line 2",
        ),
        (
            case(&[START, call, memory, memory]),
            "the MEMORY of \"r\" belongs to no result above at line 4",
        ),
        (
            case(&[START, "{\"INSTRUCTION\":\"JUMP\"}"]),
            "the instruction \"JUMP\" is unknown at line 2",
        ),
        (
            case(&[START, "{\"INSTRUCTION\":\"RELEASE\"}"]),
            "the instruction has no NAME at line 2",
        ),
        (
            case(&[START, "{\"INSTRUCTION\":"]),
            "this is no instruction (EOF while parsing a value) at line 2",
        ),
        (case(&[START]), "the log holds no op at line 1, the last"),
        (case(&["= x y"]), "\"y\" names no tensor above at line 1"),
        (
            case(&["C x 18446744073709551615"]),
            "the sizes add up to more than 2^61 bytes at line 2",
        ),
        (
            case(&["F f 18446744073709551615 "]),
            "the times add up to more than 2^61 ns at line 1",
        ),
        (
            case(&["F f 99999999999999999999999999999999999999999 "]),
            "is no whole number",
        ),
    ] {
        assert!(text.contains(expected), "{text}\n{expected}");
    }
}
