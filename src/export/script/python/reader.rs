//! The state that the stages from evaluation on share.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::StmtFunctionDef;

use super::arms::Path;
use super::records::Records;
use super::scopes::Scopes;
use super::source::Source;
use super::survey::Survey;

/// A function whose body is still to be read, and its class.
pub(super) type Pending<'a> = (&'a StmtFunctionDef, Option<&'a str>);

/// The state of the walk through a script.
pub(super) struct Reader<'a> {
    pub(super) source: Source<'a>,
    pub(super) survey: Survey<'a>,
    pub(super) scopes: Scopes,
    /// Variables that the script has set so far, with their lines.
    pub(super) environment: BTreeMap<String, (String, usize)>,
    pub(super) records: Records,
    /// The unknown conditions around this place.
    pub(super) path: Path,
    /// Classes around this place.
    pub(super) classes: Vec<&'a str>,
    /// Functions of each open scope; their bodies are read at the end of the scope, when all names are bound.
    pub(super) pending: Vec<Vec<Pending<'a>>>,
    /// Names that the innermost function declares as global.
    pub(super) globals: Vec<&'a str>,
    /// Pairs of names that may be bound to the same dictionary, list or object, in both orders.
    pub(super) shared: BTreeSet<(String, String)>,
    /// Whether assumptions, such as the defaults of flags, choose among branches with settings.
    pub(super) trusts_assumptions: bool,
    /// Whether a loop is followed round by round: what one round leaves out, another may take.
    pub(super) is_in_rounds: bool,
    /// Whether an assumption left out a branch with settings.
    pub(super) drops_by_assumption: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: Source<'a>, survey: Survey<'a>) -> Self {
        Self {
            source,
            survey,
            scopes: Scopes::new(),
            environment: BTreeMap::new(),
            records: Records::default(),
            path: Path::new(),
            classes: Vec::new(),
            pending: Vec::new(),
            globals: Vec::new(),
            shared: BTreeSet::new(),
            trusts_assumptions: true,
            is_in_rounds: false,
            drops_by_assumption: false,
        }
    }
}
