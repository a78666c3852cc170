//! The declarations of the whole script: flags, attributes of classes, functions, aliases of known classes.

mod flags;
mod makers;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprAttribute, ExprCall, ExprContext, Identifier, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextSize};

use highwater_options::{CONTROL_FLOW_CALLS, Group};

use super::arguments::{Given, Parsing};
use super::changes::path_of;
use super::constructors::find_class;
use super::eager_dtr::MODULE;
use super::effects::{Changes, Effects, all_changes};
use super::messages::OPTIMIZERS;
use super::source::Source;

/// Whether a command line may leave a flag out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Need {
    #[default]
    Optional,
    Required,
}

impl Need {
    const fn of(is_required: bool) -> Self {
        if is_required { Self::Required } else { Self::Optional }
    }
}

#[derive(Default)]
pub(super) struct Flag<'a> {
    /// The argument of the declaration.
    pub(super) default: Option<&'a Expr>,
    /// The default that the declaration implies.
    pub(super) implied: Option<bool>,
    /// `int` or `float` of flags with numbers.
    pub(super) kind: Option<&'a str>,
    pub(super) line: usize,
    /// Whether it is an argument of `argparse`.
    pub(super) is_argument: bool,
    /// Whether there is no run without it.
    pub(super) need: Need,
    /// Whether it takes one value or none.
    pub(super) is_plain: bool,
    /// As on the command line, such as `--policy`; none of flags that are declared without dashes.
    pub(super) names: Vec<&'a str>,
    /// The value in the literal list that is parsed.
    pub(super) given: Option<Given>,
    /// Whether a literal list decides, so that a default is no assumption.
    pub(super) is_final: bool,
}

impl Flag<'_> {
    /// Its name as the script's user writes it, of the name of the attribute.
    pub(super) fn shown(&self, name: &str) -> String {
        let long = self.names.iter().find(|name| name.starts_with("--"));
        match long.or(self.names.first()) {
            Some(shown) => shown.split('/').next().unwrap_or(shown).to_owned(),
            None => format!("--{name}"),
        }
    }
}

/// A function that makes configurations, and the class of a method.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub(super) function: &'a StmtFunctionDef,
    pub(super) class: Option<&'a str>,
}

impl Maker<'_> {
    /// Whether the first parameter is the object or the class.
    pub(super) fn is_bound(self) -> bool {
        self.class.is_some() && !self.has_decorator("staticmethod")
    }

    fn has_decorator(self, name: &str) -> bool {
        let mut decorators = self.function.decorator_list.iter();
        decorators.any(|decorator| matches!(&decorator.expression, Expr::Name(own) if own.id.as_str() == name))
    }

    /// Whether the calls of the function run its body as it is.
    fn is_plain(self) -> bool {
        let is_method =
            self.class.is_some() && (self.has_decorator("staticmethod") || self.has_decorator("classmethod"));
        let n_known = usize::from(is_method);
        !self.function.is_async && self.function.decorator_list.len() == n_known
    }
}

#[derive(Clone, Copy)]
pub(super) struct Attribute<'a> {
    pub(super) value: &'a Expr,
    pub(super) line: usize,
}

#[derive(Default)]
pub(super) struct Survey<'a> {
    /// By the name of the attribute of the parsed arguments.
    pub(super) flags: BTreeMap<String, Flag<'a>>,
    /// Names of flags that decorators give functions as arguments.
    pub(super) options_of_functions: BTreeSet<String>,
    /// By `Class.name`.
    pub(super) attributes: BTreeMap<String, Vec<Attribute<'a>>>,
    pub(super) classes: BTreeSet<&'a str>,
    /// Classes with an `__init__`.
    pub(super) constructors: BTreeSet<&'a str>,
    /// Classes whose `__init__` calls that of a known class.
    pub(super) children: BTreeMap<&'a str, &'static Group>,
    /// Functions with their calls.
    pub(super) functions: BTreeMap<&'a str, Vec<&'a ExprCall>>,
    /// Calls by the name of the method, and those of classes by the name of the class.
    pub(super) method_calls: BTreeMap<&'a str, Vec<&'a ExprCall>>,
    effects: BTreeMap<&'a str, Effects<'a>>,
    /// By function.
    changes: BTreeMap<&'a str, Rc<Changes<'a>>>,
    /// Whether functions have changes that are not in `changes`.
    pub(super) has_more_changes: bool,
    /// Functions of the module and methods that make configurations, or call one that does, by name.
    pub(super) makers: BTreeMap<&'a str, Vec<Maker<'a>>>,
    /// Functions that seem to set something, or call one that does, by name.
    pub(super) setters: BTreeSet<&'a str>,
    /// The starts of those whose calls differ.
    varied: BTreeSet<TextSize>,
    /// Names that are read other than to reach an optimizer or to set a field.
    pub(super) used_names: BTreeSet<&'a str>,
    /// Whether the script makes a session or an estimator.
    pub(super) trains: bool,
    /// By alias the original name: `import ... as`, `Cfg = NPURunConfig`.
    aliases: BTreeMap<&'a str, &'a str>,
    /// By name its module or member: `megengine` of `mge` after `import megengine as mge`.
    modules: BTreeMap<&'a str, String>,
    /// Names that `import` binds to modules.
    imported: BTreeSet<&'a str>,
    /// Whether MegEngine's eager eviction is switched on.
    pub(super) enables_eager_dtr: bool,
    /// Functions of TensorFlow that it calls and that a rule asks for.
    pub(super) control_flow: BTreeSet<&'static str>,
}

