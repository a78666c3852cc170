//! Facts of a mark as texts and figures, computed on demand.

use super::{LaneRemat, RematMark, RematMarkKind, op_time};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_rewrite::remat::{Choice, Engine, RematEvent};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RematFacts {
    /// Empty for the end of a run.
    pub tensor: String,
    /// The op that computes the tensor; for an out-of-memory end the op that did not fit.
    pub op: String,
    /// The op for which room is made, or that needs the tensor.
    pub for_op: String,
    pub rows: Vec<(&'static str, String)>,
}

impl LaneRemat {
    /// O(1).
    pub fn facts(&self, mark: &RematMark) -> RematFacts {
        let Some((_, remat)) = self.remat_of(mark.run) else {
            return RematFacts::default();
        };
        let tape = &remat.tape.tape;
        let op_name = |op: u32| {
            tape.ops
                .get(op as usize)
                .map_or(String::new(), |op| op.name.to_string())
        };
        let Some(event) = remat.answer.events.get(mark.event as usize) else {
            return self.end_facts(mark);
        };
        let tensor = &tape.tensors[event.tensor as usize];
        let engine = remat.answer.heuristic.engine;
        let mut rows = vec![("bytes", exact(mark.bytes))];
        match remat.answer.choices.get(event.choice as usize) {
            Some(choice) => add_choice(&mut rows, choice, engine),
            None => add_chain(&mut rows, event, op_time(remat, tensor.op)),
        }
        rows.push(("in use after", exact(event.memory_after)));
        RematFacts {
            tensor: tensor.name.to_string(),
            op: op_name(tensor.op),
            for_op: op_name(event.step),
            rows,
        }
    }

    /// `score 0.2500, lowest of 3 candidates`; empty for other marks than evictions. O(1).
    pub fn reason(&self, mark: &RematMark) -> String {
        let choice = || {
            let (_, remat) = self.remat_of(mark.run)?;
            let event = remat.answer.events.get(mark.event as usize)?;
            remat.answer.choices.get(event.choice as usize)
        };
        choice().map_or_else(String::new, |choice| {
            let candidates = plural(u64::from(choice.candidates), "candidate");
            format!("score {}, lowest of {candidates}", score_text(choice.score))
        })
    }

    fn end_facts(&self, mark: &RematMark) -> RematFacts {
        let report = self.oom_report().filter(|report| report.run == mark.run);
        if let Some(report) = report.filter(|_| mark.kind == RematMarkKind::OutOfMemory) {
            return RematFacts {
                op: report.op.clone(),
                rows: vec![
                    ("requested", exact(report.requested)),
                    ("in use", exact(report.in_use)),
                    ("short", exact(report.short)),
                ],
                ..RematFacts::default()
            };
        }
        let counters = self.counters(Step(mark.step.0.saturating_sub(1)));
        RematFacts {
            rows: vec![("recomputed", share_text(counters.share, counters.time, counters.limit))],
            ..RematFacts::default()
        }
    }
}

/// `1.2 ms, 18.0 % of its graph's own (limit 100 %)`.
pub(super) fn share_text(share: f64, time: Nanos, limit: Option<f64>) -> String {
    let limit = limit.map_or("no limit".to_owned(), |limit| format!("limit {:.0} %", limit * 100.0));
    format!("{time}, {:.1} % of the time of its graph ({limit})", share * 100.0)
}

fn add_choice(rows: &mut Vec<(&'static str, String)>, choice: &Choice, engine: Engine) {
    rows.push(("score", score_text(choice.score)));
    rows.push(("cost", cost_text(choice.compute, engine)));
    if let Some((name, bytes)) = memory_text(choice.memory, engine) {
        rows.push((name, bytes));
    }
    let staleness = choice.staleness;
    rows.push(match engine {
        Engine::Runtime(_) => ("staleness", Nanos(staleness).to_string()),
        Engine::StaticPlanner => ("next use in", plural(staleness, "step")),
        Engine::Eager => ("staleness", format!("{} moved since", Bytes(staleness))),
    });
    let mut text = plural(u64::from(choice.candidates), "candidate");
    if choice.ties > 1 {
        text.push_str(&format!(", {} with this score", choice.ties));
    }
    rows.push(("chosen from", text));
}

fn add_chain(rows: &mut Vec<(&'static str, String)>, event: &RematEvent, time: Nanos) {
    rows.push(("op cost", format!("est. {time}")));
    if event.chain > 0 {
        rows.push((
            "chain",
            format!("{} recomputed to have it", plural(u64::from(event.chain), "op")),
        ));
    }
    rows.push(("version", event.copy.to_string()));
}

/// The lowest score is evicted; tensors that are free to recompute may score 0, those that cannot be recomputed
/// infinity.
fn score_text(score: f64) -> String {
    if score == 0.0 || (1e-3..1e7).contains(&score.abs()) {
        format!("{score:.4}")
    } else {
        format!("{score:.3e}")
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate; these are figures for people"
)]
fn cost_text(compute: f64, engine: Engine) -> String {
    match engine {
        Engine::Runtime(_) => format!("est. {}", Nanos(compute.round() as u64)),
        // f * b of the planner: seconds at 0.1 GB/s, times the number of dependent tensors; a weight, not a time.
        Engine::StaticPlanner => format!("weight {}", score_text(compute)),
        Engine::Eager => format!("{} moved", Bytes(compute.round() as u64)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate; these are figures for people"
)]
fn memory_text(memory: f64, engine: Engine) -> Option<(&'static str, String)> {
    let bytes = Bytes(memory.round() as u64).to_string();
    match engine {
        Engine::Runtime(_) => None,
        Engine::StaticPlanner => Some(("to recompute", bytes)),
        Engine::Eager => Some(("free next to it", bytes)),
    }
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", highwater_model::units::grouped(count))
    }
}

/// `2 763 672 996 B (2.574 GiB)`.
fn exact(bytes: Bytes) -> String {
    if bytes.get() < 1024 {
        return bytes.exact();
    }
    format!("{} ({bytes})", bytes.exact())
}
