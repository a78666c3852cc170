//! The answer of `remat`: the figures of a run under a budget, its decisions on demand, or a row per budget.
//!
//! A step of the static planner counts ops with planned results, as the planner does; a step of the other engines is the op's number in
//! the tape. Where a runtime recomputes several results of one op at once, the others are siblings of the requested one.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::{Block, Table, paragraph};
use super::json_parts::{diagnostics_json, list};
use super::record::{Record, Rows, Value};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Nanos, counted, first_of, grouped};
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{Engine, Heuristic, MinimumRule, NO_CHOICE, RematRun, RematShortage, RematStatus};

/// The number of storages in the message about a shortage.
const MOST_HELD: usize = 5;

/// The number of siblings in a row for people.
const MOST_SIBLINGS: usize = 4;

/// A run with its tape.
#[derive(Clone, Copy, Debug)]
pub struct RematAnswer<'a> {
    pub tape: &'a Tape,
    pub run: &'a RematRun,
    /// The engine's peak without a budget.
    pub unlimited: Bytes,
    /// `dtr.evictee_minimum_size`.
    pub minimum: Bytes,
    /// Why the sizes are lower bounds, in words; `None` where they are exact.
    pub lower_bound: Option<&'a str>,
    pub diagnostics: &'a Diagnostics,
    pub elapsed: Nanos,
    /// Whether every decision is listed.
    pub has_events: bool,
}

impl Answer for RematAnswer<'_> {
    fn page(&self) -> Page {
        let heuristic = self.run.heuristic;
        let title = format!("{} ({})", heuristic.label, heuristic.name);
        let mut blocks = vec![
            paragraph(&self.tape.name),
            self.record().facts("heuristic", &title).into(),
        ];
        blocks.extend(
            self.lower_bound
                .map(|why| paragraph(format!("the sizes are lower bounds: {why}"))),
        );
        if let RematStatus::OutOfMemory(shortage) = &self.run.status {
            blocks.push(self.shortage_block(shortage));
        }
        if self.has_events {
            blocks.extend(self.events().blocks(usize::MAX));
        }
        blocks.extend(diagnostics_blocks(self.diagnostics));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let shortage = match &self.run.status {
            RematStatus::OutOfMemory(shortage) => Some(self.shortage(shortage)),
            RematStatus::Ok | RematStatus::Thrash => None,
        };
        self.record()
            .optional("out_of_memory", shortage)
            .optional("events", self.has_events.then(|| self.events()))
            .key("diagnostics", diagnostics_json(self.diagnostics))
            .key("elapsed_ns", self.elapsed)
    }
}