impl<'a> Survey<'a> {
    pub(super) fn of(body: &'a [Stmt], source: &Source<'_>) -> Self {
        let mut surveyor = Surveyor {
            survey: Self::default(),
            source,
            classes: Vec::new(),
            n_functions: 0,
            definitions: BTreeMap::new(),
            calls: Vec::new(),
            parsing: Parsing::default(),
        };
        for statement in body {
            surveyor.visit_stmt(statement);
        }
        let calls = std::mem::take(&mut surveyor.calls);
        for (name, call) in calls {
            if let Some(known) = surveyor.survey.functions.get_mut(name) {
                known.push(call);
            }
            if surveyor.survey.classes.contains(name) {
                surveyor.survey.method_calls.entry(name).or_default().push(call);
            }
        }
        surveyor.find_makers();
        let (changes, is_whole) = all_changes(&surveyor.survey.effects);
        let shared = changes
            .into_iter()
            .map(|(function, changes)| (function, Rc::new(changes)));
        surveyor.survey.changes = shared.collect();
        surveyor.survey.has_more_changes = !is_whole;
        let parsing = std::mem::take(&mut surveyor.parsing);
        parsing.apply(&mut surveyor.survey.flags);
        surveyor.survey
    }

    /// The functions that a function calls, by last name.
    pub(super) fn callees(&self, function: &str) -> impl Iterator<Item = &'a str> + '_ {
        let effects = self.effects.get(function);
        effects.into_iter().flat_map(|effects| &effects.calls).copied()
    }

    /// What a call of a function changes outside the function.
    pub(super) fn changes_by(&self, function: &str) -> Rc<Changes<'a>> {
        self.changes.get(function).cloned().unwrap_or_default()
    }

    /// The calls of a function, or of the methods of its name.
    pub(super) fn calls_of(&self, maker: Maker<'a>) -> &[&'a ExprCall] {
        let calls = match maker.class {
            None => self.functions.get(maker.function.name.as_str()),
            Some(_) => self.method_calls.get(maker.function.name.as_str()),
        };
        calls.map_or(&[], Vec::as_slice)
    }

    /// Whether the calls of a function pass different values, or one that is no literal.
    pub(super) fn is_varied(&self, maker: Maker<'a>) -> bool {
        self.varied.contains(&maker.function.start())
    }

    /// A dotted name with its first part as imported: `megengine.dtr` of `mge.dtr`.
    pub(super) fn full_name(&self, path: &str) -> String {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let module = self.modules.get(first).map_or(first, String::as_str);
        if rest.is_empty() {
            module.to_owned()
        } else {
            format!("{module}.{rest}")
        }
    }

    /// Whether a dotted name begins with an imported module.
    pub(super) fn is_imported(&self, path: &str) -> bool {
        self.imported.contains(path.split('.').next().unwrap_or(path))
    }

    pub(super) fn original<'b>(&self, name: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.aliases.get(name).copied().unwrap_or(name)
    }

    /// The last part of a dotted name without aliases: `NPURunConfig` of `npu_config.NPURunConfig`.
    pub(super) fn last_name<'b>(&self, expr: &'b Expr) -> Option<&'b str>
    where
        'a: 'b,
    {
        match expr {
            Expr::Name(name) => Some(self.original(name.id.as_str())),
            Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
            _ => None,
        }
    }
}

struct Surveyor<'a, 's> {
    survey: Survey<'a>,
    source: &'s Source<'s>,
    classes: Vec<&'a str>,
    /// The number of functions around this place.
    n_functions: usize,
    /// Functions of the module and methods by name.
    definitions: BTreeMap<&'a str, Vec<Maker<'a>>>,
    calls: Vec<(&'a str, &'a ExprCall)>,
    parsing: Parsing<'a>,
}

