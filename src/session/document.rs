//! What is saved and compared: sources, options, environment, device, schedule.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::bookmarks::Bookmark;
use super::files::stream_name;
use super::samples::Sample;
use crate::analysis::{Configuration, LaneId, LaneSet, LaneStrategies, Pin};
use crate::import::{IMPORTERS, importer};
use crate::options::{Environment, Options, keys, resolve_device};
use crate::workload::{Device, DimValues, SchedulePlan};

/// Where a graph comes from.
#[derive(Clone, Debug)]
pub enum SourceSpec {
    /// A file; `-` is standard input.
    Path(PathBuf),
    /// A bundled sample.
    Sample(&'static Sample),
    /// Content without a path (dropped onto the window).
    Bytes {
        /// The name shown to users.
        name: String,
        /// The content.
        bytes: Arc<[u8]>,
    },
    /// Another source, read as this format whatever its content looks like.
    As {
        /// The source.
        source: Box<Self>,
        /// The importer's name.
        format: &'static str,
    },
}

impl SourceSpec {
    /// The source of a command-line argument: `sample:NAME` or a path.
    ///
    /// # Errors
    /// [`super::FileError::UnknownSample`].
    pub fn from_argument(argument: &str) -> Result<Self, super::FileError> {
        let Some(name) = argument.strip_prefix("sample:") else {
            return Ok(Self::Path(PathBuf::from(argument)));
        };
        super::sample(name)
            .map(Self::Sample)
            .ok_or_else(|| super::FileError::UnknownSample {
                name: name.to_owned(),
                known: super::SAMPLES
                    .iter()
                    .map(|sample| sample.name)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// The same source, read as a format; `None` asks the content again.
    ///
    /// # Errors
    /// [`super::FileError::UnknownFormat`].
    pub fn opened_as(self, format: Option<&str>) -> Result<Self, super::FileError> {
        let plain = match self {
            Self::As { source, .. } => *source,
            other => other,
        };
        let Some(name) = format else { return Ok(plain) };
        let Some(row) = importer(name) else {
            return Err(super::FileError::UnknownFormat {
                name: name.to_owned(),
                known: IMPORTERS.iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
            });
        };
        Ok(Self::As {
            source: Box::new(plain),
            format: row.name,
        })
    }

    /// The format that it is read as, where the user chose one.
    pub const fn chosen_format(&self) -> Option<&'static str> {
        match self {
            Self::As { format, .. } => Some(format),
            _ => None,
        }
    }

    /// The text that names it on the command line and in messages.
    pub fn label(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Sample(sample) => format!("sample:{}", sample.name),
            Self::Bytes { name, .. } => name.clone(),
            Self::As { source, .. } => source.label(),
        }
    }

    /// A short name for titles.
    pub fn title(&self) -> String {
        match self {
            Self::Path(path) => match stream_name(path) {
                Some(name) => name.to_owned(),
                None => path.file_name().map_or_else(
                    || path.display().to_string(),
                    |name| name.to_string_lossy().into_owned(),
                ),
            },
            Self::Sample(sample) => sample.title.to_owned(),
            Self::Bytes { name, .. } => name.clone(),
            Self::As { source, .. } => source.title(),
        }
    }
}

impl PartialEq for SourceSpec {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a == b,
            (Self::Sample(a), Self::Sample(b)) => a.name == b.name,
            (Self::Bytes { bytes: a, .. }, Self::Bytes { bytes: b, .. }) => Arc::ptr_eq(a, b),
            (
                Self::As { source: a, format },
                Self::As {
                    source: b,
                    format: other,
                },
            ) => a == b && format == other,
            _ => false,
        }
    }
}

/// Everything the user chose. Small and cheap to clone; equality says whether an answer is current.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Graphs of the session, in order.
    pub sources: Vec<SourceSpec>,
    /// What of the sources is looked at by itself ([`Workload::parts`](crate::workload::Workload::parts)); `None` is the
    /// whole session.
    pub part: Option<String>,
    /// Whether each training graph's forward phase runs beside it as an evaluation graph.
    pub with_evaluation: bool,
    /// Overrides.
    pub options: Options,
    /// Options of a configuration file that this version does not know, kept for writing it again.
    pub unknown_options: Map<String, Json>,
    /// Fields of a configuration file that this version does not know, kept likewise.
    pub unknown_fields: Map<String, Json>,
    /// Environment variables.
    pub environment: Environment,
    /// Iterations and values of symbolic dimensions.
    pub plan: SchedulePlan,
    /// How the static arenas of single lanes are placed.
    pub strategies: LaneStrategies,
    /// What the lanes are compared for.
    pub lanes: LaneSet,
    /// Steps with notes, in order of steps. The answer does not depend on them.
    pub bookmarks: Vec<Bookmark>,
    /// Configurations to stand beside what is set: a lane each, in this order, under names of their own.
    pub pins: Vec<Pin>,
    /// The lane that figures of others are compared with, where one was chosen. The answer does not depend on it.
    pub baseline: Option<LaneId>,
}