impl<'a> RematAnswer<'a> {
    fn record(&self) -> Record<'a> {
        let run = self.run;
        let counts = &run.counts;
        let over = self.over_budget();
        let n_ops = self.tape.ops.iter().filter(|op| !op.is_source).count();
        let recomputed = counted(counts.rematerializations + counts.collateral, "tensor");
        Record::new()
            .key("heuristic", run.heuristic.name)
            .key("tape", &self.tape.name)
            .field("budget_bytes", "budget", run.budget.map(Value::Exact))
            .shown(
                "&, ",
                run.budget
                    .map(|budget| format!("{} of the unconstrained peak", self.part(budget))),
            )
            .field(
                "unlimited_peak_bytes",
                "unconstrained peak",
                Value::Exact(self.unlimited),
            )
            .key("lower_bound", self.lower_bound.is_some())
            .key("status", run.status_name())
            .shown("status", run.status_words())
            .key("thrashes", run.thrashes())
            .shown(
                "thrash",
                run.thrashes()
                    .then_some("stopped: recomputation costs exceed simulation.thrash_limit"),
            )
            .key("evictee_minimum", self.minimum_json())
            .shown("smallest evictee", self.minimum_text())
            .field("base_compute_ns", "program", run.base_compute)
            .shown("&, ", counted(n_ops as u64, "op"))
            .field("remat_compute_ns", "recomputation", run.remat_compute)
            .shown("&, ", recomputed)
            .key("overhead", json!(run.overhead()))
            .shown("&; total ", format!("{:.3} times the program's time", run.overhead()))
            .field("peak_bytes", "peak", Value::Exact(run.peak))
            .key("peak_step", self.steps()(run.peak_step))
            .shown("& at op ", self.op_name(run.peak_step))
            .key("evictions", counts.evictions)
            .field("evicted_bytes", "evicted", Value::Exact(counts.evicted_bytes))
            .shown("& in ", counted(counts.evictions, "eviction"))
            .key("eager_evictions", counts.eager_evictions)
            .key("rematerializations", counts.rematerializations)
            .key("rematerialized_bytes", counts.rematerialized_bytes)
            .key("collateral", counts.collateral)
            .key("frees", counts.frees)
            .key("steps_over_budget", counts.steps_over_budget)
            .shown("over budget", over)
    }

    fn part(&self, budget: Bytes) -> String {
        format!("{:.1} %", budget.percent_of(self.unlimited))
    }

    /// `{bytes, rule: at_least|above|ignored}`; no bytes where the engine has no minimum.
    fn minimum_json(&self) -> Json {
        let rule = self.run.heuristic.engine.minimum_rule();
        let bytes = (rule != MinimumRule::Ignored).then_some(self.minimum.get());
        json!({"bytes": bytes, "rule": rule.name()})
    }

    /// The minimum size with its boundary, which the documentation and the code state differently.
    fn minimum_text(&self) -> String {
        let minimum = self.minimum.exact();
        match self.run.heuristic.engine.minimum_rule() {
            MinimumRule::AtLeast => format!(
                "{minimum}, inclusive (the code compares size >= minimum; the DTRConfig documentation says \"exceeds\")"
            ),
            MinimumRule::Above => format!("larger than {minimum} (the code compares size > minimum)"),
            MinimumRule::Ignored => "any size: this heuristic ignores dtr.evictee_minimum_size".to_owned(),
        }
    }

    /// How far a run that went on exceeds its budget.
    fn over_budget(&self) -> Option<String> {
        let run = self.run;
        if !run.is_over_budget() || matches!(run.status, RematStatus::OutOfMemory(_)) {
            return None;
        }
        let above = run.peak.saturating_sub(run.budget.unwrap_or_default());
        let ends = match run.counts.steps_over_budget {
            0 => String::new(),
            steps => format!(", and at the end of {}", counted(steps, "op")),
        };
        let minimum = match run.heuristic.engine.minimum_rule() {
            MinimumRule::AtLeast | MinimumRule::Above => " (tensors below dtr.evictee_minimum_size never are)",
            MinimumRule::Ignored => "",
        };
        Some(format!(
            "by {above} at the peak{ends}: no more tensors could be evicted{minimum}"
        ))
    }

    fn op_name(&self, op: u32) -> &'a str {
        self.tape.ops.get(op as usize).map_or("the end", |op| &op.name)
    }

    fn shortage(&self, shortage: &RematShortage) -> Json {
        let op = self.tape.ops.get(shortage.op as usize);
        json!({
            "op": op.map_or("", |op| &*op.name),
            "step": shortage.op,
            "requested_bytes": shortage.requested.get(),
            "in_use_bytes": shortage.in_use.get(),
            "short_bytes": shortage.short.get(),
            "held": list(&shortage.held, |id| {
                let tensor = &self.tape.tensors[*id as usize];
                json!({"tensor": &*tensor.name, "id": id, "bytes": tensor.bytes.get()})
            }),
        })
    }

    /// The refused request, the storages in its way, and the missing bytes.
    fn shortage_block(&self, shortage: &RematShortage) -> Block {
        let held = shortage.held.iter().map(|id| {
            let tensor = &self.tape.tensors[*id as usize];
            format!("{} ({})", tensor.name, tensor.bytes)
        });
        paragraph(format!(
            "op {} requests {} while {} are live: {} are missing. Nothing can be evicted; live tensors: {}",
            self.op_name(shortage.op),
            shortage.requested.exact(),
            shortage.in_use.exact(),
            shortage.short.exact(),
            first_of(held, MOST_HELD, ", ")
        ))
    }

    /// Converts numbers of ops to steps of the run's engine.
    fn steps(&self) -> impl Fn(u32) -> u32 + use<'a> {
        let tape = self.tape;
        let is_planner = self.run.heuristic.engine == Engine::StaticPlanner;
        let has_own_memory = |id: &u32| {
            let tensor = &tape.tensors[*id as usize];
            !tensor.is_external && tensor.storage == *id
        };
        let mut before = Vec::new();
        if is_planner {
            let mut count = 0;
            for op in &tape.ops {
                before.push(count);
                count += u32::from(op.outputs.iter().any(has_own_memory));
            }
            before.push(count);
        }
        move |op| before.get(op as usize).copied().unwrap_or(op)
    }

    fn events(&self) -> Rows<'a> {
        let (answer, step) = (*self, self.steps());
        let joins = matches!(self.run.heuristic.engine, Engine::Runtime(_));
        // The position of an event, and its siblings.
        let mut decisions: Vec<(usize, Vec<u32>)> = Vec::new();
        for (position, event) in self.run.events.iter().enumerate() {
            match decisions.last_mut().filter(|_| joins && event.is_sibling) {
                Some((_, siblings)) => siblings.push(event.tensor),
                None => decisions.push((position, Vec::new())),
            }
        }
        Rows::indexed(decisions.len(), move |row| {
            let (position, siblings) = &decisions[row];
            answer.decision(*position, siblings, &step)
        })
    }

    fn decision(&self, position: usize, siblings: &[u32], step: &impl Fn(u32) -> u32) -> Record<'a> {
        let run = self.run;
        let clock = match run.heuristic.engine {
            Engine::Runtime(_) => ">clock (ns)",
            Engine::StaticPlanner => ">step",
            Engine::Eager => ">clock (bytes moved)",
        };
        let event = &run.events[position];
        let choice = run.choices.get(event.choice as usize);
        let score = choice.filter(|_| event.choice != NO_CHOICE).map(|choice| choice.score);
        let names = siblings.iter().map(|id| &*self.tape.tensors[*id as usize].name);
        // JSON has no infinity.
        let number = |score: f64| serde_json::Number::from_f64(score).map_or_else(|| Json::from("inf"), Json::Number);
        Record::new()
            .key("step", step(event.step))
            .shown("op", self.op_name(event.step))
            .field("kind", "event", event.kind.name())
            .field("tensor", "tensor", &*self.tape.tensors[event.tensor as usize].name)
            .key("id", event.tensor)
            .field("copy", ">copy", event.copy)
            .field("clock", clock, event.clock)
            .field("memory_after_bytes", ">memory", Value::Count(event.memory_after.get()))
            .shown(">score", score.map(|score| format!("{score:e}")))
            .shown("with", first_of(names, MOST_SIBLINGS, ", "))
            .optional("cost", score.map(number))
            .optional("chain", (event.chain > 0).then_some(event.chain))
            .optional("siblings", (!siblings.is_empty()).then(|| json!(siblings)))
    }
}

