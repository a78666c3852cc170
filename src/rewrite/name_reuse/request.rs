//! A call of `memory_optimize`, and the requests that the original refuses.

use super::versions::Version;
use highwater_model::workload::BlockProgram;

/// The attribute `op_role` of ops that update parameters.
const OPTIMIZE: i64 = 2;

/// The type of `skip_opt_set` in the caller's script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkipKind {
    /// A set of names; a missing argument is an empty set.
    #[default]
    Set,
    List,
    Tuple,
    /// One text: the names joined.
    Text,
    Variables,
    /// A list whose first element is a variable.
    MixedList,
    /// A number of this Python type.
    Number(&'static str),
}

/// The name on the command line of a list of names followed by the number 3.
const BAD_ELEMENT: &str = "bad_element";

impl SkipKind {
    /// The kinds with their names on the command line.
    pub const ALL: &[(&str, Self)] = &[
        ("set", Self::Set),
        ("list", Self::List),
        ("tuple", Self::Tuple),
        ("str", Self::Text),
        ("variables", Self::Variables),
        ("mixed_list", Self::MixedList),
        (BAD_ELEMENT, Self::List),
    ];
}

/// The variables that the caller skips.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkipOptSet {
    pub kind: SkipKind,
    pub names: Vec<Box<str>>,
    /// The first element that is neither a variable nor a text, as Python prints it.
    pub other: Option<Box<str>>,
}

impl SkipOptSet {
    /// The same names in an argument of another type; `None` where no type has that name.
    pub fn of_kind(self, name: &str) -> Option<Self> {
        let (name, kind) = *SkipKind::ALL.iter().find(|row| row.0 == name)?;
        let other = if name == BAD_ELEMENT {
            Some("3".into())
        } else {
            self.other
        };
        Some(Self { kind, other, ..self })
    }
}

/// A level that the original refuses.
pub const REFUSED_LEVEL: i64 = -1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameReuseRequest {
    /// 0: same shape; 1: any slot with enough elements; `True` is 1; other values are refused.
    pub level: i64,
    /// Names to skip.
    pub skip: SkipOptSet,
    /// Whether gradients that optimizers read are skipped too.
    pub skip_grads: bool,
    /// Whether every decision is logged.
    pub print_log: bool,
    /// Most lines of that log that are kept; all are counted.
    pub most_log_lines: usize,
    pub version: Version,
}

impl Default for NameReuseRequest {
    fn default() -> Self {
        Self {
            level: 0,
            skip: SkipOptSet::default(),
            skip_grads: false,
            print_log: false,
            most_log_lines: usize::MAX,
            version: Version::V3,
        }
    }
}

impl NameReuseRequest {
    /// The skipped names, or the exception that the original raises (class and text). Checks are in the original's
    /// order.
    pub(super) fn protected(&self, program: &BlockProgram) -> Result<Vec<Box<str>>, String> {
        if !matches!(self.level, 0 | 1) {
            return Err("ValueError: only support opt_level 0 or 1.".to_owned());
        }
        let is_checked = self.version.rules().traits.checks_skip;
        match self.skip.kind {
            SkipKind::Tuple | SkipKind::Text | SkipKind::Number(_) if is_checked => {
                return Err("ValueError: only support skip_opt_set as set.".to_owned());
            }
            SkipKind::Number(class) => return Err(format!("TypeError: '{class}' object is not iterable")),
            _ => {}
        }
        let mut names = self.given(is_checked);
        if self.skip_grads {
            let gradients = optimizer_gradients(program)?;
            self.can_be_added_to(is_checked)?;
            names.extend(gradients);
        }
        match &self.skip.other {
            Some(other) if is_checked => Err(format!("TypeError: {other} should be Variable or str")),
            _ => Ok(names),
        }
    }

    /// The names in the caller's set. Versions that do not check its type take a text as its letters, and names never
    /// equal variables (deduced from their behaviour for a text).
    fn given(&self, is_checked: bool) -> Vec<Box<str>> {
        let names = self.skip.names.iter();
        match self.skip.kind {
            SkipKind::Text if !is_checked => {
                let letters = names.flat_map(|name| name.chars());
                letters.map(|letter| letter.to_string().into()).collect()
            }
            SkipKind::Variables if !is_checked => Vec::new(),
            SkipKind::MixedList if !is_checked => names.skip(1).cloned().collect(),
            _ => names.cloned().collect(),
        }
    }

    /// Versions that do not check the type add gradients to any argument: only sets support that. That they crash for a
    /// text is known; the wording and the other types are deduced.
    fn can_be_added_to(&self, is_checked: bool) -> Result<(), String> {
        let class = match self.skip.kind {
            _ if is_checked || self.skip.names.is_empty() && self.skip.other.is_none() => return Ok(()),
            SkipKind::Set | SkipKind::Variables => return Ok(()),
            SkipKind::Text => "str",
            SkipKind::Tuple => "tuple",
            SkipKind::List | SkipKind::MixedList => "list",
            SkipKind::Number(class) => class,
        };
        Err(format!("AttributeError: '{class}' object has no attribute 'update'"))
    }
}

/// The gradients that optimizer ops of the global block list after their parameter.
pub(super) fn optimizer_gradients(program: &BlockProgram) -> Result<Vec<Box<str>>, String> {
    let mut gradients = Vec::new();
    let ops = program.blocks.first().map_or(&[][..], |block| &block.ops);
    for op in ops.iter().filter(|op| op.role == Some(OPTIMIZE)) {
        match op.role_variables.as_deref() {
            None => return Err("RuntimeError: Attribute op_role_var is not found".to_owned()),
            Some([]) => {}
            Some([_]) => return Err("IndexError: list index out of range".to_owned()),
            Some([_, gradient, ..]) => gradients.push(gradient.clone()),
        }
    }
    Ok(gradients)
}
