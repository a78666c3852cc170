//! Categories against the truth: recordings of training in which the use of every block is known.
//!
//! Models are small stacks of layers, and the graphs of `torch_train` below `HIGHWATER_SHARED`; without the variable the
//! test of the latter prints "skipped".

use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Category, Recording};

use crate::training::{Average, Known, Model, Optimizer, Pass, Release, Run, Stacks, Start, Zero, record};

/// Everything that is tried with each model.
fn runs() -> Vec<Run> {
    use Optimizer::{AdamForeach, AdamFused, AdamSingle, Momentum, Sgd};
    let stacks = [
        (Stacks::Python, Release::New),
        (Stacks::All, Release::New),
        (Stacks::Python, Release::Old),
    ];
    let mut runs = Vec::new();
    for (stacks, release) in stacks {
        for optimizer in [Sgd, Momentum, AdamSingle, AdamForeach, AdamFused] {
            let base = Run {
                stacks,
                release,
                optimizer,
                ..Run::PLAIN
            };
            runs.extend(starts(base));
            runs.extend(failures(base));
        }
    }
    for start in [Start::Process, Start::WarmedUp] {
        runs.extend(kinds(Run { start, ..Run::PLAIN }));
    }
    runs
}

fn starts(base: Run) -> Vec<Run> {
    let starts = [
        ("from the start", Start::Process),
        ("from the first step", Start::Built),
        ("after two steps", Start::WarmedUp),
        ("from the middle of a forward pass", Start::Within(Pass::Forward)),
        ("from the middle of a backward pass", Start::Within(Pass::Backward)),
        ("from the middle of the optimizer", Start::Within(Pass::Optimizer)),
        ("ring from a forward pass", Start::Ring(Pass::Forward)),
        ("ring from a backward pass", Start::Ring(Pass::Backward)),
    ];
    let mut runs: Vec<Run> = starts.map(|(name, start)| Run { name, start, ..base }).to_vec();
    for (name, zero) in [("gradients freed first", Zero::First), ("gradients kept", Zero::Kept)] {
        let starts = [Start::Process, Start::WarmedUp];
        runs.extend(starts.map(|start| Run {
            name,
            zero,
            start,
            ..base
        }));
    }
    runs
}

fn failures(base: Run) -> Vec<Run> {
    let mut runs = Vec::new();
    for pass in [Pass::Forward, Pass::Backward, Pass::Optimizer] {
        for frees in [false, true] {
            for (name, n_steps, start) in [
                ("fails in the first step", 1, Start::Process),
                ("fails in the third step", 3, Start::Process),
                ("fails after two steps that were not recorded", 3, Start::WarmedUp),
            ] {
                runs.push(Run {
                    name,
                    n_steps,
                    start,
                    failure: Some((pass, frees)),
                    ..base
                });
            }
        }
    }
    runs
}

fn kinds(base: Run) -> Vec<Run> {
    let change = |name: &'static str, optimizer: Optimizer, set: fn(&mut Run)| {
        let mut run = Run {
            name,
            optimizer,
            ..base
        };
        set(&mut run);
        run
    };
    let mut runs = Vec::new();
    for optimizer in [Optimizer::AdamForeach, Optimizer::Sgd] {
        runs.extend([
            change("gradients of three parts", optimizer, |run| run.n_parts = 3),
            change("frozen, most", optimizer, |run| run.frozen = 6),
            change("frozen, some", optimizer, |run| run.frozen = 3),
            change("average of modules", optimizer, |run| run.average = Average::Modules),
            change("average by hand", optimizer, |run| run.average = Average::Hand),
            change("masters", optimizer, |run| run.has_masters = true),
            change("without stacks", optimizer, |run| run.stacks = Stacks::None),
        ]);
    }
    for stacks in [Stacks::None, Stacks::Python, Stacks::All] {
        let mut run = change("inference", Optimizer::Sgd, |run| run.is_inference = true);
        run.stacks = stacks;
        runs.push(run);
    }
    runs
}

/// Bytes that are right, unknown, wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    right: u64,
    unknown: u64,
    wrong: u64,
    /// Of parameters, or of what is called one.
    wrong_parameters: u64,
}

