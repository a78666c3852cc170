//! Spaces of configurations: axes, points, the Pareto front, recommendations, the commands.

mod axes;
mod command;
mod front;
mod points;
mod recommended;
mod verdict;

use std::sync::Arc;

use highwater::analysis::sweep::{Explorer, Space, SweepAxis, SweepPoint};
use highwater::analysis::{Configuration, Request, compare};
use highwater::diagnostics::Severity;
use highwater::options::check;
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::RematStatus;
use highwater::session::{OnFailure, SourceSpec, load, presets_of, sample};

use crate::workloads::{configuration, workload};

/// A bundled sample with its initial values.
fn sampled(name: &str) -> Request {
    let sources = [SourceSpec::Sample(sample(name).unwrap())];
    let cancel = Cancel::new();
    let loaded = load(&sources, false, OnFailure::Stop, &Progress::silent(&cancel)).unwrap();
    let mut request = Request::new(Arc::clone(&loaded.workload), Configuration::default());
    request.plan.dims.extend(presets_of(&sources));
    request
}

/// A training graph and its evaluation with a dimension, small enough for many comparisons: some ops clear, some are
/// costly.
fn small() -> Request {
    let text = r#"{"highwater_graph":1,"inputs":[{"id":"x","shape":["batch",4096],"dtype":"float32"}],"outputs":["e"],"nodes":[
        {"name":"a","op":"MatMul","inputs":["x"],"phase":"forward","outputs":[{"id":"a","shape":["batch",65536],"dtype":"float32"}]},
        {"name":"b","op":"Relu","inputs":["a"],"phase":"forward","outputs":[{"id":"b","shape":["batch",65536],"dtype":"float32"}]},
        {"name":"c","op":"MatMul","inputs":["b"],"phase":"forward","outputs":[{"id":"c","shape":["batch",32768],"dtype":"float32","atomic":true}]},
        {"name":"d","op":"MatMulGrad","inputs":["c","a"],"phase":"backward","outputs":[{"id":"d","shape":["batch",65536],"dtype":"float32"}]},
        {"name":"e","op":"Sum","inputs":["d","b"],"phase":"backward","outputs":[{"id":"e","shape":["batch",16],"dtype":"float32"}]}]}"#;
    Request::new(
        workload("small.json", text.as_bytes()),
        configuration(&[], &[("batch", &[16])]),
    )
}

/// The axes of texts.
fn axes(request: &Request, texts: &[&str]) -> Vec<SweepAxis> {
    let dims = request.workload.symbols();
    texts
        .iter()
        .map(|text| SweepAxis::parse(text, &dims).unwrap())
        .collect()
}

fn space(request: &Request, texts: &[&str]) -> Space {
    Space::new(request.configuration(), axes(request, texts)).unwrap()
}

fn explorer(request: &Request, texts: &[&str]) -> Explorer {
    Explorer::new(request, space(request, texts)).unwrap()
}

/// Every point.
fn explore(explorer: &Explorer) -> Vec<SweepPoint> {
    let all: Vec<u64> = (0..explorer.space().size()).collect();
    let cancel = Cancel::new();
    explorer
        .explore(&all, &mut |_: &SweepPoint| {}, &Progress::silent(&cancel))
        .unwrap()
}

/// The result of `compare` for a configuration: peak, live peak, device calls, overhead, and whether it runs to its
/// end; or the error or the violated rule.
type Plain = Result<(u64, u64, u64, u64, bool), String>;

fn plain(request: &Request, configuration: &Configuration) -> Plain {
    let findings = check(&configuration.options, &configuration.environment, &*request.files);
    if let Some(error) = findings.iter().find(|finding| finding.severity == Severity::Error) {
        return Err(error.message.clone());
    }
    let configured = request.configured(configuration).map_err(|error| error.to_string())?;
    let cancel = Cancel::new();
    let comparison = compare(&configured, &Progress::silent(&cancel)).map_err(|error| error.to_string())?;
    let lane = comparison.lane(configuration.policy()).unwrap();
    let runs = lane.rewrite.iter().flat_map(|rewrite| rewrite.remat.iter().flatten());
    let is_whole = !lane.summary.out_of_memory && lane.refusals.is_none();
    let is_done = is_whole && runs.into_iter().all(|run| run.answer.status == RematStatus::Ok);
    let summary = &lane.summary;
    let calls = summary.device_calls();
    Ok((
        summary.peak_reserved.get(),
        summary.peak_live.get(),
        calls,
        summary.estimated_overhead.0,
        is_done,
    ))
}

/// The same for a point.
fn plain_of(point: &SweepPoint) -> Plain {
    let figures = point.figures().ok_or_else(|| {
        let why = point.why().into_iter().next().unwrap_or_default();
        // A rule's id precedes its sentence.
        why.split_once(": ").map_or(
            why.clone(),
            |(id, rest)| if id.len() <= 4 { rest.to_owned() } else { why.clone() },
        )
    })?;
    Ok((
        figures.peak_reserved.get(),
        figures.peak_live.get(),
        figures.device_calls(),
        figures.overhead.0,
        figures.fits(),
    ))
}
