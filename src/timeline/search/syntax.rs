//! The conditions as a table: the parser, the errors and the help of the search field loop over it.

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The tensor's own name.
    Name,
    /// The type of its op.
    Op,
    /// Its element type.
    DType,
    /// What it is for.
    Role,
    /// The phase of its op.
    Phase,
    /// The path before its name; of a recorded block who called.
    Scope,
    /// Its bytes.
    Size,
    /// On how many steps it is held.
    Life,
    /// A step on which it is held.
    Live,
    /// The position of its run, from 0.
    Run,
}

/// One condition, explained.
#[derive(Clone, Copy, Debug)]
pub struct ConditionRow {
    /// The condition.
    pub condition: Condition,
    /// The word before the colon.
    pub word: &'static str,
    /// What it asks.
    pub help: &'static str,
    /// A value that can be written.
    pub example: &'static str,
}

/// Every condition, in the order of the help.
pub static CONDITIONS: &[ConditionRow] = &[
    ConditionRow {
        condition: Condition::Name,
        word: "name",
        help: "the tensor's own name",
        example: "name:weight",
    },
    ConditionRow {
        condition: Condition::Op,
        word: "op",
        help: "the type of the op that computes it",
        example: "op:conv|gemm",
    },
    ConditionRow {
        condition: Condition::DType,
        word: "dtype",
        help: "its data type, also as f16, bf16, i8",
        example: "dtype:f16",
    },
    ConditionRow {
        condition: Condition::Role,
        word: "role",
        help: "activation, weight, input, workspace",
        example: "role:activation",
    },
    ConditionRow {
        condition: Condition::Phase,
        word: "phase",
        help: "forward, backward, optimizer",
        example: "phase:backward",
    },
    ConditionRow {
        condition: Condition::Scope,
        word: "scope",
        help: "the path before its name, or who called",
        example: "scope:encoder/layer_0",
    },
    ConditionRow {
        condition: Condition::Size,
        word: "size",
        help: "its bytes: < <= > >= or a range, KiB MiB GiB KB MB GB",
        example: "size:>1MiB",
    },
    ConditionRow {
        condition: Condition::Life,
        word: "life",
        help: "on how many steps it is held",
        example: "life:>100",
    },
    ConditionRow {
        condition: Condition::Live,
        word: "live",
        help: "held on a step, or somewhere in a range of steps",
        example: "live:100..200",
    },
    ConditionRow {
        condition: Condition::Run,
        word: "run",
        help: "in which run, from 0",
        example: "run:2",
    },
];

/// What can be written besides conditions: an example, and what it finds.
pub static FORMS: &[(&str, &str)] = &[
    ("relu", "in the name of the tensor or its op, or in its calling stack"),
    ("/layer\\d+$/", "the same as a regular expression"),
    ("relu|gelu", "one of several"),
    ("-op:conv", "not what matches"),
    ("\"two words\"", "blanks, colons and bars as they are"),
];

impl Condition {
    /// Its row.
    pub(super) fn row(self) -> &'static ConditionRow {
        let found = CONDITIONS.iter().find(|row| row.condition == self);
        found.unwrap_or(&CONDITIONS[0])
    }

    /// The condition of a word, whatever its case.
    pub(super) fn find(word: &str) -> Option<Self> {
        let row = CONDITIONS.iter().find(|row| row.word.eq_ignore_ascii_case(word));
        row.map(|row| row.condition)
    }

    /// The condition whose word is a letter or two away.
    pub(super) fn near(word: &str) -> Option<&'static str> {
        let word = word.to_ascii_lowercase();
        let distances = CONDITIONS.iter().map(|row| (distance(&word, row.word), row.word));
        let nearest = distances.min_by_key(|(distance, _)| *distance);
        nearest.filter(|(distance, _)| *distance <= 2).map(|(_, word)| word)
    }
}

/// Letters to add, take away or change. O(one x other).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}
