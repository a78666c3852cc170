//! `argparse`: literal argument lists of `parse_args([...])`, which are not followed, and `set_defaults(...)`.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall};

use super::survey::Flag;

/// Calls of parsers.
#[derive(Default)]
pub(super) struct Parsing<'a> {
    pub(super) calls: Vec<&'a ExprCall>,
    /// Keyword arguments of `set_defaults` with their lines.
    pub(super) defaults: Vec<(&'a str, &'a Expr, usize)>,
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
        // Other parsers take the command line.
        let is_list = |call: &&ExprCall| matches!(call.arguments.find_argument_value("args", 0), Some(Expr::List(list)) if !list.elts.is_empty());
        let has_list = !self.calls.is_empty() && self.calls.iter().all(is_list);
        for flag in flags.values_mut().filter(|flag| flag.is_argument) {
            flag.may_be_given = has_list;
        }
    }
}
