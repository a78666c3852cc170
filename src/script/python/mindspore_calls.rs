//! Calls of MindSpore: which runtime runs its graphs, and its settings of memory.
//!
//! Source: MindSpore 2.10, `ms_context.cc`: GE runs what `jit(backend="GE")` compiles, and graphs at `jit_level` O2 on Ascend devices;
//! without a level it depends on the device.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_options::{Value, find, keys};

use super::changes::path_of;
use super::datum::{Datum, Fact, Field};
use super::evaluate::{COMPUTED, Depth};
use super::frameworks::Place;
use super::reader::Reader;
use crate::mindspore::{memory_argument, of_context, of_set_memory};

/// Modes of `set_context`.
const MODES: [(&str, i64); 2] = [("GRAPH_MODE", 0), ("PYNATIVE_MODE", 1)];

/// What a script says about MindSpore.
#[derive(Debug, Default)]
pub(super) struct MindSpore {
    pub(super) is_imported: bool,
    /// `jit(backend="GE")`.
    backend: Option<Place>,
    /// The level of `set_context`, and whether the call that states it compiles a function.
    level: Option<(String, bool, Place)>,
    is_graph_mode: Option<(bool, usize)>,
    device: Option<String>,
    pub(super) compiles: bool,
}

impl MindSpore {
    /// Where GE is chosen, with remarks on what the script leaves open.
    pub(super) fn chosen(&self, remarks: &mut Vec<(usize, String)>) -> Option<Place> {
        let is_ascend = self
            .device
            .as_deref()
            .is_none_or(|device| device.eq_ignore_ascii_case("Ascend"));
        if !self.is_imported || !is_ascend {
            return None;
        }
        if let Some(place) = &self.backend {
            return Some(place.clone());
        }
        let is_graph_mode = self.is_graph_mode.is_some_and(|(is_graph, _)| is_graph);
        match (&self.level, self.is_graph_mode) {
            (Some((level, is_of_call, place)), _) if level == "O2" => {
                if *is_of_call || is_graph_mode || self.compiles {
                    return Some(place.clone());
                }
                let message =
                    "jit_level O2 without graph mode or jit compiles nothing: MindSpore uses O0 instead".to_owned();
                remarks.push((place.line, message));
                None
            }
            (None, Some((true, line))) => {
                let message = "which runtime runs these graphs depends on the device: MindSpore takes GE (with policy 2) on Ascend 910 \
                               of the first series and its own runtime on newer devices; jit_level (O2: GE) or jit(backend=...) states it";
                remarks.push((line, message.to_owned()));
                None
            }
            _ => None,
        }
    }
}

impl<'a> Reader<'a> {
    /// The number of `mindspore.GRAPH_MODE` or `PYNATIVE_MODE`.
    pub(super) fn mindspore_mode(&self, owner: &Expr, name: &str) -> Option<i64> {
        let mode = MODES.iter().find(|(known, _)| *known == name)?.1;
        let owner = path_of(owner)?;
        self.survey.full_name(&owner).starts_with("mindspore").then_some(mode)
    }

    pub(super) fn found_mindspore_call(&mut self, name: &str, call: &'a ExprCall) {
        match name {
            "set_context" => self.found_context(call),
            "set_device" => {
                if let Some(device) = call.arguments.find_argument_value("device_target", 0) {
                    let device = self.evaluate(device);
                    self.found_mindspore_device(&device);
                }
            }
            "jit" | "ms_function" => self.found_jit(call),
            "JitConfig" => {
                let level = call.arguments.find_argument_value("jit_level", 0);
                self.found_level(level, call, true);
            }
            "set_memory" => self.found_set_memory(call),
            _ => {}
        }
    }

    fn found_context(&mut self, call: &'a ExprCall) {
        // Also those of `**settings`.
        let arguments = self.arguments(&[], 0, call, Depth::default());
        for field in &arguments.fields {
            let line = self.source.line(field.range.start());
            match field.name.as_str() {
                "mode" => {
                    let last = self.source.slice(field.range).rsplit('.').next();
                    let known = MODES.iter().find(|(name, _)| last == Some(*name));
                    let known = known.map(|(_, mode)| *mode);
                    let mode = known.or_else(|| field.fact.as_value()?.as_int());
                    let is_graph = mode.map(|mode| mode == 0);
                    let known = &mut self.records.frameworks.mindspore.is_graph_mode;
                    *known = is_graph.map(|is_graph| (is_graph, line)).or(known.take());
                }
                "device_target" => self.found_mindspore_device(&field.fact),
                "jit_level" => self.take_level(&field.fact, call, false),
                "jit_config" => {
                    if let Datum::Dict(config) = &field.fact.datum
                        && let Some(level) = config.get("jit_level")
                    {
                        self.take_level(level, call, false);
                    }
                }
                "ascend_config" => self.found_ascend_config(&field.fact),
                "ge_options" => self.found_ge_options(&field.fact, field.range),
                argument => self.name_neighbour(of_context(argument), line),
            }
        }
        if arguments.is_partial {
            let line = self.source.line(call.start());
            let message = "set_context(...) takes arguments that are computed when the script runs; jit_level O2 among them gives \
                           the graphs to GE under policy 2";
            self.records.info(line, message.to_owned());
            self.records.has_neighbours = true;
        }
    }

