//! Bodies of functions, with the arguments of the script's calls as parameters.

use ruff_python_ast::visitor::Visitor as _;
use ruff_python_ast::{Expr, ExprCall, ParameterWithDefault, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use super::datum::{Datum, Fact};
use super::evaluate::Depth;
use super::reader::Reader;

impl<'a> Reader<'a> {
    pub(super) fn function(&mut self, function: &'a StmtFunctionDef, class: Option<&'a str>) {
        let path = std::mem::take(&mut self.path);
        let globals = std::mem::take(&mut self.globals);
        let classes = std::mem::replace(&mut self.classes, class.into_iter().collect());
        let name = function.name.as_str();
        let line = self.source.line(function.name.start());
        let mut facts = Vec::new();
        for (position, parameter) in function.parameters.iter_non_variadic_params().enumerate() {
            let fact = self.parameter(function, position, parameter, class);
            facts.push((parameter.name().as_str(), fact));
        }
        self.scopes.open();
        for (name, fact) in facts {
            self.scopes.bind(name, fact, line);
        }
        let variadic = [&function.parameters.vararg, &function.parameters.kwarg];
        for parameter in variadic.into_iter().flatten() {
            let fact = Fact::unknown(&format!("is passed to {name}() in line {line}"));
            self.scopes.bind(parameter.name.as_str(), fact, line);
        }
        self.n_functions += 1;
        self.open_functions.push(function.start());
        self.returns.push(Vec::new());
        self.scope(&function.body);
        self.returns.pop();
        self.open_functions.pop();
        self.n_functions -= 1;
        drop(self.scopes.close());
        self.path = path;
        self.globals = globals;
        self.classes = classes;
    }

    /// The argument of all calls, else the default.
    fn parameter(
        &mut self,
        function: &'a StmtFunctionDef,
        position: usize,
        parameter: &'a ParameterWithDefault,
        class: Option<&'a str>,
    ) -> Fact {
        let name = parameter.name().as_str();
        let function_name = function.name.as_str();
        let default = parameter.default().map(|default| {
            self.visit_expr(default);
            let mut fact = self.evaluate(default);
            if matches!(fact.datum, Datum::Value(_)) {
                let note = format!("takes the default of the parameter \"{name}\" of {function_name}()");
                fact.note = Some(note.into());
            }
            fact
        });
        let calls = match class {
            None => self.survey.functions.get(function_name),
            Some(class) if function_name == "__init__" => self.survey.method_calls.get(class),
            Some(_) => self.survey.method_calls.get(function_name),
        };
        // The object of a method is no argument of its calls.
        let position = class.map_or(Some(position), |_| position.checked_sub(1));
        let passed = position
            .zip(calls)
            .and_then(|(position, calls)| self.passed(function_name, calls, position, name, default.as_ref()));
        passed
            .or(default)
            .or_else(|| self.decorated(function, name))
            .unwrap_or_else(|| {
                let line = self.source.line(function.name.start());
                Fact::unknown(&format!(
                    "is the parameter \"{name}\" of {function_name}() in line {line}"
                ))
            })
    }

    /// The default of an option that a decorator declares: `@click.option("--name", default=1)`.
    fn decorated(&self, function: &'a StmtFunctionDef, name: &str) -> Option<Fact> {
        let decorator = function.decorator_list.first()?;
        let is_option = self.survey.options_of_functions.contains(name);
        is_option.then(|| self.flag(&decorator.expression, name, Depth::default()))
    }

    /// The argument of all calls of a function for a parameter; `None` where no call passes any.
    fn passed(
        &self,
        function: &str,
        calls: &[&'a ExprCall],
        position: usize,
        name: &str,
        default: Option<&Fact>,
    ) -> Option<Fact> {
        let mut passed: Option<(Fact, usize)> = None;
        let mut is_given = false;
        for call in calls {
            let line = self.source.line(call.start());
            let fact = match argument(call, position, name) {
                Some(value) => {
                    is_given = true;
                    let fact = self.evaluate(value);
                    // A name may have another value at the end of the script than at the call.
                    let is_literal = value.is_literal_expr() || value.is_unary_op_expr();
                    match &fact.datum {
                        Datum::Value(_) if is_literal => Fact {
                            note: Some(format!("takes what the call of {function}() in line {line} passes").into()),
                            ..fact
                        },
                        _ => Fact::unknown(&format!(
                            "is the parameter \"{name}\" of {function}(), which line {line} passes ({})",
                            self.source.shown(value.range())
                        )),
                    }
                }
                None => default.cloned()?,
            };
            match &passed {
                None => passed = Some((fact, line)),
                Some((before, other)) if before.datum != fact.datum => {
                    return Some(Fact::unknown(&format!(
                        "is the parameter \"{name}\" of {function}(), for which lines {other} and {line} pass \
                         different values"
                    )));
                }
                Some(_) => {}
            }
        }
        passed.map(|(fact, _)| fact).filter(|_| is_given)
    }
}

fn argument<'a>(call: &'a ExprCall, position: usize, name: &str) -> Option<&'a Expr> {
    let keyword = call.arguments.find_keyword(name).map(|keyword| &keyword.value);
    let n_plain = call
        .arguments
        .args
        .iter()
        .take_while(|argument| !argument.is_starred_expr())
        .count();
    let spread = call.arguments.args.get(n_plain).filter(|_| position >= n_plain);
    let spread_names = call.arguments.keywords.iter().find(|keyword| keyword.arg.is_none());
    keyword
        .or_else(|| call.arguments.args[..n_plain].get(position))
        .or(spread)
        .or(spread_names.map(|keyword| &keyword.value))
}
