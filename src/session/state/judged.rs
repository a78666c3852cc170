//! Settings as rules judge them: findings, effective values, states of the files that options name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::document::Document;
use super::super::files::all_paths;
use highwater_options::{
    Environment, Finding, NamedPaths, NoFiles, Options, SeenFiles, Value, check_scheduled, effective_values,
};

#[derive(Debug)]
pub(super) struct Judged {
    findings: Arc<[Finding]>,
    effective: BTreeMap<String, Value>,
    /// The effective values of the defaults.
    unset: BTreeMap<String, Value>,
    /// The last states of the files that options name.
    files: Arc<SeenFiles>,
    /// The paths of `files`.
    looked_at: NamedPaths,
}

impl Default for Judged {
    fn default() -> Self {
        let unset = effective_values(&Options::default(), &Environment::default(), &NoFiles);
        Self {
            findings: Arc::default(),
            effective: BTreeMap::new(),
            unset: unset.into_iter().collect(),
            files: Arc::default(),
            looked_at: NamedPaths::default(),
        }
    }
}

impl Judged {
    pub(super) const fn findings(&self) -> &Arc<[Finding]> {
        &self.findings
    }

    pub(super) const fn files(&self) -> &Arc<SeenFiles> {
        &self.files
    }

    /// The effective value of an option, where it differs from the field.
    pub(super) fn acts_as(&self, document: &Document, key: &str) -> Option<&Value> {
        let acting = self.effective.get(key).filter(|value| **value != Value::Unset)?;
        // Another value than the default comes from the environment or from another option.
        let said = document.options.get(key).or_else(|| self.unset.get(key))?;
        (acting != said).then_some(acting)
    }

    /// Updates findings and effective values.
    pub(super) fn judge(&mut self, document: &Document) {
        let (options, environment) = (&document.options, &document.environment);
        self.findings = check_scheduled(options, environment, &*self.files, &document.plan).into();
        self.effective = effective_values(options, environment, &*self.files)
            .into_iter()
            .collect();
    }

    /// The paths to look at. Letters typed into another field do not probe files again.
    pub(super) fn paths_to_probe(&mut self, document: &Document, is_typing: bool) -> Option<NamedPaths> {
        let named = all_paths(&document.options, &document.environment, &document.pins);
        let is_news = named != self.looked_at || !is_typing;
        let is_wanted = is_news && (!named.paths.is_empty() || *self.files != SeenFiles::default());
        is_wanted.then(|| {
            self.looked_at.clone_from(&named);
            named
        })
    }

    /// Takes the states of files; returns whether they changed, and settings were judged again.
    pub(super) fn take_files(&mut self, files: SeenFiles, document: &Document) -> bool {
        let is_news = *self.files != files;
        if is_news {
            self.files = Arc::new(files);
            self.judge(document);
        }
        is_news
    }
}