impl<'a> Visitor<'a> for Surveyor<'a, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for name in &import.names {
                    let first = name.name.split('.').next().unwrap_or_default();
                    self.survey
                        .imported
                        .insert(name.asname.as_ref().map_or(first, Identifier::as_str));
                    if let Some(alias) = &name.asname {
                        self.survey.modules.insert(alias.as_str(), name.name.to_string());
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                for name in &import.names {
                    let bound = name.asname.as_ref().unwrap_or(&name.name);
                    if let Some(module) = &import.module {
                        let member = format!("{module}.{}", name.name);
                        self.survey.modules.insert(bound.as_str(), member);
                    }
                    if let Some(alias) = &name.asname {
                        self.survey.aliases.insert(alias.as_str(), name.name.as_str());
                    }
                }
            }
            Stmt::ClassDef(class) => return self.class(class),
            Stmt::FunctionDef(function) => {
                for decorator in &function.decorator_list {
                    self.click_option(&decorator.expression);
                }
                let effects = Effects::of(function, self.source);
                let name = function.name.as_str();
                if self.classes.is_empty() {
                    self.survey.functions.entry(name).or_default();
                }
                self.survey.effects.insert(name, effects);
                if self.n_functions == 0 {
                    let class = self.classes.last().copied();
                    self.definitions
                        .entry(name)
                        .or_default()
                        .push(Maker { function, class });
                }
                self.n_functions += 1;
                walk_stmt(self, statement);
                self.n_functions -= 1;
                return;
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.assigned(target, &assign.value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assigned(&assign.target, value);
                }
            }
            // Counts as two assignments, so that neither is taken for the only one.
            Stmt::AugAssign(assign) => {
                self.assigned(&assign.target, &assign.value);
                self.assigned(&assign.target, &assign.value);
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) if is_configuring(attribute) => return,
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.survey.used_names.insert(name.id.as_str());
            }
            _ => {}
        }
        if let Expr::Call(call) = expr {
            self.call(call);
            match &*call.func {
                Expr::Name(name) => self.calls.push((name.id.as_str(), call)),
                Expr::Attribute(method) => {
                    let calls = self.survey.method_calls.entry(method.attr.as_str()).or_default();
                    calls.push(call);
                }
                _ => {}
            }
        }
        walk_expr(self, expr);
    }
}

/// Whether an attribute is a target, or leads to the optimizers of a session configuration.
fn is_configuring(attribute: &ExprAttribute) -> bool {
    let mut is_configuring = attribute.ctx == ExprContext::Store || attribute.attr.as_str() == OPTIMIZERS;
    let mut owner = &*attribute.value;
    while let Expr::Attribute(inner) = owner {
        is_configuring |= inner.attr.as_str() == OPTIMIZERS;
        owner = &inner.value;
    }
    is_configuring && owner.is_name_expr()
}

impl<'a> Surveyor<'a, '_> {
    fn class(&mut self, class: &'a StmtClassDef) {
        let name = class.name.as_str();
        self.survey.classes.insert(name);
        let has_constructor = class
            .body
            .iter()
            .any(|statement| matches!(statement, Stmt::FunctionDef(def) if def.name.as_str() == "__init__"));
        let known = class
            .bases()
            .iter()
            .filter_map(|base| self.survey.last_name(base))
            .find(|base| find_class(base).is_some());
        if has_constructor {
            self.survey.constructors.insert(name);
        }
        if let Some(group) = known.and_then(find_class).filter(|_| has_constructor) {
            self.survey.children.insert(name, group);
        }
        if let Some(known) = known.filter(|_| !has_constructor) {
            self.survey.aliases.insert(name, known);
        }
        self.classes.push(name);
        for statement in &class.body {
            match statement {
                Stmt::Assign(assign) => {
                    for target in &assign.targets {
                        self.class_field(name, target, &assign.value);
                    }
                }
                Stmt::AnnAssign(assign) => {
                    if let Some(value) = &assign.value {
                        self.class_field(name, &assign.target, value);
                    }
                }
                _ => {}
            }
            self.visit_stmt(statement);
        }
        self.classes.pop();
    }

    fn class_field(&mut self, class: &str, target: &Expr, value: &'a Expr) {
        if let Expr::Name(field) = target {
            self.attribute(format!("{class}.{}", field.id), value);
        }
    }

    fn assigned(&mut self, target: &'a Expr, value: &'a Expr) {
        match target {
            Expr::Attribute(attribute) => {
                let Expr::Name(owner) = &*attribute.value else {
                    return;
                };
                let owner = match (owner.id.as_str(), self.classes.last()) {
                    ("self" | "cls", Some(class)) => class,
                    (owner, _) => owner,
                };
                self.attribute(format!("{owner}.{}", attribute.attr), value);
            }
            Expr::Name(name) => {
                let original = self.survey.last_name(value);
                if let Some(original) = original.filter(|original| find_class(original).is_some()) {
                    self.survey.aliases.insert(name.id.as_str(), original);
                }
            }
            _ => {}
        }
    }

    fn attribute(&mut self, key: String, value: &'a Expr) {
        let line = self.source.line(value.start());
        let attributes = self.survey.attributes.entry(key).or_default();
        // Whether there is more than one is all that counts.
        if attributes.len() < 2 {
            attributes.push(Attribute { value, line });
        }
    }

    fn call(&mut self, call: &'a ExprCall) {
        let Some(name) = self.survey.last_name(&call.func) else {
            return;
        };
        if name == "enable"
            && let Expr::Attribute(method) = &*call.func
            && let Some(path) = path_of(&method.value)
        {
            self.survey.enables_eager_dtr |= self.survey.full_name(&path) == MODULE;
        }
        self.survey
            .control_flow
            .extend(CONTROL_FLOW_CALLS.into_iter().filter(|known| *known == name));
        // GE's own sessions take no session configuration; they are imported by name.
        let is_session = name.ends_with("Session") && call.func.is_attribute_expr();
        self.survey.trains |= is_session || name.ends_with("Estimator");
        self.flag_of_call(name, call);
    }
}
