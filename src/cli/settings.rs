//! The document of the arguments: sources, options, environment, device, schedule.

mod schedule;

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::args::{Arguments, Common, Edits, LaneArgs, YesNo};
use super::opened::Named;
use super::replay::{allocator_setting, torch_version};
use highwater_analysis::{MAX_PINS, Pin};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{DimValues, SchedulePlan};
use highwater_options::{ENVIRONMENT, Environment, Options, keys, resolve_device};
use highwater_script::ConfigDocument;
use highwater_session::{
    Document, OpenedConfig, OpenedDocument, ReadFiles, Restore, SAMPLES, SettingsFiles, SourceSpec, StartConfigs,
    apply_config, options_of, read_config_file,
};

/// The document of the arguments, and what its settings were read from.
#[derive(Debug)]
pub struct Settings {
    pub document: Document,
    /// The document among the files.
    pub(super) file: Option<OpenedDocument>,
    /// Diagnostics of the document and of configuration files, by the name of the file.
    pub remarks: Vec<(String, Diagnostics)>,
    /// The last configuration file, with the settings before those of flags.
    pub opened: Option<OpenedConfig>,
    /// The files that the settings were read from.
    pub files: SettingsFiles,
}

impl Settings {
    /// Reads the document among the files, then configuration files, then the flags, which win.
    ///
    /// # Errors
    /// A sentence that names the file or the flag.
    pub fn read(files: &[PathBuf], common: &Common, progress: &Progress<'_>) -> anyhow::Result<Self> {
        Self::of(Named::of(files, &common.opening, progress)?, common)
    }

    fn of(named: Named, common: &Common) -> anyhow::Result<Self> {
        let mut settings = Self {
            document: named.merged(),
            file: named.document,
            remarks: Vec::new(),
            opened: None,
            files: SettingsFiles::default(),
        };
        if let Some(file) = &settings.file {
            let name = file.path.display().to_string();
            settings.remarks.push((name, file.remarks.clone()));
        }
        settings.document.with_evaluation |= common.evaluation;
        for path in &common.config {
            let read = read_config_file(path, common.of.as_deref(), &Progress::silent(&Cancel::new()))
                .map_err(anyhow::Error::msg)?;
            settings.merge(&read.config);
            let configuration = settings.document.configuration();
            settings.opened = Some(OpenedConfig::new(read.name.clone(), &read.config.script, configuration));
            settings.remarks.push((read.name, read.remarks));
            settings.files.configurations.push(read.path);
        }
        settings.apply_flags(common)?;
        Ok(settings)
    }

    fn apply_flags(&mut self, common: &Common) -> anyhow::Result<()> {
        let document = &mut self.document;
        apply_edits(&common.edits, &mut document.options, &mut document.environment)?;
        if let Some(name) = &common.device {
            document.options.set_text(keys::DEVICE, name)?;
        }
        if let Some(memory) = &common.device_memory {
            let memory = Bytes::parse(memory).context("--device-memory")?;
            if memory == Bytes::ZERO {
                bail!("--device-memory must be more than 0");
            }
            document
                .options
                .set_text(keys::DEVICE_MEMORY, &memory.get().to_string())?;
        }
        if let Some(choice) = common.shapes_keep_alive {
            let text = if choice == YesNo::No { "no" } else { "yes" };
            document.options.set_text(keys::SHAPES_KEEP_ALIVE, text)?;
        }
        // An unknown profile is an error here.
        resolve_device(&document.options)?;
        if let Some(plan) = schedule::read(common)? {
            self.take_schedule(plan);
        }
        let plan = &mut self.document.plan;
        schedule::apply(common, plan)?;
        self.files.others.extend(common.schedule.clone());
        plan.dims.extend(parse_dims(&common.dim)?);
        if let Some(iterations) = common.iterations {
            if iterations == 0 {
                bail!("--iterations must be at least 1");
            }
            plan.iterations = iterations;
        }
        Ok(())
    }

    fn merge(&mut self, config: &ConfigDocument) {
        let document = &mut self.document;
        document.options.extend(&options_of(config));
        document.environment.extend(&config.environment);
        document.unknown_options.extend(config.unknown_options.clone());
        document.unknown_fields.extend(config.unknown_fields.clone());
        document.with_evaluation |= config.evaluation;
        if let Some(schedule) = &config.schedule {
            self.take_schedule(schedule.clone());
        }
    }

    /// Replaces the schedule. Without a document, samples add their values, and their iterations where it states one.
    fn take_schedule(&mut self, mut plan: SchedulePlan) {
        if self.file.is_none() {
            let of_samples = Document::new(self.document.sources.clone()).plan;
            for (name, values) in of_samples.dims {
                plan.dims.entry(name).or_insert(values);
            }
            if plan.iterations == 1 {
                plan.iterations = of_samples.iterations;
            }
        }
        self.document.plan = plan;
    }

    /// The files that an answer under these settings is made from.
    pub(super) fn read_files(&self) -> ReadFiles {
        let Document {
            sources,
            options,
            environment,
            pins,
            ..
        } = &self.document;
        ReadFiles {
            settings: self.files.clone(),
            document: self.file.as_ref().map(|document| document.path.clone()),
            ..ReadFiles::new(sources, options, environment, pins)
        }
    }