impl Document {
    /// A document of these sources with default settings.
    pub fn new(sources: Vec<SourceSpec>) -> Self {
        let plan = SchedulePlan {
            iterations: preset_iterations(&sources),
            dims: presets_of(&sources),
            ..SchedulePlan::default()
        };
        Self {
            sources,
            part: None,
            with_evaluation: false,
            options: Options::default(),
            unknown_options: Map::new(),
            unknown_fields: Map::new(),
            environment: Environment::default(),
            plan,
            strategies: LaneStrategies::default(),
            lanes: LaneSet::default(),
            bookmarks: Vec::new(),
            pins: Vec::new(),
            baseline: None,
        }
    }

    /// What is set, as it could be pinned.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            options: self.options.clone(),
            environment: self.environment.clone(),
            plan: self.plan.clone(),
        }
    }

    /// Values that the samples among the sources suggest for symbolic dimensions.
    pub fn presets(&self) -> DimValues {
        presets_of(&self.sources)
    }

    /// The device that the options name, with the memory that they state; an unknown profile (the rules report it)
    /// acts as the default one.
    pub fn device(&self) -> Device {
        resolve_device(&self.options).unwrap_or_else(|_reported| {
            let mut options = self.options.clone();
            options.reset(keys::DEVICE);
            resolve_device(&options).expect("the default profile is bundled")
        })
    }

    /// The `highwater plan ...` command for a placement problem.
    pub fn plan_command_line(&self, strategy: &str) -> String {
        // `plan` takes one file; which of several has the part is not known here.
        let source = match &self.sources[..] {
            [only] => only.label(),
            _ => "FILE".to_owned(),
        };
        let part = self.part_words().map_or_else(String::new, |words| format!(" {words}"));
        format!("highwater plan {}{part} --strategy {strategy}", quote(&source))
    }

    fn part_words(&self) -> Option<String> {
        self.part.as_ref().map(|name| format!("--graph {}", quote(name)))
    }

    /// The `highwater compare ...` command that prints the same figures.
    pub fn command_line(&self, policy: Option<u8>) -> String {
        let mut words = self.words("compare");
        if let Some(policy) = policy {
            words.push(format!("--policies {policy}"));
        }
        words.join(" ")
    }

    /// The `highwater export ...` command that writes the same file.
    pub fn export_command_line(&self, name: &str) -> String {
        let mut words = self.words("export");
        words.push(format!("--to {}", quote(name)));
        words.join(" ")
    }

    /// A command on these sources with these settings.
    fn words(&self, command: &str) -> Vec<String> {
        let mut words = vec!["highwater".to_owned(), command.to_owned()];
        words.extend(self.sources.iter().map(|source| quote(&source.label())));
        words.extend(self.part_words());
        let format = self.sources.first().and_then(SourceSpec::chosen_format);
        if let Some(format) = format.filter(|_| self.sources.iter().all(|source| source.chosen_format() == format)) {
            words.push(format!("--open-as {format}"));
        }
        if self.with_evaluation {
            words.push("--evaluation".to_owned());
        }
        for (key, value) in self.options.overrides() {
            words.push(format!("--set {}", quote(&format!("{key}={value}"))));
        }
        for (name, value) in self.environment.iter() {
            words.push(format!("--env {}", quote(&format!("{name}={value}"))));
        }
        for (name, values) in &self.plan.dims {
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            words.push(format!("--dim {}", quote(&format!("{name}={}", values.join(",")))));
        }
        for entry in &self.plan.entries {
            words.push(format!("--run {}", quote(&entry.to_string())));
        }
        for (own, name) in &self.plan.names {
            words.push(format!("--name {}", quote(&format!("{own}={name}"))));
        }
        // A sample has iterations of its own where nobody asks for others.
        if self.plan.iterations != 1 || preset_iterations(&self.sources) != 1 {
            words.push(format!("--iterations {}", self.plan.iterations));
        }
        words
    }
}

/// The iterations that samples suggest, at least 1.
pub fn preset_iterations(sources: &[SourceSpec]) -> u32 {
    let suggested = sources.iter().filter_map(|source| match source {
        SourceSpec::Sample(sample) => Some(sample.iterations),
        SourceSpec::Path(_) | SourceSpec::Bytes { .. } | SourceSpec::As { .. } => None,
    });
    suggested.max().unwrap_or(1).max(1)
}

/// Values that samples suggest for symbolic dimensions.
pub fn presets_of(sources: &[SourceSpec]) -> DimValues {
    let mut presets = DimValues::new();
    for source in sources {
        if let SourceSpec::Sample(sample) = source {
            let dims = sample.dims.iter();
            presets.extend(dims.map(|(name, values)| ((*name).to_owned(), values.to_vec())));
        }
    }
    presets
}

/// A word as a POSIX shell reads it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quote("a/b.json"), "a/b.json");
        assert_eq!(quote("my model.onnx"), "'my model.onnx'");
        assert_eq!(quote("it's"), r"'it'\''s'");
    }
}
