//! Name reuse on programs of 10,000 ops, with and without its log.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::name_reuse::{NameReuseRequest, ReuseQuestion, name_reuse, reuse_report};
use highwater::workload::{Block, BlockOp, BlockProgram, BlockVariable};

mod size;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// A training step: `n_ops / 2` forward ops of many widths, and as many backward ops that read the forward results.
fn training(n_ops: usize) -> BlockProgram {
    let mut block = Block::default();
    let n_layers = n_ops / 2;
    let declare = |block: &mut Block, name: &str, layer: usize| {
        let width = i64::try_from(64 + layer * 7919 % 997).unwrap_or(64);
        let dtype = if layer.is_multiple_of(13) { "FP16" } else { "FP32" };
        let variable = BlockVariable {
            shape: vec![-1, width],
            dtype: dtype.into(),
            is_persistable: false,
            kind: "LOD_TENSOR".into(),
        };
        block.variables.insert(name.into(), variable);
    };
    let op = |inputs: Vec<String>, output: String| BlockOp {
        kind: "op".into(),
        inputs: vec![("X".into(), inputs.into_iter().map(String::into_boxed_str).collect())],
        outputs: vec![("Out".into(), vec![output.into_boxed_str()])],
        ..BlockOp::default()
    };
    declare(&mut block, "act_0", 0);
    for layer in 1..=n_layers {
        declare(&mut block, &format!("act_{layer}"), layer);
        block
            .ops
            .push(op(vec![format!("act_{}", layer - 1)], format!("act_{layer}")));
    }
    for layer in (1..=n_layers).rev() {
        let output = format!("grad_{layer}");
        declare(&mut block, &output, layer);
        let mut inputs = vec![format!("act_{layer}")];
        if layer < n_layers {
            inputs.push(format!("grad_{}", layer + 1));
        }
        block.ops.push(op(inputs, output));
    }
    BlockProgram {
        name: "training".to_owned(),
        blocks: vec![block],
    }
}

fn bench(criterion: &mut Criterion) {
    let program = training(size::size(10_000, 200));
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    for level in [0, 1] {
        for print_log in [false, true] {
            let request = NameReuseRequest {
                level,
                print_log,
                ..NameReuseRequest::default()
            };
            let what = format!("10,000 ops, level {level}{}", if print_log { ", with log" } else { "" });
            criterion.bench_function(&what, |bencher| {
                bencher.iter(|| name_reuse(black_box(&program), &request, &progress).expect("nobody cancels"));
            });
        }
    }
    let request = NameReuseRequest {
        level: 1,
        ..NameReuseRequest::default()
    };
    criterion.bench_function("10,000 ops, level 1, with figures and checks", |bencher| {
        let question = ReuseQuestion {
            program: &program,
            request: &request,
            fetched: &[],
            batch: 32,
        };
        bencher.iter(|| reuse_report(black_box(&question), &progress).expect("nobody cancels"));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = bench
}
criterion_main!(benches);
