//! Pairs of patterns for lines of call stacks: one is searched in the file, one in the function.

use std::collections::BTreeMap;

use regex::{Regex, RegexSet};

use super::frame_rules::{FrameRuleError, is_python_file, without_result};
use super::{RecordedName, Recording};

/// Pairs of regular expressions; one that is absent matches every line. Separators of files are `/`.
#[derive(Clone, Debug)]
pub(super) struct LinePatterns {
    files: RegexSet,
    functions: RegexSet,
}

impl LinePatterns {
    /// # Errors
    /// The first pair of which a pattern is no regular expression.
    pub(super) fn new<'p>(
        pairs: impl Iterator<Item = (Option<&'p str>, Option<&'p str>)> + Clone,
    ) -> Result<Self, FrameRuleError> {
        let error = |number: usize| {
            move |error: regex::Error| FrameRuleError {
                number,
                message: error.to_string(),
            }
        };
        for (number, (file, function)) in (1..).zip(pairs.clone()) {
            for pattern in file.iter().chain(&function) {
                Regex::new(pattern).map_err(error(number))?;
            }
        }
        Ok(Self {
            files: RegexSet::new(pairs.clone().map(|pair| pair.0.unwrap_or(""))).map_err(error(1))?,
            functions: RegexSet::new(pairs.map(|pair| pair.1.unwrap_or(""))).map_err(error(1))?,
        })
    }
}

/// A text of a recording with its position among the texts.
#[derive(Clone, Copy, Debug)]
pub struct LineText<'a> {
    pub position: u32,
    pub text: &'a str,
}

impl Recording {
    pub(super) fn line_text(&self, name: RecordedName) -> LineText<'_> {
        LineText {
            position: name.0,
            text: self.text(name),
        }
    }
}

/// Matches lines, each file and each function once.
#[derive(Debug)]
pub(super) struct LineMatcher<'a> {
    patterns: &'a LinePatterns,
    /// Numbers of pairs, ascending, and whether the file holds Python; by position of the text.
    files: BTreeMap<u32, (Box<[usize]>, bool)>,
    functions: BTreeMap<u32, Box<[usize]>>,
}

impl<'a> LineMatcher<'a> {
    pub(super) const fn new(patterns: &'a LinePatterns) -> Self {
        Self {
            patterns,
            files: BTreeMap::new(),
            functions: BTreeMap::new(),
        }
    }

    /// Whether a line is in a file that holds Python, and the pairs that match it, ascending.
    pub(super) fn matches(
        &mut self,
        file: LineText<'_>,
        function: LineText<'_>,
    ) -> (bool, impl Iterator<Item = usize>) {
        let (in_file, is_python) = self.files.entry(file.position).or_insert_with(|| {
            let path = file.text.replace('\\', "/");
            (
                self.patterns.files.matches(&path).into_iter().collect(),
                is_python_file(&path),
            )
        });
        let in_function = self.functions.entry(function.position).or_insert_with(|| {
            let text = without_result(function.text);
            self.patterns.functions.matches(text).into_iter().collect()
        });
        let both = in_file.iter().copied();
        (
            *is_python,
            both.filter(move |pair| in_function.binary_search(pair).is_ok()),
        )
    }
}
