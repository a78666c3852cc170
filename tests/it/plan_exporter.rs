//! `assets/exporters/plan_export.py`, run by `python3`; skipped without it. What it writes opens as a placement problem.

use std::path::Path;
use std::process::{Command, Output};

use highwater::import::{Input, import};
use highwater::progress::{Cancel, Progress};
use highwater::workload::{ProblemEntry, Source};

/// A program of `ExecuTorch`: two kernels and one with a list, an input, a view in place (v5 of v2), a result in a second
/// memory; made of JSON by flatc with schema/program.fbs.
const PROGRAM: &str = "
    180000004554313200000e000c00000004000000000008000e0000000c0000000400000000000000010000001c00000000001600240004000000
    08000c001000140018001c0020001600000008030000280100001c01000010010000600000003000000028000000040000000300000000000000
    00000000000100000000000040000000000000000000000000000000010000000400000018feffff1000000004000000030000006f7574000b00
    00006174656e3a3a6164646d6d00010000001000000000000a001000040008000c000a000000900000008800000004000000030000004c000000
    280000000400000048feffff0000000104000000c0ffffff0400000002000000040000000300000068feffff0000000104000000e0ffffff0400
    000002000000020000000500000088feffff000000010c0000000800080000000400080000000400000004000000000000000100000002000000
    06000000000000000000000001000000030000000100000000000000070000008001000030010000c80000008c00000068000000280000000400
    0000a4feffff000000020c000000000006000c00040006000000010000000000000010ffffff00000005040000006affffff0000000620000000
    140000000400000058ffffff0100000080000000010000000000000001000000200000004cffffff0000000a04000000cefeffff040000000200
    000002000000030000006cffffff0000000504000000c6ffffff000000051c000000100000000400000002ffffff020000000100000000000000
    010000002000000058ffffff00000005180000000000120014000700000008000c000000000010001200000000000006280000001c0000000c00
    000008000c0004000800080000000100000080000000020000000001000002000000040000000800000008000c00070008000800000000000005
    14000000100014000700000008000c00000010001000000000000006140000000800000001000000020000000001000002000000080000000800
    000008000e00070008000800000000000005180000000000120016000700000008000c0000000000100012000000000000062400000018000000
    0c00000000000600080004000600000001000000020000000001000002000000040000000800000007000000666f727761726400";

