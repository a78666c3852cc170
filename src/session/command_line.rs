//! Command lines that reproduce the figures of a document, for users to copy; for a POSIX shell.
//!
//! Where the document has a file, the commands name it, with flags for settings beyond it as far as flags can express them;
//! otherwise they name the sources, with a flag for every setting.

use std::path::Path;

use super::document::{Document, SourceSpec, preset_iterations};
use super::document_file::seen_from;
use super::shell_quote::{shell_flag, shell_path};
use highwater_analysis::LaneGoal;

/// The file of a document, and the folder in which commands run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The name of the document's file, and its content.
    pub file: Option<(&'a str, &'a Document)>,
    /// The folder of that file: paths of sources are relative to it.
    pub folder: Option<&'a Path>,
    /// Whether that file names files outside its folder.
    pub names_outside: bool,
    pub runs_there: bool,
    /// Pins beyond those of the file, as values of `--pin`.
    pub pins: &'a [String],
}

#[derive(Clone, Copy, Debug)]
pub struct CommandLine<'a> {
    document: &'a Document,
    origin: Origin<'a>,
}

impl<'a> CommandLine<'a> {
    pub const fn new(document: &'a Document, origin: Origin<'a>) -> Self {
        Self { document, origin }
    }

    /// The `highwater plan ...` command for a placement problem.
    pub fn plan(&self, strategy: &str) -> String {
        // `plan` takes one file, and which of several holds the problem is not known here.
        let source = match &self.document.sources[..] {
            [only] => shell_path(&self.source_in_command(only)),
            _ => "FILE".to_owned(),
        };
        let part = self.part_words().map_or_else(String::new, |words| format!(" {words}"));
        format!("highwater plan {source}{part} --strategy {strategy}")
    }

    /// The `highwater compare ...` command that prints the same figures.
    pub fn compare(&self, policy: Option<u8>) -> String {
        let mut words = self.words("compare");
        if let Some(policy) = policy {
            words.push(format!("--policies {policy}"));
        }
        words.join(" ")
    }

    /// The `highwater export ...` command that writes the same file.
    pub fn export(&self, name: &str) -> String {
        let mut words = self.words("export");
        words.push(format!("--to {}", shell_path(name)));
        words.join(" ")
    }

    /// The document's file, where flags can express every setting beyond it.
    pub fn file(&self) -> Option<(&'a str, &'a Document)> {
        let (name, base) = self.origin.file?;
        let now = self.document;
        let options = base
            .options
            .overrides()
            .all(|(key, _)| now.options.overrides().any(|(known, _)| known == key));
        let environment = base
            .environment
            .iter()
            .all(|(key, _)| now.environment.iter().any(|(known, _)| known == key));
        let dims = base.plan.dims.keys().all(|dim| now.plan.dims.contains_key(dim));
        let names = base.plan.names.keys().all(|own| now.plan.names.contains_key(own));
        let entries = base.plan.entries.is_empty() || !now.plan.entries.is_empty();
        let others = now.sources.starts_with(&base.sources)
            && now.strategies == base.strategies
            && now.recording_rules == base.recording_rules
            && now.allocator_settings.starts_with(&base.allocator_settings);
        let shown = (base.part.is_none() || now.part.is_some()) && (now.with_evaluation || !base.with_evaluation);
        let pins = now.pins.starts_with(&base.pins) && self.says_pins(base.pins.len());
        let is_said = options && environment && dims && names && entries && others && shown && pins;
        is_said.then_some((name, base))
    }

    /// Whether the commands have every pin.
    pub fn has_pins(&self) -> bool {
        self.file().is_some() || self.says_pins(0)
    }

    /// The name of a source: relative to the folder of the document where it is one of its sources, else as given.
    pub fn label(&self, source: &SourceSpec) -> String {
        let is_its = self.origin.file.is_none_or(|(_, base)| base.sources.contains(source));
        let path = source.path().filter(|_| is_its);
        let seen = self.origin.folder.zip(path).filter(|(_, path)| path.is_absolute());
        let seen = seen.and_then(|(folder, path)| seen_from(path, folder));
        seen.unwrap_or_else(|| source.label())
    }

    /// Whether commands have relative paths.
    pub fn is_relative(&self) -> bool {
        let is_relative = |path: &str| !Path::new(path).is_absolute();
        if let Some((name, _)) = self.file() {
            return is_relative(name);
        }
        let paths = self.document.sources.iter().filter(|source| source.path().is_some());
        paths
            .map(|source| self.source_in_command(source))
            .any(|path| is_relative(&path))
    }

