//! Judgements of short recordings, written as lines: `FIRST..END KIB STACK => category basis`.

use super::super::{
    MarkKind, RecordedBlock, RecordedFrame, RecordedMark, RecordedName, Recording, RecordingRules, StackIdx,
};
use crate::units::{Bytes, Step};
use crate::workload::RecordedNames;

/// A stack: file and function of its innermost line.
const STACKS: [(&str, &str, &str); 7] = [
    ("setup", "/env/torch/nn/modules/module.py", "_apply"),
    ("copy", "/env/torch/nn/parameter.py", "__deepcopy__"),
    ("user", "/w/train.py", "main"),
    ("forward", "/env/torch/nn/modules/module.py", "_call_impl"),
    ("root", "/env/torch/autograd/__init__.py", "_make_grads"),
    ("state", "/env/torch/optim/adam.py", "_init_group"),
    ("step", "/env/torch/optim/adam.py", "_multi_tensor_adam"),
];

/// `older` in front: no request was recorded; `!` behind the range: it is not freed. `thread`: no stack. `oom AT`.
#[track_caller]
fn check(text: &str) {
    let mut names = RecordedNames::default();
    let frames: Vec<RecordedFrame> = STACKS
        .iter()
        .map(|(_, file, function)| RecordedFrame {
            file: names.intern(file),
            function: names.intern(function),
            line: 1,
        })
        .collect();
    let none = names.intern("");
    let mut recording = Recording {
        n_steps: 100,
        names: names.finish(),
        frames,
        ..Recording::default()
    };
    let mut wanted = Vec::new();
    for line in text.trim().lines().map(str::trim) {
        if let Some(at) = line.strip_prefix("oom ") {
            recording.marks.push(mark(none, at.parse().expect("an event")));
            continue;
        }
        let (block, judgement) = line.split_once(" => ").expect("an answer");
        let words: Vec<&str> = block.split(' ').collect();
        let is_older = words[0] == "older";
        let [range, kib, stack] = words[usize::from(is_older)..] else {
            panic!("{line}");
        };
        let (birth, end) = range.trim_end_matches('!').split_once("..").expect("a range");
        let step = |text: &str| Step(text.parse().expect("an event"));
        let bytes = Bytes(kib.parse::<u64>().expect("a size") << 10);
        let mut block = RecordedBlock::new(none, step(birth), step(end), bytes);
        block.is_older = is_older;
        block.is_freed = !range.ends_with('!');
        if let Some(position) = STACKS.iter().position(|(name, ..)| *name == stack) {
            let stack: Box<[u32]> = [u32::try_from(position).expect("few")].into();
            let known = recording.stacks.iter().position(|known| *known == stack);
            let position = known.unwrap_or(recording.stacks.len());
            if known.is_none() {
                recording.stacks.push(stack);
            }
            block.stack = StackIdx::new(u32::try_from(position).expect("few"));
        }
        recording.blocks.push(block);
        wanted.push(judgement);
    }
    assert_eq!(recording.check(), Ok(()));
    recording.apply_rules(&RecordingRules::default());
    let found = recording.blocks.iter().map(|block| {
        let (category, basis) = (block.category.name(), block.basis.key());
        format!("{category} {basis}")
    });
    assert_eq!(found.collect::<Vec<_>>(), wanted, "{text}");
}

fn mark(text: RecordedName, at: u32) -> RecordedMark {
    RecordedMark {
        step: Step(at),
        kind: MarkKind::OutOfMemory,
        text,
        bytes: Bytes::ZERO,
        failed: None,
    }
}

#[test]
fn what_unwinding_frees_is_an_activation() {
    check(
        "0..30 64 setup => parameter call_stack
         5..21 8 forward => activation failed_request
         6..21 9 forward => activation failed_request
         7..8 7 forward => temporary call_stack
         oom 20",
    );
    // The program goes on after the failure, as a library that tries another algorithm does.
    check(
        "0..90! 64 setup => parameter call_stack
         5..40 8 forward => activation call_stack
         6..25 9 forward => temporary call_stack
         oom 20
         22..23 7 forward => temporary call_stack
         30..31 1 root => temporary call_stack",
    );
}

#[test]
fn a_block_that_was_live_at_a_failure_is_what_its_like_were() {
    check(
        "0..30 64 setup => parameter call_stack
         2..3 8 forward => temporary call_stack
         4..6 8 forward => temporary call_stack
         8..21 8 forward => temporary alike
         9..21 4 forward => activation failed_request
         oom 20",
    );
}

#[test]
fn a_failure_in_the_backward_pass_leaves_gradients_of_the_sizes_of_parameters() {
    check(
        "0..100! 64 setup => parameter call_stack
         5..21 8 forward => activation call_stack
         6..7 1 root => temporary call_stack
         8..100! 64 thread => gradient size
         9..21 16 thread => temporary size
         oom 20",
    );
}

#[test]
fn a_failure_in_the_optimizer_leaves_states() {
    check(
        "0..100! 64 setup => parameter call_stack
         5..10 8 forward => activation call_stack
         6..7 1 root => temporary call_stack
         8..100! 64 thread => gradient thread
         12..100! 64 state => optimizer state call_stack
         13..21 64 step => temporary failed_request
         oom 20",
    );
}

#[test]
fn as_many_older_blocks_as_gradients_are_parameters() {
    check(
        "older 0..100! 64 none => parameter size
         older 0..100! 96 none => unknown no_gradient
         10..30 8 forward => activation call_stack
         11..12 1 root => temporary call_stack
         13..40 64 thread => gradient thread
         41..70 8 forward => temporary call_stack
         90..91 1 step => temporary call_stack",
    );
}

#[test]
fn more_older_blocks_than_gradients_stay_unknown() {
    check(
        "older 0..100! 64 none => unknown parameter_or_state
         older 0..100! 64 none => unknown parameter_or_state
         older 0..9 64 none => gradient freed_together
         10..30 8 forward => activation call_stack
         11..12 1 root => temporary call_stack
         13..60 64 thread => gradient thread
         50..51 1 step => temporary call_stack",
    );
}

#[test]
fn nothing_in_inference_is_a_gradient() {
    check(
        "0..100! 64 setup => parameter call_stack
         5..9 8 forward => temporary call_stack
         6..100! 64 thread => unknown nothing
         7..8 64 thread => temporary life",
    );
}

#[test]
fn a_copied_module_is_a_parameter_only_where_all_have_gradients() {
    check(
        "0..100! 64 setup => parameter call_stack
         1..100! 64 copy => unknown copy
         5..10 8 forward => activation call_stack
         6..7 1 root => temporary call_stack
         8..40 64 thread => gradient thread
         30..31 1 step => temporary call_stack",
    );
}

#[test]
fn blocks_of_the_program_before_the_model_runs_are_inputs() {
    check(
        "0..100! 64 setup => parameter call_stack
         3..33 2 user => input between_steps
         5..10 8 forward => activation call_stack
         6..7 1 root => temporary call_stack
         8..31 64 thread => gradient thread
         30..31 1 step => temporary call_stack
         32..60 2 user => input between_steps
         34..50 8 forward => temporary call_stack",
    );
}