/// A run per budget.
#[derive(Debug)]
pub struct RematSweep<'a> {
    pub tape: &'a Tape,
    pub heuristic: &'static Heuristic,
    pub unlimited: Bytes,
    pub runs: Vec<RematAnswer<'a>>,
    pub diagnostics: &'a Diagnostics,
}

impl Answer for RematSweep<'_> {
    fn page(&self) -> Page {
        let title = format!(
            "{}: {}, unconstrained peak {}",
            self.tape.name,
            self.heuristic.label,
            self.unlimited.exact()
        );
        let headings = [
            ">budget",
            ">of peak",
            "status",
            ">overhead",
            ">peak",
            ">evictions",
            ">recomputed",
        ];
        let mut table = Table::new(&headings);
        for answer in &self.runs {
            let (run, budget) = (answer.run, answer.run.budget.unwrap_or_default());
            table.row(&[
                &budget,
                &answer.part(budget),
                &run.status_words(),
                &format!("{:.3}", run.overhead()),
                &run.peak,
                &grouped(run.counts.evictions),
                &grouped(run.counts.rematerializations + run.counts.collateral),
            ]);
        }
        let mut blocks = vec![paragraph(title), table.into()];
        blocks.extend(diagnostics_blocks(self.diagnostics));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        self.runs.iter().map(Answer::json).collect::<Vec<_>>()
    }
}