/// A function before and behind the pass that lays out slices, in the manner of `iree-compile`.
const SLICES: &str = "\
// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @main(%arg0: !hal.buffer_view) -> !hal.buffer_view {
  %c16384 = arith.constant 16384 : index
  %c640 = arith.constant 640 : index
  %1:4 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({
    [0, 1] = %c16384,
    [1, 3] = %c640,
    [2, 3] = %c16384
  }) : index
  %2 = stream.cmd.execute with(%0 as %arg1: !stream.resource<external>{%c16384}, %r as %arg3: !stream.resource<transient>{%1#0}) {
    stream.cmd.dispatch @a {
      ro %arg1[%c0 for %c16384] : !stream.resource<external>{%c16384},
      wo %arg3[%1#1 for %c16384] : !stream.resource<transient>{%1#0}
    }
    stream.cmd.dispatch @b {
      ro %arg3[%1#1 for %c16384] : !stream.resource<transient>{%1#0},
      wo %arg3[%1#2 for %c640] : !stream.resource<transient>{%1#0}
    }
    stream.cmd.dispatch @c {
      ro %arg3[%1#2 for %c640] : !stream.resource<transient>{%1#0},
      wo %arg3[%1#3 for %c16384] : !stream.resource<transient>{%1#0}
    }
  }
}

// -----// IR Dump After LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @main(%arg0: !hal.buffer_view) -> !hal.buffer_view {
  %c16384 = arith.constant 16384 : index
  %c640 = arith.constant 640 : index
  %c0_1 = arith.constant 0 : index
  %5 = arith.addi %c0_1, %c16384 : index
  %2 = stream.cmd.execute with(%0 as %arg1: !stream.resource<external>{%c16384}, %r as %arg3: !stream.resource<transient>{%c17024}) {
    stream.cmd.dispatch @a {
      ro %arg1[%c0 for %c16384] : !stream.resource<external>{%c16384},
      wo %arg3[%c0_1 for %c16384] : !stream.resource<transient>{%c17024}
    }
    stream.cmd.dispatch @b {
      ro %arg3[%c0_1 for %c16384] : !stream.resource<transient>{%c17024},
      wo %arg3[%5 for %c640] : !stream.resource<transient>{%c17024}
    }
    stream.cmd.dispatch @c {
      ro %arg3[%5 for %c640] : !stream.resource<transient>{%c17024},
      wo %arg3[%c0_1 for %c16384] : !stream.resource<transient>{%c17024}
    }
  }
}
";

/// A function of TVM behind `StaticPlanBlockMemory`.
const RELAX: &str = r#"
@R.function
def main(x: R.Tensor((4, 100), dtype="float32")) -> R.Tensor((4, 100), dtype="float32"):
    storage: R.Any = R.memory.alloc_storage(R.shape([1600]), 0, R.str("global"), R.dtype("float32"))
    alloc: R.Tensor((4, 100), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([4, 100]), R.dtype("float32"), 0)
    relu(x, alloc)
    lv: R.Tensor((4, 100), dtype="float32") = alloc
    storage1: R.Any = R.memory.alloc_storage(R.shape([64]), 0, R.str("global"), R.dtype("float16"))
    alloc1: R.Tensor((32,), dtype="float16") = R.memory.alloc_tensor(storage1, 0, R.shape([32]), R.dtype("float16"), 0)
    pick(lv, alloc1)
    alloc2: R.Tensor((4, 100), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([4, 100]), R.dtype("float32"), 0)
    spread(alloc1, alloc2)
    alloc3: R.Tensor((4, 100), dtype="float32") = R.builtin.alloc_tensor(R.shape([4, 100]), R.dtype("float32"), 0, R.str("global"))
    relu(alloc2, alloc3)
    return alloc3
"#;

/// Without offsets: times count the bytes before.
const TRACE: &str = r#"{"traceEvents": [
  {"name": "a", "cat": "memory_allocation", "ph": "X", "ts": 0, "dur": 64, "pid": 1, "tid": 0, "args": {}},
  {"name": "a", "cat": "memory_allocation", "ph": "X", "ts": 0, "dur": 64, "pid": 1, "tid": 1, "args": {}},
  {"name": "b", "cat": "memory_allocation", "ph": "X", "ts": 64, "dur": 32, "pid": 1, "tid": 1, "args": {}}]}"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the exporter on a file; `None` without Python.
fn run(folder: &Path, name: &str, content: &[u8], output: &str, arguments: &[&str]) -> Option<Output> {
    let file = folder.join(name);
    std::fs::write(&file, content).expect("written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/exporters/plan_export.py");
    let ran = Command::new("python3")
        .arg(script)
        .arg(&file)
        .arg("-o")
        .arg(folder.join(output))
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    if ran.is_err() {
        eprintln!("skipped: there is no python3");
    }
    ran.ok()
}

/// The problems of what was written: their planner, and `id lower..upper size @offset` of each buffer.
fn problems(path: &Path) -> Vec<(String, Vec<String>)> {
    let bytes = std::fs::read(path).expect("it was written");
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(&name, bytes).expect("memory can be read");
    let Ok(Source::Problems(found)) = import(&mut input, &Progress::silent(&cancel)).map(|read| read.source) else {
        panic!("no problem: {name}")
    };
    let one = |entry: &ProblemEntry| {
        let plan = entry.recorded.as_ref();
        let buffers = (0..entry.ids.len()).map(|position| {
            let buffer = &entry.problem.buffers[position];
            let offset = plan.map_or(String::new(), |plan| format!(" @{}", plan.offsets[position]));
            let (lower, upper, size) = (buffer.lower.0, buffer.upper.0, buffer.size.get());
            format!("{} {lower}..{upper} {size}{offset}", entry.ids.get(position))
        });
        let maker = plan.map_or("", |plan| plan.maker.as_str());
        (format!("{}: {maker}", entry.name), buffers.collect())
    };
    found.iter().map(|entry| one(entry)).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16).expect("digits");
    digits.chunks(2).map(byte).collect()
}

#[test]
fn plans_of_other_frameworks_become_placement_problems() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = bytes_of(PROGRAM);
    type Expected<'a> = &'a [(&'a str, &'a [&'a str])];
    let cases: &[(&str, &[u8], Expected<'_>, &str)] = &[
        (
            "tiny.pte",
            &program,
            &[
                ("mem_id 1: ExecuTorch", &["v0 0..1 128 @0", "v2+v5 0..3 128 @128"]),
                ("mem_id 2: ExecuTorch", &["v3 2..3 64 @0"]),
            ],
            "planned: 256 bytes in 1, 64 bytes in 2",
        ),
        (
            "slices.txt",
            SLICES.as_bytes(),
            &[(
                "slices: IREE",
                &["s0 0..2 16384 @0", "s1 1..4 640 @16384", "s2 2..4 16384 @0"],
            )],
            "planned: 17024 bytes",
        ),
        (
            "relax.txt",
            RELAX.as_bytes(),
            &[(
                "relax: TVM",
                &["alloc 1..7 1600 @0", "alloc1 5..9 64 @1600", "alloc2 7..11 1600 @0"],
            )],
            "planned: 1664 bytes",
        ),
        (
            "trace.json",
            TRACE.as_bytes(),
            &[("trace: ", &["a 0..2 64", "b 1..2 32"])],
            "no offsets",
        ),
    ];
    for (name, content, expected, summary) in cases {
        let Some(answer) = run(folder.path(), name, content, "plan.out.json", &[]) else {
            return;
        };
        assert!(answer.status.success(), "{name}: {}", text(&answer.stderr));
        assert!(
            text(&answer.stdout).contains(summary),
            "{name}: {}",
            text(&answer.stdout)
        );
        let found = problems(&folder.path().join("plan.out.json"));
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|(name, buffers)| (name.as_str(), buffers.iter().map(String::as_str).collect()))
            .collect();
        let expected: Vec<(&str, Vec<&str>)> = expected.iter().map(|(name, rows)| (*name, rows.to_vec())).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn the_table_has_the_same_buffers_and_what_is_no_plan_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = bytes_of(PROGRAM);
    let Some(answer) = run(folder.path(), "tiny.pte", &program, "plan.csv", &["--alignment", "64"]) else {
        return;
    };
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let table = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    assert_eq!(
        table,
        "id,lower,upper,size,alignment,offset,mem_id\nv0,0,1,128,64,0,1\nv2+v5,0,3,128,64,128,1\nv3,2,3,64,64,0,2\n"
    );
    let before = SLICES.split("// -----// IR Dump After").next().unwrap_or_default();
    let answer = run(folder.path(), "before.txt", before.as_bytes(), "plan.json", &[]).expect("Python ran before");
    assert!(
        text(&answer.stderr).contains("--mlir-print-ir-after"),
        "{}",
        text(&answer.stderr)
    );
    assert_eq!(problems(&folder.path().join("plan.json"))[0].1[1], "s1 1..4 640");
    std::fs::remove_file(folder.path().join("plan.json")).expect("it is there");
    let symbolic = RELAX.replace("R.shape([32])", "R.shape([n])");
    for (name, content, expected) in [
        ("a.json", &b"{}"[..], "none of what is read"),
        ("a.pte", &program[..60], "cut off or damaged"),
        ("a.pte", &program[..200], ""),
        ("b.txt", symbolic.as_bytes(), "without a value"),
        (
            "c.txt",
            &b"%1:2 = stream.resource.pack slices({\n [0, 1] = %size\n"[..],
            "no constant",
        ),
    ] {
        let answer = run(folder.path(), name, content, "plan.json", &[]).expect("Python ran before");
        let message = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(2), "{name}: {message}");
        assert!(
            message.contains(expected) && message.lines().count() == 1,
            "{name}: {message}"
        );
        assert!(!folder.path().join("plan.json").exists(), "{name}");
    }
    let answer = run(folder.path(), "tiny.pte", &program, "plan.json", &["--method", "x"]).expect("Python ran before");
    assert!(
        text(&answer.stderr).contains("it has forward"),
        "{}",
        text(&answer.stderr)
    );
}
