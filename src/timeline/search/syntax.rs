//! The table of conditions, from which parser, errors and help of the search field are made.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Name,
    Op,
    DType,
    Role,
    Phase,
    /// The path before the name; of a recorded block its call stack.
    Scope,
    /// Of a recorded block: its call site.
    At,
    /// Of a recorded block: any line of its call stack.
    Stack,
    /// Of a recorded block: the source file of its call site.
    File,
    /// Of a recorded block: the innermost annotation at its allocation.
    Annotation,
    /// Of a recorded block: what was being compiled.
    Compile,
    /// Of a recorded block: the user's note.
    Metadata,
    /// Of a recorded block.
    Stream,
    /// Of a recorded block: the kind of its segment, with the private pool.
    Pool,
    /// Of a recorded block: an address within it.
    Address,
    /// In bytes.
    Size,
    /// Number of steps on which it is live.
    Life,
    /// A step on which it is live.
    Live,
    /// Position of its run, from 0.
    Run,
    /// Position of a lane that shows it, from 1.
    Lane,
}

#[derive(Clone, Copy, Debug)]
pub struct ConditionRow {
    pub condition: Condition,
    pub word: &'static str,
    pub help: &'static str,
    pub example: &'static str,
}

/// In the order of the help.
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
        help: "the path before its name, or its call stack",
        example: "scope:encoder/layer_0",
    },
    ConditionRow {
        condition: Condition::At,
        word: "at",
        help: "the call site of a recorded block: file, line, function",
        example: "at:model.py:138",
    },
    ConditionRow {
        condition: Condition::Stack,
        word: "stack",
        help: "any line of the call stack of a recorded block",
        example: "stack:train.py:72",
    },
    ConditionRow {
        condition: Condition::File,
        word: "file",
        help: "the source file of the call site of a recorded block",
        example: "file:model.py",
    },
    ConditionRow {
        condition: Condition::Annotation,
        word: "annotation",
        help: "the innermost annotation at the allocation of a recorded block",
        example: "annotation:forward",
    },
    ConditionRow {
        condition: Condition::Compile,
        word: "compile",
        help: "what was being compiled when a recorded block was allocated",
        example: "compile:\"0/1\"",
    },
    ConditionRow {
        condition: Condition::Metadata,
        word: "metadata",
        help: "the user's note on the allocation of a recorded block",
        example: "metadata:\"epoch 3\"",
    },
    ConditionRow {
        condition: Condition::Stream,
        word: "stream",
        help: "the stream of a recorded block",
        example: "stream:7",
    },
    ConditionRow {
        condition: Condition::Pool,
        word: "pool",
        help: "large, small or private pool of the segment of a recorded block",
        example: "pool:\"(0, 4)\"",
    },
    ConditionRow {
        condition: Condition::Address,
        word: "address",
        help: "an address within a recorded block, or a range",
        example: "address:0x7f1c00000000",
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
        help: "number of steps on which it is live",
        example: "life:>100",
    },
    ConditionRow {
        condition: Condition::Live,
        word: "live",
        help: "live on a step, or on some step of a range",
        example: "live:100..200",
    },
    ConditionRow {
        condition: Condition::Run,
        word: "run",
        help: "in which run, from 0",
        example: "run:2",
    },
    ConditionRow {
        condition: Condition::Lane,
        word: "lane",
        help: "in which lane, from 1; lanes of policies hold the same tensors",
        example: "lane:2",
    },
];

/// Forms without a condition: an example, and its meaning.
pub static FORMS: &[(&str, &str)] = &[
    ("relu", "in the name of the tensor or its op, or in its calling stack"),
    ("/layer\\d+$/", "the same as a regular expression"),
    ("relu|gelu", "one of several"),
    ("-op:conv", "not what matches"),
    ("\"two words\"", "spaces, colons and bars as text"),
];

impl Condition {
    pub(super) fn row(self) -> &'static ConditionRow {
        let found = CONDITIONS.iter().find(|row| row.condition == self);
        found.unwrap_or(&CONDITIONS[0])
    }

    /// Whether its values are numbers.
    pub(super) const fn is_amount(self) -> bool {
        matches!(
            self,
            Self::Size | Self::Life | Self::Live | Self::Run | Self::Lane | Self::Stream | Self::Address
        )
    }

    /// Ignores case.
    pub(super) fn find(word: &str) -> Option<Self> {
        let row = CONDITIONS.iter().find(|row| row.word.eq_ignore_ascii_case(word));
        row.map(|row| row.condition)
    }

    /// The word at most two edits away.
    pub(super) fn near(word: &str) -> Option<&'static str> {
        let word = word.to_ascii_lowercase();
        let distances = CONDITIONS.iter().map(|row| (distance(&word, row.word), row.word));
        let nearest = distances.min_by_key(|(distance, _)| *distance);
        nearest.filter(|(distance, _)| *distance <= 2).map(|(_, word)| word)
    }
}

/// Levenshtein distance. O(one x other).
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
