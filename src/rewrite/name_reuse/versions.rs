//! The versions of the transpiler as data: what one does that another does not.
//!
//! Version 3 is described in full by what is known of it; of the others only differences are. Where nothing is known, a
//! version does what version 3 does, and the field says so.

/// A version of the transpiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Fluid 1.0 to 1.2.
    V1,
    /// Development of 1.3.
    V2,
    /// Fluid 1.4 and 1.5.
    V3,
    /// Fluid 1.6 and later: does nothing.
    V4,
}

/// Which data types may share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRule {
    /// Equal ones, and a difference is logged.
    Equal,
    /// Equal ones at level 0, any at level 1. That a difference is not logged is deduced: the log lines of version 1
    /// that are known are those of hits.
    EqualAtLevel0,
    /// Any.
    Any,
}

/// Whose results stay on the host and take no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedRule {
    /// Those of every op with the attribute `force_cpu`.
    AnyOp,
    /// Those of `fill_constant` with that attribute.
    FillConstant,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// `Hit Cache !!!! ...`; of the other events nothing is known, they are logged as in version 3.
    HitCache,
    /// `!!! N,  NAME[shape] => ...`.
    Numbered,
}

/// What a version does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRules {
    /// Which.
    pub version: Version,
    /// The names on the command line: its number, and releases of Paddle.
    pub names: &'static [&'static str],
    /// One sentence for users.
    pub summary: &'static str,
    /// Which data types may share.
    pub types: TypeRule,
    /// The form of its log.
    pub log: LogForm,
    /// Which results with `force_cpu` take no part.
    pub forced: ForcedRule,
    /// Behaviour that is there or not.
    pub traits: VersionTraits,
    /// The ops that run a block, forward and gradient, in the order in which their blocks are looked into.
    pub families: &'static [(&'static str, &'static str)],
}

/// Behaviour that a version has or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionTraits {
    /// The pool is sorted (unknown first dimension first, then by elements); otherwise entries stand in order of death.
    pub sorts_pool: bool,
    /// Only what an op of the graph produces enters the pool. That version 2 has this is deduced: of version 1 alone it
    /// is known that it has not.
    pub wants_producer: bool,
    /// Types of `skip_opt_set` and of its elements are looked at. That versions 1 and 2 look at neither is deduced from
    /// what they make of a text.
    pub checks_skip: bool,
}

/// What is written to standard error by version 3.
pub const DEPRECATION: &str = "memory_optimize is deprecated. Use CompiledProgram and Executor\n";

const PAIRS: &[(&str, &str)] = &[("while", "while_grad"), ("conditional_block", "conditional_block_grad")];

/// The place of the middle pair is deduced.
const OLDER_PAIRS: &[(&str, &str)] = &[
    ("while", "while_grad"),
    ("parallel_do", "parallel_do_grad"),
    ("conditional_block", "conditional_block_grad"),
];

/// Every version, oldest first.
pub static VERSIONS: &[VersionRules] = &[
    VersionRules {
        version: Version::V1,
        names: &["1", "1.0", "1.1", "1.2"],
        summary: "Paddle 1.0 to 1.2: slots are tried in the order in which they became free, data variables' memory is \
                  taken too, and level 1 does not compare data types",
        types: TypeRule::EqualAtLevel0,
        log: LogForm::HitCache,
        forced: ForcedRule::FillConstant,
        traits: VersionTraits {
            sorts_pool: false,
            wants_producer: false,
            checks_skip: false,
        },
        families: OLDER_PAIRS,
    },
    VersionRules {
        version: Version::V2,
        names: &["2", "1.3"],
        summary: "Paddle 1.3 in development: data types are not compared, so a slot can have too few bytes",
        types: TypeRule::Any,
        log: LogForm::Numbered,
        forced: ForcedRule::AnyOp,
        traits: VersionTraits {
            sorts_pool: true,
            wants_producer: true,
            checks_skip: false,
        },
        families: OLDER_PAIRS,
    },
    VersionRules {
        version: Version::V3,
        names: &["3", "1.4", "1.5"],
        summary: "Paddle 1.4 and 1.5: sorted slots of the same data type",
        types: TypeRule::Equal,
        log: LogForm::Numbered,
        forced: ForcedRule::AnyOp,
        traits: VersionTraits {
            sorts_pool: true,
            wants_producer: true,
            checks_skip: true,
        },
        families: PAIRS,
    },
    VersionRules {
        version: Version::V4,
        names: &["4", "1.6", "1.7", "1.8"],
        summary: "Paddle 1.6 and later: the call warns and does nothing",
        types: TypeRule::Equal,
        log: LogForm::Numbered,
        forced: ForcedRule::AnyOp,
        traits: VersionTraits {
            sorts_pool: true,
            wants_producer: true,
            checks_skip: true,
        },
        families: PAIRS,
    },
];

impl Version {
    /// What it does.
    pub fn rules(self) -> &'static VersionRules {
        // The rows stand in the order of the enumeration.
        &VERSIONS[self as usize]
    }

    /// The version of a number (`3`) or a release (`1.5`).
    ///
    /// # Errors
    /// A sentence that lists the names there are.
    pub fn find(name: &str) -> Result<Self, String> {
        let row = VERSIONS.iter().find(|row| row.names.contains(&name.trim()));
        row.map(|row| row.version).ok_or_else(|| {
            let known: Vec<&str> = VERSIONS.iter().flat_map(|row| row.names).copied().collect();
            format!("there is no version \"{name}\"; known: {}", known.join(", "))
        })
    }
}
