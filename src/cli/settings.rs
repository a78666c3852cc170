//! Settings from shared arguments: options, environment, device, schedule.

mod schedule;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value as Json};

use super::args::{Arguments, Common, Edits, LaneArgs, YesNo};
use super::opened::Named;
use super::replay::{allocator_setting, torch_version};
use highwater_analysis::{AllocatorSetting, Configuration, LaneGoal, LaneStrategies, MAX_PINS, Pin};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{Device, DeviceProfiles, DimValues, RecordingRules, SchedulePlan};
use highwater_options::{ENVIRONMENT, Environment, Options, keys, resolve_device};
use highwater_script::ConfigDocument;
use highwater_session::{
    Document, OpenedConfig, ReadFiles, Restore, SAMPLES, SettingsFiles, SourceSpec, StartConfigs, apply_config,
    options_of, read_config_file,
};

#[derive(Clone, Debug)]
pub struct Settings {
    pub options: Options,
    /// Options of configuration files that this version does not know.
    pub unknown_options: Map<String, Json>,
    /// Fields of configuration files that this version does not know.
    pub unknown_fields: Map<String, Json>,
    /// Whether the forward phase of each training graph runs too.
    pub evaluation: bool,
    pub environment: Environment,
    pub device: Device,
    pub plan: SchedulePlan,
    /// The only part of the sources that is used, from a document.
    pub part: Option<String>,
    /// Placement strategies of single lanes, from a document.
    pub strategies: LaneStrategies,
    /// Allocator settings that are simulated beside recordings.
    pub allocator_settings: Vec<AllocatorSetting>,
    /// What lines of recorded call stacks are, from a document.
    pub recording_rules: RecordingRules,
    pub pins: Vec<Pin>,
    /// The goal by which a policy is recommended.
    pub goal: LaneGoal,
    /// Whether a document states the schedule.
    pub has_document: bool,
    /// Diagnostics of configuration files, by the name of the file.
    pub remarks: Vec<(String, Diagnostics)>,
    /// The last configuration file, with the settings before those of flags.
    pub opened: Option<OpenedConfig>,
    /// The files that the settings were read from.
    pub files: SettingsFiles,
}

impl Settings {
    /// A document with these settings.
    pub(super) fn document(&self, sources: Vec<SourceSpec>, plan: &SchedulePlan) -> Document {
        Document {
            options: self.options.clone(),
            unknown_options: self.unknown_options.clone(),
            unknown_fields: self.unknown_fields.clone(),
            environment: self.environment.clone(),
            with_evaluation: self.evaluation,
            strategies: self.strategies.clone(),
            allocator_settings: self.allocator_settings.clone(),
            recording_rules: self.recording_rules.clone(),
            pins: self.pins.clone(),
            goal: self.goal,
            plan: plan.clone(),
            ..Document::new(sources)
        }
    }
}

/// Reads configuration files, then the flags, which win.
///
/// # Errors
/// A sentence that names the file or the flag.
pub fn read_settings(common: &Common) -> anyhow::Result<Settings> {
    read_settings_over(common, None)
}

/// The same over the settings of a document.
pub(super) fn read_settings_over(common: &Common, document: Option<&Document>) -> anyhow::Result<Settings> {
    let mut settings = settings_of(document)?;
    settings.evaluation |= common.evaluation;
    for path in &common.config {
        let read = read_config_file(path, common.of.as_deref(), &Progress::silent(&Cancel::new()))
            .map_err(anyhow::Error::msg)?;
        merge(&read.config, &mut settings);
        let configuration = settings.document(Vec::new(), &settings.plan).configuration();
        settings.opened = Some(OpenedConfig::new(read.name.clone(), &read.config.script, configuration));
        settings.remarks.push((read.name, read.remarks));
        settings.files.configurations.push(read.path);
    }
    apply_edits(&common.edits, &mut settings.options, &mut settings.environment)?;
    if let Some(name) = &common.device {
        settings.options.set_text(keys::DEVICE, name)?;
    }
    if let Some(memory) = &common.device_memory {
        let memory = Bytes::parse(memory).context("--device-memory")?;
        if memory == Bytes::ZERO {
            bail!("--device-memory must be more than 0");
        }
        settings
            .options
            .set_text(keys::DEVICE_MEMORY, &memory.get().to_string())?;
    }
    if let Some(choice) = common.shapes_keep_alive {
        let text = if choice == YesNo::No { "no" } else { "yes" };
        settings.options.set_text(keys::SHAPES_KEEP_ALIVE, text)?;
    }
    settings.device = resolve_device(&settings.options)?;
    schedule::apply(common, &mut settings.plan)?;
    settings.files.others.extend(common.schedule.clone());
    for (name, values) in parse_dims(&common.dim)? {
        settings.plan.dims.insert(name, values);
    }
    if let Some(iterations) = common.iterations {
        if iterations == 0 {
            bail!("--iterations must be at least 1");
        }
        settings.plan.iterations = iterations;
    }
    Ok(settings)
}