    /// Adds the configurations of `--pin`, and sets the goal of `--goal`.
    pub(super) fn add_lanes(&mut self, lanes: &LaneArgs) -> anyhow::Result<()> {
        let version = torch_version(lanes.torch.as_deref())?;
        for text in &lanes.conf {
            let setting = allocator_setting(text, version)?;
            self.document.allocator_settings.push(setting);
        }
        self.document.goal = lanes.goal.unwrap_or(self.document.goal);
        for text in &lanes.pin {
            let Some((name, path)) = text.rsplit_once('=').filter(|(_, path)| !path.is_empty()) else {
                bail!("--pin {text}: expected --pin NAME=CONFIG.json");
            };
            let others = self.document.pins.iter().map(|pin| pin.name.as_str());
            let name = Pin::checked_name(name, others).map_err(|why| anyhow::anyhow!("--pin {text}: {why}"))?;
            let name = name.to_owned();
            if self.document.pins.len() >= MAX_PINS {
                bail!("--pin {text}: {MAX_PINS} pins are compared at most");
            }
            let read = read_config_file(path.as_ref(), None, &Progress::silent(&Cancel::new()))
                .map_err(|why| anyhow::anyhow!("--pin {name}: {why}"))?;
            self.remarks.push((read.name, read.remarks));
            self.files.others.push(read.path);
            // A configuration file over these settings.
            let mut pinned = self.document.clone();
            apply_config(&read.config, &mut pinned);
            self.document.pins.push(Pin {
                name,
                configuration: pinned.configuration(),
                follows_schedule: read.config.schedule.is_none(),
            });
        }
        Ok(())
    }
}

/// What the window starts with.
#[derive(Debug)]
pub struct Start {
    /// Of the default sample without files.
    pub document: Document,
    pub configs: StartConfigs,
}

/// # Errors
/// A sentence that names the file or the flag.
pub fn start(arguments: &Arguments) -> anyhow::Result<Start> {
    let mut sources = arguments.common.opening.sources(&arguments.files)?;
    if sources.is_empty() {
        let first = SAMPLES.first().context("there is a bundled sample")?;
        sources.push(SourceSpec::Sample(first));
    }
    // The window opens a document by itself, over which these settings win.
    let named = Named {
        sources,
        document: None,
    };
    let mut settings = Settings::of(named, &arguments.common)?;
    settings.add_lanes(&arguments.lanes)?;
    Ok(Start {
        document: settings.document,
        configs: StartConfigs {
            remarks: settings.remarks,
            opened: settings.opened,
            files: settings.files,
            allows_outside: arguments.common.opening.allow_outside,
        },
    })
}

/// The window's last state to restore; its sources only where neither files nor settings are named.
pub fn restore(arguments: &Arguments, document: &Document) -> Restore {
    let is_usual = arguments.files.is_empty()
        && arguments.common.config.is_empty()
        && *document == Document::new(document.sources.clone());
    match (arguments.no_restore, is_usual) {
        (true, _) => Restore::Nothing,
        (false, true) => Restore::Everything,
        (false, false) => Restore::Window,
    }
}

pub(super) fn apply_edits(edits: &Edits, options: &mut Options, environment: &mut Environment) -> anyhow::Result<()> {
    set_options(&edits.set, options)?;
    set_environment(&edits.env, edits.inherit_env, environment)
}

/// `KEY=VALUE` texts into options.
fn set_options(texts: &[String], options: &mut Options) -> anyhow::Result<()> {
    for text in texts {
        let (key, value) = pair(text, "--set", "KEY=VALUE")?;
        options.set_text(key, value).with_context(|| format!("--set {text}"))?;
    }
    Ok(())
}

/// `NAME=VALUE` texts, and with `inherits` the variables of the process, into the environment.
fn set_environment(texts: &[String], inherits: bool, environment: &mut Environment) -> anyhow::Result<()> {
    if inherits {
        for row in ENVIRONMENT {
            if let Ok(value) = std::env::var(row.name) {
                environment.set(row.name, &value);
            }
        }
    }
    for text in texts {
        let (name, value) = pair(text, "--env", "NAME=VALUE")?;
        environment.set(name, value);
    }
    Ok(())
}

/// `NAME=8,16,32` texts.
pub(super) fn parse_dims(texts: &[String]) -> anyhow::Result<DimValues> {
    let mut dims = DimValues::new();
    for text in texts {
        // Names may contain "=", values do not.
        let Some((name, list)) = text.rsplit_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            bail!("--dim {text}: expected --dim NAME=VALUE");
        };
        let name = name.trim();
        let number = |value: &str| {
            value
                .trim()
                .parse::<u64>()
                .ok()
                .filter(|number| i64::try_from(*number).is_ok())
        };
        let values: Option<Vec<u64>> = list.split(',').map(number).collect();
        let Some(values) = values.filter(|values| !values.is_empty()) else {
            bail!("--dim {text}: \"{list}\" is not a list of integers below 2^63; expected {name}=8 or {name}=8,16,32");
        };
        if dims.insert(name.to_owned(), values).is_some() {
            bail!("--dim {name} is given twice; use one list: --dim {name}=8,16,32");
        }
    }
    Ok(dims)
}

/// Dimensions with one value each, from texts.
pub(super) fn parse_bindings(texts: &[String]) -> anyhow::Result<Bindings> {
    single_values(parse_dims(texts)?)
}

/// Dimensions with one value each; an error where one has several.
pub(super) fn single_values(dims: DimValues) -> anyhow::Result<Bindings> {
    let mut bindings = Bindings::new();
    for (name, values) in dims {
        let [value] = values[..] else {
            bail!("--dim {name}: this command takes one value; `compare` runs several");
        };
        bindings.insert(name, value);
    }
    Ok(bindings)
}

fn pair<'a>(text: &'a str, flag: &str, form: &str) -> anyhow::Result<(&'a str, &'a str)> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim(), value)),
        _ => bail!("{flag} {text}: expected {flag} {form}"),
    }
}
