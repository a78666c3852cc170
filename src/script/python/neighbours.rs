//! What a script sets of other memory systems, older names of settings, and the first tensor on the device.

use ruff_python_ast::{Expr, ExprAttribute, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::{Value, keys};
use highwater_torch::is_allocator_variable;

use super::changes::path_of;
use super::datum::{Datum, Fact};
use super::eager_dtr::EAGER_HEURISTIC;
use super::reader::Reader;
use crate::neighbours;

/// The class with which MegEngine 1.3 and 1.4 switch eager eviction on.
const OLDER_DTR: &str = "megengine.utils.dtr.DTR";

/// Its arguments, and the options that they are today.
const OLDER_DTR_ARGUMENTS: [(&str, &str); 2] = [
    ("memory_budget", keys::DTR_EVICTION_THRESHOLD),
    ("tensor_lowerbound", keys::DTR_EVICTEE_MINIMUM_SIZE),
];

/// Names of devices with a caching allocator, in front of `:0`.
const DEVICES: [&str; 4] = ["cuda", "npu", "hip", "xpu"];

fn is_device(text: &str) -> bool {
    DEVICES.contains(&text.split(':').next().unwrap_or(text))
}

impl<'a> Reader<'a> {
    pub(super) fn found_neighbour(&mut self, call: &'a ExprCall) {
        self.found_device_tensor(call);
        match self.survey.last_name(&call.func) {
            Some("set_flags") => self.found_flags(call),
            Some("DTR") => self.found_older_dtr(call),
            _ => {}
        }
    }

    /// `paddle.set_flags({"FLAGS_name": value})`.
    fn found_flags(&mut self, call: &'a ExprCall) {
        let Some(flags) = call.arguments.find_argument_value("flags", 0) else {
            return;
        };
        if let Datum::Dict(flags) = self.evaluate(flags).datum {
            for flag in &flags.fields {
                let line = self.source.line(flag.range.start());
                self.name_neighbour(neighbours::of_variable(&flag.name), line);
            }
        }
    }

    fn name_neighbour(&mut self, said: Option<String>, line: usize) {
        if let Some(said) = said {
            self.records.info(line, said);
            self.records.has_neighbours = true;
        }
    }

    /// Names that are bound to a `BuildStrategy`.
    pub(super) fn found_build_strategy(&mut self, targets: &'a [Expr], value: &'a Expr) {
        let Expr::Call(call) = value else { return };
        if self.survey.last_name(&call.func) == Some("BuildStrategy") {
            let names = targets.iter().filter_map(path_of);
            self.build_strategies.extend(names);
        }
    }

    /// `build_strategy.memory_optimize = True`.
    pub(super) fn assign_build_strategy(&mut self, target: &ExprAttribute) {
        let owner = path_of(&target.value);
        if owner.is_some_and(|owner| self.build_strategies.contains(&owner)) {
            let line = self.source.line(target.start());
            self.name_neighbour(neighbours::of_build_strategy(target.attr.as_str()), line);
        }
    }

    /// `DTR(memory_budget=5*1024**3)` of MegEngine 1.3 and 1.4.
    fn found_older_dtr(&mut self, call: &'a ExprCall) {
        let path = self.source.slice(call.func.range());
        if self.survey.full_name(path) != OLDER_DTR {
            return;
        }
        let line = self.source.line(call.start());
        let budget = call.arguments.find_argument_value(OLDER_DTR_ARGUMENTS[0].0, 0);
        let budget = budget.map(|budget| self.evaluate(budget));
        let is_off = budget
            .as_ref()
            .is_none_or(|budget| budget.as_value() == Some(&Value::Int(0)));
        if is_off {
            let message = "DTR(...) without a memory_budget above 0 evicts nothing".to_owned();
            self.records.info(line, message);
            self.records.has_neighbours = true;
            return;
        }
        for (position, (argument, key)) in OLDER_DTR_ARGUMENTS.into_iter().enumerate() {
            let Some(value) = call.arguments.find_argument_value(argument, position) else {
                continue;
            };
            let fact = self.evaluate(value);
            self.take_value(key, &fact, value.range(), call.range().into());
        }
        let heuristic = Fact::value(EAGER_HEURISTIC);
        self.take_value(keys::REMAT_HEURISTIC, &heuristic, call.range(), call.range().into());
        let message = format!(
            "DTR(memory_budget=...) of MegEngine 1.3 and 1.4 is today's {}; it is simulated by today's rules",
            keys::DTR_EVICTION_THRESHOLD
        );
        self.records.info(line, message);
    }

    /// `torch.zeros(1, device="cuda")`, `model.cuda()`, `x.to("cuda:0")`: the allocator reads its settings at the first one.
    fn found_device_tensor(&mut self, call: &'a ExprCall) {
        if self.first_on_device.is_some() || !self.is_in_order() {
            return;
        }
        let device = call.arguments.find_keyword("device").map(|keyword| &keyword.value);
        let is_on_device = match &*call.func {
            Expr::Attribute(method) => match method.attr.as_str() {
                name @ ("cuda" | "npu" | "xpu") => {
                    // `torch.cuda(...)` is no call of a tensor.
                    path_of(&method.value).is_none_or(|path| self.survey.full_name(&path) != "torch") && is_device(name)
                }
                "to" => call
                    .arguments
                    .args
                    .first()
                    .or(device)
                    .is_some_and(|device| self.names_device(device)),
                // Other calls of this name state where a device is, not that something is put there.
                "device" | "set_device" | "Generator" | "autocast" | "load" => false,
                _ => device.is_some_and(|device| self.names_device(device)),
            },
            _ => false,
        };
        if is_on_device {
            self.first_on_device = Some(self.source.line(call.start()));
        }
    }

    /// Whether an expression is the text of a device, or `torch.device` of one.
    fn names_device(&self, device: &'a Expr) -> bool {
        if let Expr::Call(call) = device
            && self.survey.last_name(&call.func) == Some("device")
        {
            let name = call.arguments.args.first();
            return name.is_some_and(|name| self.names_device(name));
        }
        let fact = self.evaluate(device);
        fact.note.is_none() && fact.as_value().and_then(Value::as_text).is_some_and(is_device)
    }

    /// Whether this place runs in the order of the script: outside of functions, or in one whose call is followed.
    fn is_in_order(&self) -> bool {
        self.n_functions == 0 || !self.following.is_empty()
    }

    /// A variable of the allocator that is set when its allocator has started.
    pub(super) fn remark_on_late(&mut self, name: &str, line: usize) {
        let Some(first) = self.first_on_device.filter(|_| self.is_in_order()) else {
            return;
        };
        if is_allocator_variable(name) {
            let message = format!(
                "{name} is set after the first tensor on the device (line {first}), when the allocator has read it already: it has \
                 no effect; set it before torch is imported"
            );
            self.records.warn(line, message);
        }
    }
}