impl Shares {
    fn of(known: &Known, is_counted: impl Fn(Step, Step) -> bool) -> Self {
        let mut shares = Self::default();
        for (block, truth) in known.recording.blocks.iter().zip(&known.truth) {
            if !is_counted(block.birth, block.freed_at) {
                continue;
            }
            let bytes = block.bytes.get();
            if truth.contains(&block.category) {
                shares.right += bytes;
            } else if block.category == Category::Unknown {
                shares.unknown += bytes;
            } else {
                shares.wrong += bytes;
                let is_of_parameter = truth[0] == Category::Parameter || block.category == Category::Parameter;
                shares.wrong_parameters += if is_of_parameter { bytes } else { 0 };
            }
        }
        shares
    }

    fn is_good(self) -> bool {
        let all = self.right + self.unknown + self.wrong;
        self.wrong_parameters == 0 && self.wrong.saturating_mul(20) <= all
    }

    fn text(self) -> String {
        let all = (self.right + self.unknown + self.wrong).max(1);
        let tenths = |bytes: u64| u64::try_from(u128::from(bytes) * 1000 / u128::from(all)).unwrap_or(0);
        let share = |bytes: u64| format!("{}.{} %", tenths(bytes) / 10, tenths(bytes) % 10);
        format!(
            "right {}, unknown {}, wrong {}{}",
            share(self.right),
            share(self.unknown),
            share(self.wrong),
            if self.wrong_parameters > 0 { " (PARAMETERS)" } else { "" }
        )
    }
}

fn peak(recording: &Recording) -> Step {
    recording.peaks().live.1.unwrap_or(Step(0))
}

/// What is wrong with the categories of a model's runs; prints the shares.
fn check(model: &Model) -> Vec<String> {
    let mut bad = Vec::new();
    for run in runs() {
        let known = record(run, model);
        let peak = peak(&known.recording);
        let all = Shares::of(&known, |_, _| true);
        let at_peak = Shares::of(&known, |birth, freed| birth <= peak && freed > peak);
        let is_gradient = |category: Category| category == Category::Gradient;
        let has_gradient = known.recording.blocks.iter().any(|block| is_gradient(block.category));
        let text = format!(
            "{}, {:?}, {:?} {:?}, {} {:?}: at the peak {}; of all requests {}",
            model.name,
            run.optimizer,
            run.stacks,
            run.release,
            run.name,
            run.failure,
            at_peak.text(),
            all.text()
        );
        let is_bad = !all.is_good() || !at_peak.is_good() || run.is_inference && has_gradient;
        println!("{}{text}", if is_bad { "BAD " } else { "" });
        if is_bad {
            bad.push(text + &wrong(&known, peak));
        }
    }
    bad
}

/// The most wrong bytes, by what they are and what they are called.
fn wrong(known: &Known, peak: Step) -> String {
    let mut sums = std::collections::BTreeMap::<(&str, &str, &str), (u64, u64)>::new();
    for (block, truth) in known.recording.blocks.iter().zip(&known.truth) {
        if !truth.contains(&block.category) && block.category != Category::Unknown {
            let sum = sums
                .entry((truth[0].name(), block.category.name(), block.basis.key()))
                .or_default();
            sum.0 += block.bytes.get();
            sum.1 += if block.birth <= peak && block.freed_at > peak {
                block.bytes.get()
            } else {
                0
            };
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let texts = sums.iter().take(3);
    let texts = texts.map(|((truth, said, basis), (bytes, at_peak))| {
        format!(
            "\n    {truth} called {said} by {basis}: {} ({} at the peak)",
            Bytes(*bytes),
            Bytes(*at_peak)
        )
    });
    texts.collect()
}

#[test]
fn categories_of_small_models_are_right_or_unknown() {
    let mut bad = Vec::new();
    for (n_layers, width, rows) in [(6, 256, 64), (12, 512, 4096), (3, 64, 1), (8, 128, 512)] {
        bad.extend(check(&Model::layers(n_layers, width, rows)));
    }
    assert!(bad.is_empty(), "{} runs:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn categories_of_real_models_are_right_or_unknown() {
    let Ok(shared) = std::env::var("HIGHWATER_SHARED") else {
        println!("skipped: set HIGHWATER_SHARED");
        return;
    };
    let folder = std::path::Path::new(&shared).join("corpus/made/torch_train");
    let mut bad = Vec::new();
    let mut n_models = 0;
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
        let is_graph = file.extension().is_some_and(|extension| extension == "json");
        if !is_graph || name == "expected.json" {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let graph = serde_json::from_str(&text).expect("JSON");
        bad.extend(check(&Model::from_graph(name.trim_end_matches(".json"), &graph)));
        n_models += 1;
    }
    assert!(n_models >= 6, "all models are there");
    assert!(bad.is_empty(), "{} runs:\n{}", bad.len(), bad.join("\n"));
}
