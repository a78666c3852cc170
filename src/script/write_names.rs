//! The names in an expression of a script: whether a written script, which has imports and no other statements of its source, evaluates it.

use std::collections::BTreeSet;

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_parser::parse_expression;

/// Modules that a written script imports where an expression names them.
const MODULES: &[&str] = &["os", "tf"];

/// Functions of every Python that only compute.
const BUILTINS: &[&str] = &[
    "abs", "bool", "bytes", "dict", "float", "int", "len", "list", "max", "min", "round", "set", "sorted", "str",
    "sum", "tuple",
];

/// Attributes that the source defines, although they belong to a module: flags of TensorFlow.
const DEFINED_ELSEWHERE: &[&str] = &["flags", "FLAGS"];

#[derive(Default)]
struct Names {
    modules: BTreeSet<&'static str>,
    has_undefined: bool,
}

impl<'a> Visitor<'a> for Names {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => match MODULES.iter().find(|module| **module == name.id.as_str()) {
                Some(module) => {
                    self.modules.insert(module);
                }
                None => self.has_undefined |= !BUILTINS.contains(&name.id.as_str()),
            },
            Expr::Attribute(attribute) => {
                self.has_undefined |= DEFINED_ELSEWHERE.contains(&attribute.attr.as_str());
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The modules that an expression needs; `None` where it names anything else, or is no expression. The reader has to accept the text:
/// the parser is recursive.
pub(super) fn modules_of(text: &str) -> Option<BTreeSet<&'static str>> {
    let parsed = parse_expression(text).ok()?;
    let mut names = Names::default();
    names.visit_expr(parsed.expr());
    (!names.has_undefined).then_some(names.modules)
}

#[cfg(test)]
mod tests {
    use super::modules_of;

    #[test]
    fn an_expression_needs_its_modules() {
        for (text, expected) in [
            ("2 * 3", Some(&[][..])),
            ("int(os.environ.get(\"P\", 2))", Some(&["os"])),
            (
                "tf.ConfigProto(allow_soft_placement=bool(os.getenv(\"S\")))",
                Some(&["os", "tf"]),
            ),
            ("f\"{os.getpid()}/x\"", Some(&["os"])),
            ("policy", None),
            ("FLAGS.policy", None),
            ("tf.app.flags.FLAGS.policy", None),
            ("f\"{rank}\"", None),
            ("[x for x in (1, 2)]", None),
            ("oh (no", None),
        ] {
            let modules = modules_of(text).map(|modules| modules.into_iter().collect::<Vec<_>>());
            assert_eq!(modules.as_deref(), expected, "{text}");
        }
    }
}
