//! Generators of a symbolic dimension's values: a list, a range, a sample, a shape range.
//!
//! ```text
//! 8, 16, 32                  a list
//! 8..64 step 8               a range, both ends included; default step 1
//! 8..1024 log 5 seed 7       a sample of 5 whose logarithms are uniform; default seed 0
//! 8~1024 samples 4           a dimension of dynamic_inputs_shape_range: 4 values evenly spread by ratio, both ends
//!                            included; default 4
//! ```
//!
//! In: a text, or a value. Out: values in order, the same on every machine: integer arithmetic and splitmix64.
//! Invariant: text round-trips.

use std::fmt;
use std::str::FromStr;

use super::samples::{log_uniform, samples};

/// Most values of one generator.
pub const MAX_VALUES: u64 = 100_000;

/// The largest value of a dimension.
const MAX_VALUE: u64 = u64::MAX >> 1;

/// Default number of values of a shape range.
const SAMPLES: u32 = 4;

/// A source of a dimension's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// These values, in this order.
    List(Vec<u64>),
    /// From the first to the last by a step; descending where the last is smaller.
    Range {
        first: u64,
        /// The bound, which is included where a whole number of steps leads to it.
        last: u64,
        /// At least 1.
        step: u64,
    },
    /// A random sample whose logarithms are uniform.
    LogUniform {
        /// At least 1.
        min: u64,
        max: u64,
        /// At least 1.
        count: u32,
        /// Equal seeds give equal values.
        seed: u64,
    },
    /// A dimension of `dynamic_inputs_shape_range`, sampled as the option is.
    ShapeRange {
        min: u64,
        max: u64,
        /// Number of values, at least 1; 1 takes only the largest.
        samples: u32,
    },
}

/// Why a text is no generator, or gives no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" {reason}")]
pub struct GeneratorError {
    pub text: String,
    /// The error and the accepted forms: the end of a sentence.
    pub reason: String,
}

impl Generator {
    /// O(1).
    pub fn n_values(&self) -> u64 {
        match self {
            Self::List(values) => values.len() as u64,
            Self::Range { first, last, step } => first.abs_diff(*last) / (*step).max(1) + 1,
            Self::LogUniform { count, .. } | Self::ShapeRange { samples: count, .. } => u64::from((*count).max(1)),
        }
    }

    /// In order; a shape range gives each value once. O(values).
    pub fn values(&self) -> Vec<u64> {
        match self {
            Self::List(values) => values.clone(),
            Self::Range { first, last, step } => {
                let way = |position: u64| (*step).max(1).saturating_mul(position);
                let value = |position: u64| {
                    if first <= last {
                        first.saturating_add(way(position))
                    } else {
                        first.saturating_sub(way(position))
                    }
                };
                (0..self.n_values().min(MAX_VALUES)).map(value).collect()
            }
            Self::LogUniform { min, max, count, seed } => {
                let mut state = *seed;
                let draws = (0..(*count).max(1)).map(|_| splitmix64(&mut state));
                draws.map(|draw| log_uniform((*min).max(1), *max, draw)).collect()
            }
            Self::ShapeRange {
                min,
                max,
                samples: count,
            } => {
                let mut values = samples(*min, *max, *count);
                values.dedup();
                values
            }
        }
    }

    /// The reason why it cannot be used, if any.
    fn problem(&self) -> Option<String> {
        let ordered = |min: u64, max: u64| {
            (max < min).then(|| format!("ends before it starts: write {max} first, and {min} behind"))
        };
        let problem = match self {
            Self::List(values) if values.is_empty() => {
                Some("has no value: write one, such as 8, or 8,16,32".to_owned())
            }
            Self::Range { step: 0, .. } => Some("has a step of 0: use 1 or more".to_owned()),
            Self::LogUniform { min: 0, .. } => {
                Some("starts at 0, which has no logarithm: start at 1 or more".to_owned())
            }
            Self::LogUniform { count: 0, .. } | Self::ShapeRange { samples: 0, .. } => {
                Some("draws no value: draw 1 or more".to_owned())
            }
            Self::LogUniform { min, max, .. } | Self::ShapeRange { min, max, .. } => ordered(*min, *max),
            Self::List(_) | Self::Range { .. } => None,
        };
        let n_values = self.n_values();
        problem.or_else(|| (n_values > MAX_VALUES).then(|| format!("gives {n_values} values, more than {MAX_VALUES}")))
    }
}

