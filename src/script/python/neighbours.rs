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

/// Functions of torch that make a tensor.
const FACTORIES: [&str; 17] = [
    "arange",
    "as_tensor",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "rand",
    "randint",
    "randn",
    "randperm",
    "tensor",
    "zeros",
    "zeros_like",
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

    pub(super) fn name_neighbour(&mut self, said: Option<String>, line: usize) {
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
        let Expr::Attribute(method) = &*call.func else { return };
        // Under an unknown condition it may not run.
        if !self.path.is_empty() || self.n_lambdas > 0 {
            return;
        }
        let device = call.arguments.find_keyword("device").map(|keyword| &keyword.value);
        let owner = path_of(&method.value);
        let is_tensor = owner.as_deref().is_none_or(|owner| !self.survey.is_imported(owner));
        let names_device = |device: Option<&'a Expr>| device.is_some_and(|device| self.names_device(device));
        let is_on_device = match method.attr.as_str() {
            "cuda" | "npu" | "xpu" => is_tensor,
            "to" => is_tensor && names_device(call.arguments.args.first().or(device)),
            factory => {
                let is_torchs = owner.is_some_and(|owner| self.survey.full_name(&owner) == "torch");
                is_torchs && FACTORIES.contains(&factory) && names_device(device)
            }
        };
        if is_on_device {
            let line = self.source.line(call.start());
            let function = self.open_functions.last().copied();
            self.on_device.entry(function).or_insert(line);
        }
    }

    /// Names that are bound to a device.
    pub(super) fn found_device(&mut self, targets: &'a [Expr], value: &'a Expr) {
        let is_device = self.names_device(value);
        for target in targets.iter().filter_map(path_of) {
            if is_device {
                self.devices.insert(target);
            } else {
                self.devices.remove(&target);
            }
        }
    }

    /// Whether an expression is the text of a device, `torch.device` of one, or one of them where there is a device.
    fn names_device(&self, device: &'a Expr) -> bool {
        match device {
            Expr::Call(call) => {
                let name = call.arguments.args.first();
                self.survey.last_name(&call.func) == Some("device") && name.is_some_and(|name| self.names_device(name))
            }
            Expr::If(choice) => self.names_device(&choice.body) || self.names_device(&choice.orelse),
            Expr::StringLiteral(text) => is_device(text.value.to_str()),
            _ => path_of(device).is_some_and(|path| self.devices.contains(&path)),
        }
    }

    /// Whether a variable of the allocator is set when the allocator has started: it keeps what it was.
    pub(super) fn is_too_late(&mut self, name: &str, line: usize) -> bool {
        // Whether other functions run before is not known.
        let function = self.open_functions.last().copied();
        let Some(first) = self.on_device.get(&function).filter(|_| is_allocator_variable(name)) else {
            return false;
        };
        let message = format!(
            "{name} is set after the first tensor on the device (line {first}), when the allocator has read it already: it has no \
             effect; set it before torch is imported"
        );
        self.records.warn(line, message);
        self.records.has_neighbours = true;
        true
    }
}
