//! What to run: arguments as the standard harness takes them, and the variables.

use std::ops::Range;
use std::path::PathBuf;

/// The rounds to run: of each sample, or one of one sample.
#[derive(Debug)]
pub(crate) enum Rounds {
    /// Shared among the samples of a target and ending.
    All(Range<u64>),
    One {
        sample: String,
        round: u64,
    },
}

impl Rounds {
    fn of_variables() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        if let Some(one) = variable("HIGHWATER_MUTATION") {
            let (sample, round) = one.rsplit_once(':').expect("HIGHWATER_MUTATION is NAME:ROUND");
            return Self::One {
                sample: sample.to_owned(),
                round: round.parse().expect("HIGHWATER_MUTATION is NAME:ROUND"),
            };
        }
        let text = variable("HIGHWATER_MUTATIONS").unwrap_or_else(|| "1000".to_owned());
        let (first, end) = text.split_once("..").unwrap_or(("0", &text));
        let number = |text: &str| text.parse().expect("HIGHWATER_MUTATIONS is COUNT or FIRST..END");
        Self::All(number(first)..number(end))
    }

    /// The rounds of a sample with a share of all.
    pub(crate) fn of(&self, name: &str, share: u64, all: u64) -> Option<Range<u64>> {
        let part = |round: &u64| round.saturating_mul(share).div_ceil(all.max(1));
        match self {
            Self::All(Range { start, end }) => Some(part(start)..part(end)),
            Self::One { sample, round } => (name == sample).then(|| *round..round + 1),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Arguments {
    targets: Vec<String>,
    skipped: Vec<String>,
    pub(crate) threads: usize,
    pub(crate) is_list: bool,
    /// Where the corpus is written instead of a run.
    pub(crate) corpus: Option<PathBuf>,
    pub(crate) rounds: Rounds,
}

impl Arguments {
    pub(crate) fn of_process() -> Self {
        let mut arguments = Self {
            targets: Vec::new(),
            skipped: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            is_list: false,
            corpus: None,
            rounds: Rounds::of_variables(),
        };
        let mut given = std::env::args().skip(1);
        while let Some(argument) = given.next() {
            match argument.as_str() {
                "--list" => arguments.is_list = true,
                "--write-corpus" => arguments.corpus = given.next().map(PathBuf::from),
                "--skip" => arguments.skipped.extend(given.next()),
                "--test-threads" => {
                    let threads = given.next().and_then(|text| text.parse().ok());
                    arguments.threads = threads.unwrap_or(1);
                }
                flag if flag.starts_with('-') => {}
                _ => arguments.targets.push(argument),
            }
        }
        arguments
    }

    /// Whether a target is among those that the arguments name.
    pub(crate) fn takes(&self, target: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|name| target.contains(name));
        (self.targets.is_empty() || is_in(&self.targets)) && !is_in(&self.skipped)
    }
}