/// The next number of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
const fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(values) => {
                let texts: Vec<String> = values.iter().map(u64::to_string).collect();
                f.write_str(&texts.join(","))
            }
            Self::Range { first, last, step: 1 } => write!(f, "{first}..{last}"),
            Self::Range { first, last, step } => write!(f, "{first}..{last} step {step}"),
            Self::LogUniform { min, max, count, seed } => write!(f, "{min}..{max} log {count} seed {seed}"),
            Self::ShapeRange { min, max, samples } => write!(f, "{min}~{max} samples {samples}"),
        }
    }
}

impl FromStr for Generator {
    type Err = GeneratorError;

    fn from_str(text: &str) -> Result<Self, GeneratorError> {
        let failed = |reason: String| GeneratorError {
            text: text.trim().to_owned(),
            reason,
        };
        let generator = parsed(text).map_err(failed)?;
        match generator.problem() {
            Some(problem) => Err(failed(problem)),
            None => Ok(generator),
        }
    }
}

fn parsed(text: &str) -> Result<Generator, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(first) = words
        .first()
        .filter(|first| first.contains("..") || first.contains('~'))
    else {
        let values = text.split(',').map(number);
        return values.collect::<Result<_, _>>().map(Generator::List);
    };
    let (extent, is_shape) = match first.split_once("..") {
        Some(extent) => (extent, false),
        None => (first.split_once('~').unwrap_or_default(), true),
    };
    if is_shape && extent.1 == "-1" {
        return Err("has no upper bound: write one, such as 8~1024".to_owned());
    }
    let (low, high) = (number(extent.0)?, number(extent.1)?);
    let rest = pairs(&words[1..])?;
    match (is_shape, rest.as_slice()) {
        (false, []) => Ok(range(low, high, 1)),
        (false, [("step", step)]) => Ok(range(low, high, *step)),
        (false, [("log", count)]) => Ok(sample(low, high, *count, 0)),
        (false, [("log", count), ("seed", seed)]) => Ok(sample(low, high, *count, *seed)),
        (true, []) => Ok(shape(low, high, u64::from(SAMPLES))),
        (true, [("samples", count)]) => Ok(shape(low, high, *count)),
        _ => Err(FORMS.to_owned()),
    }
}

const FORMS: &str = "is none of 8,16,32; 8..64 step 8; 8..1024 log 5 seed 7; 8~1024 samples 4";

const fn range(first: u64, last: u64, step: u64) -> Generator {
    Generator::Range { first, last, step }
}

fn sample(min: u64, max: u64, count: u64, seed: u64) -> Generator {
    Generator::LogUniform {
        min,
        max,
        count: u32::try_from(count).unwrap_or(u32::MAX),
        seed,
    }
}

fn shape(min: u64, max: u64, count: u64) -> Generator {
    Generator::ShapeRange {
        min,
        max,
        samples: u32::try_from(count).unwrap_or(u32::MAX),
    }
}

/// Words, each followed by a number.
fn pairs<'a>(words: &[&'a str]) -> Result<Vec<(&'a str, u64)>, String> {
    let chunks = words.chunks(2);
    let one = |chunk: &[&'a str]| match chunk {
        [word, value] => value
            .parse()
            .map(|value| (*word, value))
            .map_err(|_reported| format!("has no whole number behind \"{word}\"")),
        _ => Err(FORMS.to_owned()),
    };
    chunks.map(one).collect()
}

fn number(text: &str) -> Result<u64, String> {
    let value = text.trim().parse::<u64>().ok().filter(|value| *value <= MAX_VALUE);
    value.ok_or_else(|| match text.trim() {
        "" => FORMS.to_owned(),
        text => format!("has \"{text}\" where a whole number below 2^63 belongs"),
    })
}
