//! `argparse`: literal argument lists of `parse_args([...])`, and `set_defaults(...)`.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall};

use super::survey::{Flag, Need};

/// The statement of a literal list about a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A flag without value is there.
    Switch,
    Text(String),
}

/// Calls of parsers.
#[derive(Default)]
pub(super) struct Parsing<'a> {
    pub(super) calls: Vec<&'a ExprCall>,
    /// Keyword arguments of `set_defaults` with their lines.
    pub(super) defaults: Vec<(&'a str, &'a Expr, usize)>,
    /// Names of `mark_flag_as_required`.
    pub(super) required: Vec<&'a str>,
}

impl<'a> Parsing<'a> {
    /// Says what is known about the flags of parsers.
    pub(super) fn apply(self, flags: &mut BTreeMap<String, Flag<'a>>) {
        for (name, value, line) in self.defaults {
            let flag = flags.entry(name.to_owned()).or_default();
            flag.default = Some(value);
            flag.implied = None;
            flag.line = line;
        }
        for flag in self.required {
            if let Some(flag) = flags.get_mut(flag) {
                flag.need = Need::Required;
            }
        }
        // Several parsers may share the flags.
        let [only] = self.calls[..] else {
            return;
        };
        let Some(Expr::List(list)) = only.arguments.find_argument_value("args", 0) else {
            return;
        };
        let tokens: Option<Vec<&str>> = list
            .elts
            .iter()
            .map(|token| match token {
                Expr::StringLiteral(text) => Some(text.value.to_str()),
                _ => None,
            })
            .collect();
        let is_plain = flags.values().all(|flag| !flag.is_argument || flag.is_plain);
        if let Some(given) = tokens.filter(|_| is_plain).and_then(|tokens| given_by(&tokens, flags)) {
            for (name, flag) in flags.iter_mut().filter(|(_, flag)| flag.is_argument) {
                flag.is_final = true;
                flag.given = given.get(name).cloned();
            }
        }
    }
}

/// The values of a list by flag; `None` where it is not understood.
fn given_by(tokens: &[&str], flags: &BTreeMap<String, Flag<'_>>) -> Option<BTreeMap<String, Given>> {
    let mut positional: Vec<(&String, &Flag<'_>)> = flags
        .iter()
        .filter(|(_, flag)| flag.is_argument && flag.names.iter().all(|name| !name.starts_with('-')))
        .collect();
    positional.sort_by_key(|(_, flag)| flag.line);
    let mut positional = positional.into_iter();
    let mut given = BTreeMap::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        let (option, joined) = match token.split_once('=') {
            Some((option, value)) if token.starts_with("--") => (option, Some(value)),
            _ => (*token, None),
        };
        if !option.starts_with('-') {
            given.insert(positional.next()?.0.clone(), Given::Text(option.to_owned()));
            continue;
        }
        let (name, flag) = flags.iter().find(|(_, flag)| flag.names.contains(&option))?;
        let value = match (flag.implied, joined) {
            (Some(_), None) => Given::Switch,
            (Some(_), Some(_)) => return None,
            (None, Some(value)) => Given::Text(value.to_owned()),
            (None, None) => Given::Text((*tokens.next()?).to_owned()),
        };
        given.insert(name.clone(), value);
    }
    Some(given)
}