    /// `ge_options={"global": {...}, "session": {...}}`: dictionaries of the script are found where they are; others may set the policy.
    fn found_ge_options(&mut self, options: &Fact, range: TextRange) {
        let why = match &options.datum {
            Datum::Dict(options) => {
                let parts = || options.fields.iter().filter(|field| !field.name.starts_with("ge."));
                let is_open = |field: &Field| !matches!(&field.fact.datum, Datum::Dict(part) if !part.is_partial);
                match parts().find(|field| is_open(field)) {
                    Some(part) => self.why(&part.fact.datum, part.range),
                    None if options.is_partial => COMPUTED.to_owned(),
                    None => return,
                }
            }
            other => self.why(other, range),
        };
        let fact = Fact::unknown(&format!("may be set by ge_options, which {why}"));
        self.take_value(keys::ENGINE_STATIC_MEMORY_POLICY, &fact, range, range.into());
    }

    /// `JitConfig(...)` that is bound to a name which nothing reads.
    pub(super) fn is_idle_jit_config(&self, targets: &'a [Expr], value: &'a Expr) -> bool {
        let is_one = value
            .as_call_expr()
            .is_some_and(|call| self.survey.last_name(&call.func) == Some("JitConfig"));
        let is_read = |target: &Expr| match target {
            Expr::Name(name) => self.survey.used_names.contains(name.id.as_str()),
            _ => true,
        };
        is_one && self.records.frameworks.mindspore.is_imported && !targets.iter().any(is_read)
    }

    /// `ascend_config={"atomic_clean_policy": 0}`; its `ge_options` are found as dictionaries of the engine.
    fn found_ascend_config(&mut self, config: &Fact) {
        let Datum::Dict(config) = &config.datum else { return };
        if let Some(options) = config.entry("ge_options") {
            self.found_ge_options(&options.fact, options.range);
        }
        if let Some(field) = config.entry("atomic_clean_policy").cloned() {
            let row = find(keys::ENGINE_ATOMIC_CLEAN_POLICY);
            let text = field
                .fact
                .as_value()
                .zip(row)
                .map(|(value, row)| row.kind.read(&value.to_string()));
            let fact = text.map_or(field.fact, Fact::value);
            self.take_value(keys::ENGINE_ATOMIC_CLEAN_POLICY, &fact, field.range, field.range.into());
        }
    }

    fn found_mindspore_device(&mut self, device: &Fact) {
        if let Some(Value::Text(device)) = device.as_value() {
            self.records.frameworks.mindspore.device = Some(device.clone());
        }
    }

    /// `@jit` without a call.
    pub(super) fn found_decorator(&mut self, decorator: &'a Expr) {
        let is_jit = matches!(self.survey.last_name(decorator), Some("jit" | "ms_function"));
        let mindspore = &mut self.records.frameworks.mindspore;
        mindspore.compiles |= is_jit && mindspore.is_imported;
    }

    /// `jit(backend="GE")`.
    fn found_jit(&mut self, call: &'a ExprCall) {
        self.records.frameworks.mindspore.compiles = true;
        let argument = |name: &str| call.arguments.find_keyword(name).map(|keyword| &keyword.value);
        let backend = argument("backend").map(|backend| self.evaluate(backend));
        let backend = backend.as_ref().and_then(Fact::as_value).and_then(Value::as_text);
        if backend.is_some_and(|backend| backend.eq_ignore_ascii_case("GE")) {
            self.records.frameworks.mindspore.backend = Some(self.place(call));
        }
        if let Some(options) = argument("ge_options") {
            let fact = self.evaluate(options);
            self.found_ge_options(&fact, options.range());
        }
        self.found_level(argument("jit_level"), call, true);
    }

    fn found_level(&mut self, level: Option<&'a Expr>, call: &'a ExprCall, is_of_call: bool) {
        if let Some(level) = level.map(|level| self.evaluate(level)) {
            self.take_level(&level, call, is_of_call);
        }
    }

    fn take_level(&mut self, level: &Fact, call: &'a ExprCall, is_of_call: bool) {
        let line = self.source.line(call.start());
        if let Some(Value::Text(text)) = level.as_value() {
            if let Some(note) = &level.note {
                self.records.info(line, format!("jit_level {note}"));
            }
            let place = self.place(call);
            self.records.frameworks.mindspore.level = Some((text.clone(), is_of_call, place));
        } else if level.as_value().is_none() {
            let message =
                "jit_level is computed when the script runs; with O2, GE runs the graphs under policy 2".to_owned();
            self.records.info(line, message);
        }
    }

    /// `mindspore.runtime.set_memory("10GB", "2GB", ...)`.
    fn found_set_memory(&mut self, call: &'a ExprCall) {
        let line = self.source.line(call.start());
        let positional = (0..call.arguments.args.len()).filter_map(memory_argument);
        let named = call
            .arguments
            .keywords
            .iter()
            .filter_map(|keyword| keyword.arg.as_ref());
        let said: Vec<Option<String>> = positional
            .map(of_set_memory)
            .chain(named.map(|name| of_set_memory(name.as_str())))
            .collect();
        for said in said {
            self.name_neighbour(said, line);
        }
    }
}
