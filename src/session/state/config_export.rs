//! Exports of the configuration: their content for a preview, and their files.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use super::super::config::config_from_document;
use super::super::document::Document;
use super::super::overwrite::ReadFiles;
use super::super::task::Failure;
use super::Session;
use highwater_analysis::{Comparison, Configuration, Difference};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::Finding;
use highwater_script::{ConfigDocument, ConfigExport, ConfigForm, config_errors};

/// What an export of the configuration would write, made once per change of what it is made from.
#[derive(Debug)]
pub struct ConfigPreview {
    config: ConfigDocument,
    pub errors: Vec<String>,
    /// By form, once requested: Python may be read back for each expression.
    exports: [OnceCell<ConfigExport>; ConfigForm::ALL.len()],
    /// The file, or the defaults, that the differences are from.
    pub base: String,
    /// `here` is the value that is written, `other` that of the base.
    pub differences: Vec<Difference>,
    inputs: Inputs,
}

#[derive(Debug)]
struct Inputs {
    document: Document,
    findings: Arc<[Finding]>,
    remarks: Arc<[(String, Diagnostics)]>,
    /// The current answer.
    comparison: Option<Arc<Comparison>>,
    base: String,
}

impl ConfigPreview {
    /// The files of a form under their proposed names.
    pub fn export(&self, form: ConfigForm) -> &ConfigExport {
        let path = Path::new(form.usual_name());
        self.exports[form as usize].get_or_init(|| ConfigExport::of_form(form, &self.config, path, self.errors.clone()))
    }

    /// Whether both are of the same settings and have the same errors: figures may differ.
    pub fn has_same_settings(&self, other: &Self) -> bool {
        self.inputs.document == other.inputs.document && self.errors == other.errors
    }
}

impl Session {
    /// O(settings).
    pub fn config_preview(&self) -> ConfigPreview {
        let (config, errors) = self.config_to_export();
        let (base, usual) = self.export_base();
        let differences = self.schedule.stated(&self.document).configuration().differences(&usual);
        ConfigPreview {
            config,
            errors,
            exports: Default::default(),
            differences,
            inputs: Inputs {
                document: self.document.clone(),
                findings: Arc::clone(self.judged.findings()),
                remarks: Arc::clone(&self.remarks),
                comparison: self.current_comparison().cloned(),
                base: base.clone(),
            },
            base,
        }
    }

    /// Whether a new preview would be equal.
    pub fn is_current_preview(&self, preview: &ConfigPreview) -> bool {
        let inputs = &preview.inputs;
        let known = inputs.comparison.as_ref().map(Arc::as_ptr);
        Arc::ptr_eq(&inputs.findings, self.judged.findings())
            && Arc::ptr_eq(&inputs.remarks, &self.remarks)
            && known == self.current_comparison().map(Arc::as_ptr)
            && inputs.document == self.document
            && inputs.base == self.export_base_name()
    }

    /// Writes the configuration, unless the files would say nothing, or it has errors that the user did not confirm.
    pub(super) fn export_config(&mut self, path: &Path, confirmed: &[String]) -> Result<(), Failure> {
        let (config, errors) = self.config_to_export();
        let is_forced = errors == confirmed;
        let export = ConfigExport::new(&config, path, errors)?;
        match export.refusal(is_forced) {
            None => {
                self.write_config(export);
                Ok(())
            }
            Some(refusal) => Err(Failure(refusal.message)),
        }
    }

    /// The files that the document and the answer on the screen are made from.
    pub(super) fn read_files(&self) -> ReadFiles {
        let Document {
            sources,
            options,
            environment,
            pins,
            ..
        } = &self.document;
        let mut read = ReadFiles::new(sources, options, environment, pins);
        // An answer stays on the screen while other files are read.
        if let Some(answered) = self.answers.document() {
            let (options, environment) = (&answered.options, &answered.environment);
            read.extend(ReadFiles::new(&answered.sources, options, environment, &answered.pins));
        }
        read.settings = self.settings_files.clone();
        read.document = self.file_path().map(Path::to_owned);
        read
    }

    /// The answer, where it is of the document.
    fn current_comparison(&self) -> Option<&Arc<Comparison>> {
        self.answers.comparison().filter(|_| !self.is_stale())
    }

    /// The configuration, and its errors.
    fn config_to_export(&self) -> (ConfigDocument, Vec<String>) {
        let comparison = self.current_comparison().map(|comparison| &**comparison);
        let config = config_from_document(&self.schedule.stated(&self.document), comparison);
        let mut remarks = Diagnostics::new();
        for (name, of_file) in &*self.remarks {
            remarks.extend(&of_file.prefixed(name));
        }
        (config, config_errors(self.findings(), &remarks))
    }

    fn export_base_name(&self) -> String {
        match (&self.opened_config, self.file.saved()) {
            (Some(opened), _) => opened.title().to_owned(),
            (None, Some(_)) if self.file_path().is_some() => self.document_name(),
            (None, _) => "the defaults".to_owned(),
        }
    }

    /// The settings that an export is compared with, and what they are of: the configuration that was read last, else the
    /// document's file, else the defaults.
    fn export_base(&self) -> (String, Configuration) {
        let saved = self.file.saved().filter(|_| self.file_path().is_some());
        let configuration = match (&self.opened_config, saved) {
            (Some(opened), _) => opened.configuration.clone(),
            (None, Some(saved)) => saved.configuration(),
            (None, None) => self.usual_configuration(),
        };
        (self.export_base_name(), configuration)
    }
}