    pub const fn runs_beside_file(&self) -> bool {
        self.origin.runs_there && self.origin.folder.is_some()
    }

    fn says_pins(&self, n_known: usize) -> bool {
        self.document.pins.len() == n_known + self.origin.pins.len()
    }

    fn source_in_command(&self, source: &SourceSpec) -> String {
        if self.origin.runs_there {
            return self.label(source);
        }
        source.label()
    }

    fn part_words(&self) -> Option<String> {
        self.document.part.as_ref().map(|name| shell_flag("--graph", name))
    }

    /// A command on these sources with these settings.
    fn words(&self, command: &str) -> Vec<String> {
        let document = self.document;
        let file = self.file();
        let base = file.map(|(_, base)| base);
        let mut words = vec!["highwater".to_owned(), command.to_owned()];
        words.extend(file.map(|(name, _)| shell_path(name)));
        if file.is_some() && self.origin.names_outside {
            words.push("--allow-outside".to_owned());
        }
        let known = base.map_or(0, |base| base.sources.len());
        let sources = &document.sources[known..];
        words.extend(sources.iter().map(|source| shell_path(&self.source_in_command(source))));
        if base.is_none_or(|base| base.part != document.part) {
            words.extend(self.part_words());
        }
        let format = sources.first().and_then(SourceSpec::chosen_format);
        if let Some(format) = format.filter(|_| sources.iter().all(|source| source.chosen_format() == format)) {
            words.push(format!("--open-as {format}"));
        }
        if document.with_evaluation && !base.is_some_and(|base| base.with_evaluation) {
            words.push("--evaluation".to_owned());
        }
        words.extend(self.settings(base));
        words.extend(self.schedule(base));
        if document.goal != base.map_or_else(LaneGoal::default, |base| base.goal) {
            words.push(format!("--goal {}", document.goal.name()));
        }
        if base.is_some() || self.says_pins(0) {
            words.extend(self.origin.pins.iter().map(|pin| shell_flag("--pin", pin)));
        }
        words
    }

    /// Flags for options and variables beyond those of a document.
    fn settings(&self, base: Option<&Document>) -> Vec<String> {
        let document = self.document;
        let is_set =
            |key: &str, value| base.is_some_and(|base| base.options.overrides().any(|pair| pair == (key, value)));
        let options = document.options.overrides().filter(|(key, value)| !is_set(key, *value));
        let options = options.map(|(key, value)| shell_flag("--set", &format!("{key}={value}")));
        let is_given = |pair| base.is_some_and(|base| base.environment.iter().any(|known| known == pair));
        let variables = document.environment.iter().filter(|pair| !is_given(*pair));
        let variables = variables.map(|(name, value)| shell_flag("--env", &format!("{name}={value}")));
        options.chain(variables).collect()
    }

    /// Flags for the schedule beyond that of a document.
    fn schedule(&self, base: Option<&Document>) -> Vec<String> {
        let plan = &self.document.plan;
        let known = base.map(|base| &base.plan);
        let mut words = Vec::new();
        for (name, values) in &plan.dims {
            if known.and_then(|known| known.dims.get(name)) == Some(values) {
                continue;
            }
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            words.push(shell_flag("--dim", &format!("{name}={}", values.join(","))));
        }
        if known.is_none_or(|known| known.entries != plan.entries) {
            let entries = plan.entries.iter();
            words.extend(entries.map(|entry| shell_flag("--run", &entry.to_string())));
        }
        for (own, name) in &plan.names {
            if known.and_then(|known| known.names.get(own)) != Some(name) {
                words.push(shell_flag("--name", &format!("{own}={name}")));
            }
        }
        let usual = known.map_or(1, |known| known.iterations);
        // A sample has its own iterations unless a flag sets others.
        let is_preset = known.is_none() && preset_iterations(&self.document.sources) != 1;
        if plan.iterations != usual || is_preset {
            words.push(format!("--iterations {}", plan.iterations));
        }
        words
    }
}

impl Document {
    /// The `highwater compare ...` command that prints the same figures, by its sources.
    pub fn command_line(&self, policy: Option<u8>) -> String {
        CommandLine::new(self, Origin::default()).compare(policy)
    }
}