/// The settings of a document; the defaults without one.
fn settings_of(document: Option<&Document>) -> anyhow::Result<Settings> {
    let has_document = document.is_some();
    let document = document.cloned().unwrap_or_else(|| Document::new(Vec::new()));
    Ok(Settings {
        options: document.options,
        unknown_options: document.unknown_options,
        unknown_fields: document.unknown_fields,
        evaluation: document.with_evaluation,
        environment: document.environment,
        device: DeviceProfiles::bundled()?.find(DeviceProfiles::DEFAULT)?,
        plan: document.plan,
        part: document.part,
        strategies: document.strategies,
        allocator_settings: document.allocator_settings,
        recording_rules: document.recording_rules,
        pins: document.pins,
        goal: document.goal,
        has_document,
        remarks: Vec::new(),
        opened: None,
        files: SettingsFiles::default(),
    })
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
    let mut settings = read_settings(&arguments.common)?;
    settings.add_lanes(&arguments.lanes)?;
    let mut sources = arguments.common.opening.sources(&arguments.files)?;
    if sources.is_empty() {
        let first = SAMPLES.first().context("there is a bundled sample")?;
        sources.push(SourceSpec::Sample(first));
    }
    let plan = plan_over(&sources, &settings.plan);
    let opened = settings.opened.take().map(|mut opened| {
        opened.configuration.plan = plan_over(&sources, &opened.configuration.plan);
        opened
    });
    Ok(Start {
        document: settings.document(sources, &plan),
        configs: StartConfigs {
            remarks: settings.remarks,
            opened,
            files: settings.files,
            allows_outside: arguments.common.opening.allow_outside,
        },
    })
}

/// The schedule of settings over that of samples.
fn plan_over(sources: &[SourceSpec], stated: &SchedulePlan) -> SchedulePlan {
    let mut plan = Document::new(sources.to_vec()).plan;
    plan.dims.extend(stated.dims.clone());
    plan.entries.clone_from(&stated.entries);
    plan.names.clone_from(&stated.names);
    if stated.iterations != 1 {
        plan.iterations = stated.iterations;
    }
    plan
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

impl Settings {
    /// The files that an answer under these settings is made from.
    pub(super) fn read_files(&self, named: &Named) -> ReadFiles {
        ReadFiles {
            settings: self.files.clone(),
            document: named.document.as_ref().map(|document| document.path.clone()),
            ..ReadFiles::new(&named.sources, &self.options, &self.environment, &self.pins)
        }
    }

    /// Adds the configurations of `--pin`, and sets the goal of `--goal`.
    pub(super) fn add_lanes(&mut self, lanes: &LaneArgs) -> anyhow::Result<()> {
        let version = torch_version(lanes.torch.as_deref())?;
        for text in &lanes.conf {
            self.allocator_settings.push(allocator_setting(text, version)?);
        }
        self.goal = lanes.goal.unwrap_or(self.goal);
        for text in &lanes.pin {
            let Some((name, path)) = text.rsplit_once('=').filter(|(_, path)| !path.is_empty()) else {
                bail!("--pin {text}: expected --pin NAME=CONFIG.json");
            };
            let others = self.pins.iter().map(|pin| pin.name.as_str());
            let name = Pin::checked_name(name, others).map_err(|why| anyhow::anyhow!("--pin {text}: {why}"))?;
            let name = name.to_owned();
            if self.pins.len() >= MAX_PINS {
                bail!("--pin {text}: {MAX_PINS} pins are compared at most");
            }
            let read = read_config_file(path.as_ref(), None, &Progress::silent(&Cancel::new()))
                .map_err(|why| anyhow::anyhow!("--pin {name}: {why}"))?;
            self.remarks.push((read.name, read.remarks));
            self.files.others.push(read.path);
            let config = read.config;
            let configuration = self.pinned(&config);
            self.pins.push(Pin {
                name,
                configuration,
                follows_schedule: config.schedule.is_none(),
            });
        }
        Ok(())
    }

    /// A configuration file over these settings.
    fn pinned(&self, config: &ConfigDocument) -> Configuration {
        let mut document = self.document(Vec::new(), &self.plan);
        apply_config(config, &mut document);
        Configuration {
            options: document.options,
            environment: document.environment,
            plan: document.plan,
        }
    }
}

fn merge(document: &ConfigDocument, settings: &mut Settings) {
    settings.options.extend(&options_of(document));
    settings.environment.extend(&document.environment);
    settings.unknown_options.extend(document.unknown_options.clone());
    settings.unknown_fields.extend(document.unknown_fields.clone());
    settings.evaluation |= document.evaluation;
    if let Some(schedule) = &document.schedule {
        settings.plan = schedule.clone();
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
