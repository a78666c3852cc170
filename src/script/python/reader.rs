//! The state that the stages from evaluation on share.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::StmtFunctionDef;
use ruff_text_size::{TextRange, TextSize};

use super::arms::Path;
use super::datum::{Fact, Made};
use super::records::Records;
use super::scopes::Scopes;
use super::source::Source;
use super::survey::Survey;

/// A function whose body is still to be read, and its class.
pub(super) type Pending<'a> = (&'a StmtFunctionDef, Option<&'a str>);

/// The largest number of rounds and followed calls of a script.
const MAX_ALL_ROUNDS: u32 = 1024;

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
    /// The number of the round of a loop or of the followed call around this place; 0 outside of both.
    pub(super) round: u32,
    n_rounds: u32,
    /// Results of followed calls, and lists of comprehensions.
    pub(super) results: BTreeMap<Made, Fact>,
    /// The starts of the functions whose calls are being followed, and what their bodies return.
    pub(super) following: Vec<TextSize>,
    pub(super) returns: Vec<Vec<Fact>>,
    /// The number of functions around this place.
    pub(super) n_functions: usize,
    /// The starts of the functions of which a call was followed.
    pub(super) followed: BTreeSet<TextSize>,
    /// Whether an assumption left out a branch with settings.
    pub(super) drops_by_assumption: bool,
    /// By start of the function around it (none: the script) the line of the first tensor on a device.
    pub(super) on_device: BTreeMap<Option<TextSize>, usize>,
    /// Names that are bound to a device.
    pub(super) devices: BTreeSet<String>,
    /// The starts of the functions around this place, the innermost last; followed calls are a part of the caller's flow.
    pub(super) open_functions: Vec<TextSize>,
    /// The number of lambdas around this place.
    pub(super) n_lambdas: u32,
    /// Bodies that are left out.
    pub(super) dropped: Vec<TextRange>,
    /// Names that are bound to a `BuildStrategy` of Paddle.
    pub(super) build_strategies: BTreeSet<String>,
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
            round: 0,
            n_rounds: 0,
            results: BTreeMap::new(),
            following: Vec::new(),
            returns: Vec::new(),
            n_functions: 0,
            followed: BTreeSet::new(),
            drops_by_assumption: false,
            on_device: BTreeMap::new(),
            devices: BTreeSet::new(),
            open_functions: Vec::new(),
            n_lambdas: 0,
            dropped: Vec::new(),
            build_strategies: BTreeSet::new(),
        }
    }

    /// The identity of what an expression makes here.
    pub(super) const fn made(&self, at: TextSize) -> Made {
        Made { at, round: self.round }
    }

    /// Whether there are further rounds.
    pub(super) const fn has_rounds(&self) -> bool {
        self.n_rounds < MAX_ALL_ROUNDS
    }

    /// Reads in a new round.
    pub(super) fn in_round<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.n_rounds += 1;
        let around = std::mem::replace(&mut self.round, self.n_rounds);
        let result = read(self);
        self.round = around;
        result
    }
}
