//! The versions of the transpiler as data.
//!
//! Version 3 is fully described by its source; of the others only differences are known. Elsewhere a version is assumed
//! to behave like version 3, and the field states it.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Fluid 1.0 to 1.2.
    V1,
    /// Development of 1.3.
    V2,
    /// Fluid 1.4 and 1.5.
    V3,
    /// Fluid 1.6 and later: no effect.
    V4,
}

/// Data types that may share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRule {
    /// Equal ones; a difference is logged.
    Equal,
    /// Equal ones at level 0, any at level 1. That a difference is not logged is deduced: the known log lines of
    /// version 1 are those of hits.
    EqualAtLevel0,
    Any,
}

/// Ops whose results stay on the host and are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedRule {
    /// Every op with the attribute `force_cpu`.
    AnyOp,
    /// `fill_constant` with that attribute.
    FillConstant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// `Hit Cache !!!! ...`; other events are not known and logged as in version 3.
    HitCache,
    /// `!!! N,  NAME[shape] => ...`.
    Numbered,
}

/// Behaviour of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRules {
    pub version: Version,
    /// Names on the command line: its number, and releases of Paddle.
    pub names: &'static [&'static str],
    /// The release by which the option names it.
    pub release: &'static str,
    /// One sentence for users.
    pub summary: &'static str,
    pub types: TypeRule,
    pub log: LogForm,
    pub forced: ForcedRule,
    pub traits: VersionTraits,
    /// The ops that run a block, forward and gradient, in the order in which their blocks are analysed.
    pub families: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionTraits {
    /// The pool is sorted (unknown first dimension first, then by elements); otherwise entries are in order of death.
    pub sorts_pool: bool,
    /// Only names that an op of the graph produces enter the pool. For version 2 this is deduced: only version 1 is
    /// known not to do so.
    pub wants_producer: bool,
    /// Types of `skip_opt_set` and of its elements are checked. That versions 1 and 2 check neither is deduced from
    /// their behaviour for a text.
    pub checks_skip: bool,
}

/// Text on standard error of version 3.
pub const DEPRECATION: &str = "memory_optimize is deprecated. Use CompiledProgram and Executor\n";

const PAIRS: &[(&str, &str)] = &[("while", "while_grad"), ("conditional_block", "conditional_block_grad")];

/// The place of the middle pair is deduced.
const OLDER_PAIRS: &[(&str, &str)] = &[
    ("while", "while_grad"),
    ("parallel_do", "parallel_do_grad"),
    ("conditional_block", "conditional_block_grad"),
];

const V3: VersionRules = VersionRules {
    version: Version::V3,
    names: &["3", "1.4", "1.5"],
    release: "1.5",
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
};

/// Oldest first.
pub static VERSIONS: &[VersionRules] = &[
    VersionRules {
        version: Version::V1,
        names: &["1", "1.0", "1.1", "1.2"],
        release: "1.2",
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
        release: "1.3",
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
    V3,
    VersionRules {
        version: Version::V4,
        names: &["4", "1.6", "1.7", "1.8"],
        release: "1.6",
        summary: "Paddle 1.6 and later: the call warns and does nothing",
        ..V3
    },
];

impl Version {
    pub fn rules(self) -> &'static VersionRules {
        // The rows are in the order of the enumeration.
        &VERSIONS[self as usize]
    }

    /// Finds the version of a number (`3`) or a release (`1.5`).
    ///
    /// # Errors
    /// A sentence that lists the known names.
    pub fn find(name: &str) -> Result<Self, String> {
        let row = VERSIONS.iter().find(|row| row.names.contains(&name.trim()));
        row.map(|row| row.version).ok_or_else(|| {
            let known: Vec<&str> = VERSIONS.iter().flat_map(|row| row.names).copied().collect();
            format!("there is no version \"{name}\"; known: {}", known.join(", "))
        })
    }
}
