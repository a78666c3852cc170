//! Settings, variables and configurations in the order of the walk through a script.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ruff_text_size::TextSize;
use serde_json::Value as Json;

use highwater_model::diagnostics::Severity;
use highwater_model::workload::SchedulePlan;
use highwater_options::{Framework, Value};

use super::arms::Path;
use super::constructors::RUN_CONFIG;
use super::datum::{Made, Message, Object};
use super::frameworks::Frameworks;
use super::optimizers::OptimizerNames;
use super::training::Training;
use crate::config_document::{ConfigDevice, NotFollowed};
use crate::torch_pin::TorchPin;

/// An option that the script sets.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// May be unknown.
    pub(super) key: String,
    pub(super) value: Value,
    /// The value as JSON, where the script has JSON.
    pub(super) json: Option<Json>,
    pub(super) line: usize,
    /// The position in the order of settings.
    pub(super) at: TextSize,
    /// The position of the configuration, a call of `NPURunConfig` for example.
    pub(super) run: Option<usize>,
    pub(super) path: Path,
    /// The assumption behind the value, as words after the name of the option.
    pub(super) note: Option<Rc<str>>,
    /// Whether a remark says already that nothing reads it.
    pub(super) is_unread: bool,
}

/// A variable that the script sets or removes.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) text: VariableText,
    pub(super) line: usize,
    pub(super) path: Path,
    pub(super) note: Option<Rc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VariableText {
    Known(String),
    /// Set to a value known only at run time.
    Unread,
    Removed,
}

#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub(super) severity: Severity,
    pub(super) line: usize,
    /// A sentence without the line.
    pub(super) message: String,
}

/// The constructor of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owner {
    #[default]
    Unknown,
    /// The call of the class, or the one that adds the optimizer.
    Call(Made),
    /// The line that binds an optimizer from elsewhere.
    Line(usize),
}

/// A session configuration that the script makes.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub(super) name: Option<String>,
    pub(super) line: usize,
    /// Whether it is only bound to a name that the script does not pass on.
    pub(super) is_idle: bool,
}

/// A configuration: a call of `NPURunConfig` or of another class, or the parameters of one optimizer.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// The class, or [`PARAMETER_MAP`].
    pub(super) class: &'static str,
    /// The name that the script binds it to.
    pub(super) name: Option<String>,
    /// Another name that is accepted: that of the optimizer.
    pub(super) alias: Option<String>,
    pub(super) owner: Owner,
    /// The configuration of the optimizer, where it is known.
    pub(super) config: Option<Made>,
    pub(super) line: usize,
    /// Groups with an object among the arguments.
    pub(super) groups: BTreeSet<&'static str>,
    /// Options with an unknown value.
    pub(super) open: BTreeSet<String>,
    /// Whether there are further arguments known only at run time.
    pub(super) is_partial: bool,
    /// Whether nothing reads its settings.
    pub(super) is_idle: bool,
}

/// The session around a script, from comments of a written one.
#[derive(Debug, Default)]
pub(super) struct SessionFacts {
    pub(super) schedule: Option<SchedulePlan>,
    pub(super) device: Option<ConfigDevice>,
    pub(super) evaluation: bool,
    pub(super) framework: Option<Framework>,
}

#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) settings: Vec<Setting>,
    pub(super) variables: Vec<Variable>,
    pub(super) runs: Vec<Run>,
    /// Whether there are more of them than are read.
    pub(super) leaves_out_runs: bool,
    /// Objects of groups with the conditions around them; `NPURunConfig` may take them.
    pub(super) objects: Vec<(Rc<Object>, Path)>,
    /// By start of an object the call that takes it.
    pub(super) passed: BTreeMap<Made, Option<usize>>,
    pub(super) remarks: Vec<Remark>,
    /// Whether settings of other memory systems are named.
    pub(super) has_neighbours: bool,
    /// Whether highwater wrote the script.
    pub(super) is_written: bool,
    /// Options of parameter maps in a field that the adapter does not read.
    pub(super) unread: Vec<String>,
    /// The release of torch that cells of a notebook install.
    pub(super) pin: TorchPin,
    pub(super) not_followed: Vec<NotFollowed>,
    pub(super) frameworks: Frameworks,
    pub(super) optimizer_names: OptimizerNames,
    pub(super) training: Training,
    /// The starts of configurations that are passed to another call as `config`.
    pub(super) used: BTreeSet<Made>,
    pub(super) sessions: BTreeMap<Made, Session>,
    /// Optimizers in the order of the script.
    pub(super) optimizers: Vec<Rc<Message>>,
    pub(super) session: SessionFacts,
    /// Lines that assign a text to a field of bytes.
    pub(super) text_lines: BTreeSet<usize>,
}

/// The class of an optimizer's parameters.
pub(super) const PARAMETER_MAP: &str = "parameter_map";

impl Run {
    /// The name in messages.
    pub(super) fn shown(&self) -> String {
        if self.class == PARAMETER_MAP {
            "this parameter_map".to_owned()
        } else {
            format!("this {}(...)", self.class)
        }
    }

    /// Where the script makes it, whichever of its entries are read.
    pub(super) fn place(&self) -> usize {
        match self.owner {
            Owner::Call(made) => made.at.to_usize(),
            Owner::Line(line) => line,
            Owner::Unknown => self.line,
        }
    }

    /// Whether it is a configuration of the adapter, of which a script may have several.
    pub(super) fn is_configuration(&self) -> bool {
        self.class == PARAMETER_MAP || self.class == RUN_CONFIG.class
    }
}

impl Records {
    /// The position of the configuration by the start of its call.
    pub(super) fn run_at(&self, made: Made) -> Option<usize> {
        self.runs.iter().position(|run| run.owner == Owner::Call(made))
    }

    /// The position of the parameters of an optimizer.
    pub(super) fn parameter_map(&mut self, parameters: Run) -> usize {
        let known = self
            .runs
            .iter()
            .position(|run| run.class == PARAMETER_MAP && run.owner == parameters.owner);
        known.unwrap_or_else(|| {
            self.runs.push(parameters);
            self.runs.len() - 1
        })
    }

    /// The name of a configuration in the script.
    pub(super) fn name_of(&self, run: &Run) -> Option<String> {
        let session = run.config.and_then(|config| self.sessions.get(&config));
        let of_session = session.and_then(|session| session.name.clone());
        of_session.or_else(|| run.name.clone())
    }

    /// Replaces an object that changed after its call.
    pub(super) fn replace_object(&mut self, changed: &Rc<Object>) {
        for (object, _) in &mut self.objects {
            if object.made() == changed.made() {
                *object = Rc::clone(changed);
            }
        }
    }

    pub(super) fn set(&mut self, setting: Setting) {
        self.settings.push(setting);
    }

    pub(super) fn warn(&mut self, line: usize, message: String) {
        self.remark(Severity::Warning, line, message);
    }

    pub(super) fn info(&mut self, line: usize, message: String) {
        self.remark(Severity::Info, line, message);
    }

    pub(super) fn remark(&mut self, severity: Severity, line: usize, message: String) {
        self.remarks.push(Remark {
            severity,
            line,
            message,
        });
    }
}
