//! Declarations of flags: `argparse`, `tf.flags` and absl, `@click.option`.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use super::{Flag, Need, Surveyor};

impl<'a> Surveyor<'a, '_> {
    /// `flags.DEFINE_bool(...)`, `parser.add_argument(...)`, and what parsers do with them.
    pub(super) fn flag_of_call(&mut self, name: &str, call: &'a ExprCall) {
        let text = |expr: &'a Expr| match expr {
            Expr::StringLiteral(literal) => Some(literal.value.to_str()),
            _ => None,
        };
        let keyword = |name: &str| call.arguments.find_keyword(name).map(|keyword| &keyword.value);
        let is_true = |value: &Expr| matches!(value, Expr::BooleanLiteral(literal) if literal.value);
        let mut flag = Flag {
            default: keyword("default"),
            line: self.source.line(call.start()),
            ..Flag::default()
        };
        if name.starts_with("DEFINE_") {
            let flag_name = call.arguments.find_argument_value("name", 0).and_then(text);
            flag.default = call.arguments.find_argument_value("default", 1);
            flag.need = Need::of(keyword("required").is_some_and(is_true));
            if let Some(flag_name) = flag_name {
                self.survey.flags.insert(flag_name.to_owned(), flag);
            }
        } else if name == "add_argument" {
            let names = || call.arguments.args.iter().filter_map(text);
            let long = names().find(|name| name.starts_with("--")).or_else(|| names().next());
            let flag_name = keyword("dest")
                .and_then(text)
                .or(long)
                .map(|name| name.trim_start_matches('-').replace('-', "_"));
            flag.kind = keyword("type").and_then(|kind| self.survey.last_name(kind));
            flag.implied = match keyword("action").and_then(text) {
                Some("store_true") => Some(false),
                Some("store_false") => Some(true),
                _ => None,
            };
            flag.is_argument = true;
            let is_positional = names().all(|name| !name.starts_with('-'));
            flag.need =
                Need::of(is_positional && keyword("nargs").is_none() || keyword("required").is_some_and(is_true));
            flag.is_plain = keyword("nargs").is_none()
                && keyword("action")
                    .and_then(text)
                    .is_none_or(|action| flag.implied.is_some() || action == "store");
            flag.names = names().collect();
            if let Some(flag_name) = flag_name {
                self.survey.flags.insert(flag_name, flag);
            }
        } else if matches!(name, "mark_flag_as_required" | "mark_flags_as_required") {
            let names = call.arguments.args.first();
            let names = names.map_or(&[][..], |names| match names {
                Expr::List(list) => &list.elts[..],
                Expr::Tuple(tuple) => &tuple.elts[..],
                one => std::slice::from_ref(one),
            });
            self.parsing.required.extend(names.iter().filter_map(text));
        } else if matches!(name, "parse_args" | "parse_known_args") {
            self.parsing.calls.push(call);
        } else if name == "set_defaults" {
            let named = call.arguments.keywords.iter();
            let defaults =
                named.filter_map(|default| Some((default.arg.as_ref()?.as_str(), &default.value, flag.line)));
            self.parsing.defaults.extend(defaults);
        }
    }

    /// `@click.option("--big", is_flag=True)`: an argument of the function.
    pub(super) fn click_option(&mut self, decorator: &'a Expr) {
        let Expr::Call(call) = decorator else { return };
        if self.survey.last_name(&call.func) != Some("option") {
            return;
        }
        let mut flag = Flag {
            default: call.arguments.find_keyword("default").map(|keyword| &keyword.value),
            line: self.source.line(call.start()),
            ..Flag::default()
        };
        let texts: Vec<&'a str> = call
            .arguments
            .args
            .iter()
            .filter_map(Expr::as_string_literal_expr)
            .map(|text| text.value.to_str())
            .collect();
        flag.names = texts.iter().filter(|name| name.starts_with('-')).copied().collect();
        let is_true = |name: &str| {
            let keyword = call.arguments.find_keyword(name);
            keyword.is_some_and(|keyword| matches!(&keyword.value, Expr::BooleanLiteral(literal) if literal.value))
        };
        // A name without dashes is that of the argument.
        let argument = texts
            .iter()
            .find(|name| !name.starts_with('-'))
            .or_else(|| texts.iter().find(|name| name.starts_with("--")));
        let Some(argument) = argument else { return };
        let switch = argument.split_once('/').map_or(*argument, |(on, _)| on);
        flag.implied = (is_true("is_flag") || argument.contains('/')).then_some(false);
        flag.need = Need::of(is_true("required"));
        let kind = call.arguments.find_keyword("type");
        flag.kind = kind.and_then(|kind| self.survey.last_name(&kind.value));
        let name = switch.trim_start_matches('-').replace('-', "_");
        self.survey.options_of_functions.insert(name.clone());
        self.survey.flags.entry(name).or_insert(flag);
    }
}
