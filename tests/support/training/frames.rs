//! Call stacks as releases of PyTorch write them, innermost line first: `FILE:LINE FUNCTION`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Optimizer, Release, Stacks};

const TORCH: &str = "/env/lib/python3.11/site-packages/torch";
const TRAIN: &str = "/home/me/train.py";

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller<'a> {
    Setup,
    /// A copy of the modules.
    Average,
    /// Copies of the parameters by hand.
    HandAverage,
    Batch,
    /// An operator and its bytes, within a layer.
    Forward(&'a str, u64),
    Again(&'a str, u64),
    /// An operator of the backward pass.
    Backward,
    /// The gradient of the loss.
    Root,
    /// States, temporaries.
    State(Optimizer),
    Step(Optimizer),
    Master,
}

pub(crate) fn frames(caller: Caller<'_>, stacks: Stacks, release: Release) -> Vec<String> {
    let mut lines = match stacks {
        Stacks::None => return Vec::new(),
        Stacks::Python => Vec::new(),
        Stacks::All => native(caller),
    };
    let n_native = lines.len();
    let torch = |line: &str| format!("{TORCH}/{line}");
    let call = || {
        let mut lines = vec![torch("nn/modules/module.py:1527 _call_impl")];
        if release != Release::Old {
            lines.push(torch("nn/modules/module.py:1518 _wrapped_call_impl"));
        }
        lines
    };
    let main = format!("{TRAIN}:20 main");
    match caller {
        Caller::Setup => {
            lines.extend(
                ["convert", "_apply", "_apply", "to"].map(|name| torch(&format!("nn/modules/module.py:1150 {name}"))),
            );
        }
        Caller::Average => {
            lines.push(torch("nn/parameter.py:60 __deepcopy__"));
            lines.push("/usr/lib/python3.11/copy.py:150 deepcopy".to_owned());
            lines.push(torch("optim/swa_utils.py:200 __init__"));
        }
        Caller::HandAverage => lines.push(format!("{TRAIN}:31 average")),
        Caller::Batch => lines.push(format!("{TRAIN}:44 main")),
        Caller::Forward(op, _) if op.contains("log_softmax") || op.contains("nll_loss") => {
            lines.push(torch("nn/functional.py:3059 cross_entropy"));
            lines.push(format!("{TRAIN}:51 train_step"));
        }
        Caller::Forward(op, bytes) | Caller::Again(op, bytes) => {
            lines.push(torch(&format!("nn/modules/layer.py:{} forward", line_of(op, bytes))));
            lines.extend(call());
            lines.push(format!("/home/me/model.py:{} forward", line_of(op, bytes)));
            lines.extend(call());
            if matches!(caller, Caller::Again(..)) {
                let function = if release == Release::Old {
                    "unpack"
                } else {
                    "recompute_fn"
                };
                lines.push(torch(&format!("utils/checkpoint.py:1119 {function}")));
                if release != Release::Old {
                    lines.push(torch("utils/checkpoint.py:1129 unpack_hook"));
                }
                return lines;
            }
            lines.push(format!("{TRAIN}:50 train_step"));
        }
        // Threads of autograd have no Python.
        Caller::Backward => return lines,
        Caller::Root => {
            lines.extend(["_make_grads", "backward"].map(|name| torch(&format!("autograd/__init__.py:120 {name}"))));
            lines.push(torch("_tensor.py:522 backward"));
        }
        Caller::State(optimizer) | Caller::Step(optimizer) => {
            let file = optimizer.file();
            let is_state = matches!(caller, Caller::State(_));
            match (is_state, optimizer) {
                (true, Optimizer::Momentum) | (false, Optimizer::Sgd | Optimizer::Momentum) => {
                    lines.push(torch(&format!("optim/{file}.py:360 _multi_tensor_{file}")));
                }
                (true, _) if release == Release::Old => {}
                (true, _) => lines.push(torch(&format!("optim/{file}.py:140 _init_group"))),
                (false, Optimizer::AdamSingle) => {
                    lines.push(torch(&format!("optim/{file}.py:420 _single_tensor_{file}")));
                }
                (false, _) => lines.push(torch(&format!("optim/{file}.py:600 _multi_tensor_{file}"))),
            }
            lines.push(torch(&format!("optim/{file}.py:220 step")));
            lines.push(torch("optim/optimizer.py:484 wrapper"));
        }
        Caller::Master => {
            lines.push("/env/lib/python3.11/site-packages/apex/optimizers/fp16.py:40 __init__".to_owned());
        }
    }
    debug_assert!(lines.len() >= n_native, "lines are added");
    lines.push(main);
    lines
}

/// Repeated layers share their lines.
fn line_of(op: &str, bytes: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (op, bytes).hash(&mut hasher);
    hasher.finish() % 500
}

fn native(caller: Caller<'_>) -> Vec<String> {
    let mut lines: Vec<&str> = vec![
        "??:0 torch::unwind::unwind()",
        "??:0 c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(void**, int, unsigned long, CUstream_st*)",
        "??:0 at::_ops::empty_strided::call(c10::ArrayRef<c10::SymInt>)",
    ];
    match caller {
        Caller::Backward => lines.extend([
            "??:0 torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)",
            "??:0 torch::autograd::Node::operator()(std::vector<at::Tensor>&&)",
            "??:0 torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)",
            "??:0 torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
            "??:0 clone",
        ]),
        _ => lines.push("??:0 torch::autograd::THPVariable_empty(_object*, _object*, _object*)"),
    }
    lines.into_iter().map(str::to_owned).collect()
}
