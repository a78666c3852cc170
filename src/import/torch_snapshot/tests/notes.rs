//! What newer versions note on events and lines: the compiler's context, the user's notes, FX nodes, the forward pass.

use super::*;
use highwater_model::workload::{NoteKind, RecordedFrame};

fn lines(recording: &Recording, number: usize) -> Vec<String> {
    let line = |frame: &RecordedFrame| {
        let (file, function) = (recording.text(frame.file), recording.text(frame.function));
        match frame.note(recording) {
            Some(_) => format!("{file} ({function})"),
            None => format!("{file}:{} {function}", frame.line),
        }
    };
    recording.stack_of(&recording.blocks[number]).map(line).collect()
}

fn with(mut dict: Py, more: Vec<(&'static str, Py)>) -> Py {
    if let Py::Dict(pairs) = &mut dict {
        pairs.extend(more);
    }
    dict
}

#[test]
fn notes_of_events_blocks_and_lines_become_lines_of_the_stack() {
    let traceback = "  File \"/w/train.py\", line 3, in main\n    step()\n  File \"/w/model.py\", line 7, in forward\n    x = self.net(x)\n";
    let generated = || {
        let line = frame("forward", "<eval_with_key>.1", 5);
        let node = vec![
            ("fx_node_op", "call_function".into()),
            ("fx_node_name", "addmm".into()),
            ("fx_node_target", "aten.addmm.default".into()),
            ("fx_original_trace", traceback.into()),
        ];
        Py::List(vec![with(line, node), frame("main", "/w/train.py", 9)])
    };
    let node = || {
        Py::List(vec![frame(
            "torch::autograd::generated::MulBackward0::apply()",
            "??",
            0,
        )])
    };
    let events = vec![
        with(
            event("alloc", 0x1000, 512, None),
            vec![("frames", generated()), ("compile_context", "0/1".into())],
        ),
        with(
            event("alloc", 0x2000, 512, None),
            vec![
                ("frames", node()),
                // Pieces of a traceback, the outermost first; code without a file is left out.
                (
                    "forward_frames",
                    Py::List(vec![
                        "  File \"<string>\", line 1, in <module>\n".into(),
                        "  File \"/w/train.py\", line 4, in main\n    loss(x)\n".into(),
                        "  File \"/w/model.py\", line 9, in forward\n    a * b\n".into(),
                    ]),
                ),
                (
                    "user_metadata",
                    Py::Dict(vec![("epoch", 3.into()), ("part", "loss".into())]),
                ),
            ],
        ),
        with(
            event("alloc", 0x3000, 512, None),
            vec![
                ("frames", node()),
                ("user_metadata", Py::Dict(Vec::new())),
                ("compile_context", "N/A".into()),
            ],
        ),
    ];
    let older = with(
        block(0x4000, 512, 400, "active_allocated"),
        vec![("user_metadata", "warm-up".into())],
    );
    let snapshot = snapshot_of(vec![segment(0x4000, 2 << 20, "small", vec![older])], vec![events]);
    for protocol in [0, 2, 4] {
        let (recordings, _) = read(&pickle(&snapshot, protocol)).expect("a snapshot");
        let recording = &recordings[0];
        assert_eq!(lines(recording, 0), ["warm-up (user metadata)"]);
        assert_eq!(
            lines(recording, 1),
            [
                "<eval_with_key>.1:5 forward",
                "addmm (call_function aten.addmm.default) (FX node)",
                "/w/model.py:7 forward",
                "/w/train.py:3 main",
                "/w/train.py:9 main",
                "0/1 (compile context)",
            ]
        );
        let native = "??:0 torch::autograd::generated::MulBackward0::apply()";
        assert_eq!(
            lines(recording, 2),
            [
                native,
                "/w/model.py:9 forward (forward pass)",
                "/w/train.py:4 main (forward pass)",
                "epoch: 3, part: loss (user metadata)",
            ]
        );
        assert_eq!(lines(recording, 3), [native]);
        let names: Vec<&str> = recording
            .blocks
            .iter()
            .map(|block| recording.block_name(block))
            .collect();
        assert_eq!(
            names,
            [
                "warm-up",
                "forward (model.py:7)",
                "MulBackward0 for forward (model.py:9)",
                "MulBackward0"
            ]
        );
        let stack = recording.blocks[1].stack.expect("a stack");
        assert_eq!(recording.call_sites.note(stack, NoteKind::CompileContext), "0/1");
    }
}
