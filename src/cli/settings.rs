//! From shared arguments to what the engine takes: options, environment, device, schedule.

mod schedule;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value as Json};

pub(super) use schedule::RUN_HELP;

use super::args::{Arguments, Common, Edits, YesNo};
use highwater_analysis::{Configuration, LaneStrategies, MOST_PINS, Pin};
use highwater_export::{ConfigDocument, read_config};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::units::Bytes;
use highwater_model::workload::{Device, DeviceProfiles, DimValues, SchedulePlan};
use highwater_options::{ENVIRONMENT, Environment, Options, keys, resolve_device};
use highwater_session::{Document, Restore, SAMPLES, SourceSpec, apply_config, options_of, read_bytes};

/// What the shared arguments say.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Overrides.
    pub options: Options,
    /// Options of configuration files that this version does not know.
    pub unknown_options: Map<String, Json>,
    /// Fields of configuration files that this version does not know.
    pub unknown_fields: Map<String, Json>,
    /// Whether evaluation graphs run beside training graphs.
    pub evaluation: bool,
    /// Environment variables.
    pub environment: Environment,
    /// The device that the options name.
    pub device: Device,
    /// Iterations and dimension values.
    pub plan: SchedulePlan,
    /// What of the sources is looked at by itself, as a document says.
    pub part: Option<String>,
    /// How the arenas of single lanes are placed, as a document says.
    pub strategies: LaneStrategies,
    /// Configurations to stand beside it.
    pub pins: Vec<Pin>,
    /// Whether a document says how often what runs.
    pub has_document: bool,
    /// What was odd in configuration files, by the name of the file.
    pub remarks: Vec<(String, Diagnostics)>,
}

impl Settings {
    /// The document of these settings: what files with them are written of.
    pub(super) fn document(&self, sources: Vec<SourceSpec>, plan: &SchedulePlan) -> Document {
        Document {
            options: self.options.clone(),
            unknown_options: self.unknown_options.clone(),
            unknown_fields: self.unknown_fields.clone(),
            environment: self.environment.clone(),
            with_evaluation: self.evaluation,
            strategies: self.strategies.clone(),
            pins: self.pins.clone(),
            plan: plan.clone(),
            ..Document::new(sources)
        }
    }
}

/// Reads configuration files first, then the flags, which win.
///
/// # Errors
/// A sentence that names the file or the flag.
pub fn read_settings(common: &Common) -> anyhow::Result<Settings> {
    read_settings_over(common, None)
}

/// The same over what a document says.
///
/// # Errors
/// As [`read_settings`].
pub(super) fn read_settings_over(common: &Common, document: Option<&Document>) -> anyhow::Result<Settings> {
    let mut settings = settings_of(document)?;
    settings.evaluation |= common.evaluation;
    for path in &common.config {
        let name = path.display().to_string();
        let bytes = read_bytes(path)?;
        let (document, remarks) = read_config(&name, &bytes).with_context(|| name.clone())?;
        settings.remarks.push((name, remarks));
        merge(&document, &mut settings);
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

/// What a document says; the defaults without one.
fn settings_of(document: Option<&Document>) -> anyhow::Result<Settings> {
    let mut settings = Settings {
        options: Options::default(),
        unknown_options: Map::new(),
        unknown_fields: Map::new(),
        evaluation: false,
        environment: Environment::default(),
        device: DeviceProfiles::bundled()?.find(DeviceProfiles::DEFAULT)?,
        plan: SchedulePlan::default(),
        part: None,
        strategies: LaneStrategies::default(),
        pins: Vec::new(),
        has_document: document.is_some(),
        remarks: Vec::new(),
    };
    if let Some(document) = document {
        settings.options.clone_from(&document.options);
        settings.unknown_options.clone_from(&document.unknown_options);
        settings.unknown_fields.clone_from(&document.unknown_fields);
        settings.evaluation = document.with_evaluation;
        settings.environment.clone_from(&document.environment);
        settings.plan.clone_from(&document.plan);
        settings.part.clone_from(&document.part);
        settings.strategies.clone_from(&document.strategies);
        settings.pins.clone_from(&document.pins);
    }
    Ok(settings)
}

/// The document that the window opens with (the default sample where no file is named), and what was odd in the
/// configuration files.
///
/// # Errors
/// A sentence that names the file or the flag.
pub fn document(arguments: &Arguments) -> anyhow::Result<(Document, Vec<(String, Diagnostics)>)> {
    let mut settings = read_settings(&arguments.common)?;
    settings.add_pins(&arguments.pins.pin)?;
    let mut sources = arguments.common.opening.sources(&arguments.files)?;
    if sources.is_empty() {
        let first = SAMPLES.first().context("there is a bundled sample")?;
        sources.push(SourceSpec::Sample(first));
    }
    let mut document = Document::new(sources);
    document.options = settings.options;
    document.unknown_options = settings.unknown_options;
    document.unknown_fields = settings.unknown_fields;
    document.environment = settings.environment;
    document.with_evaluation = settings.evaluation;
    document.plan.dims.extend(settings.plan.dims);
    document.pins = settings.pins;
    document.plan.entries = settings.plan.entries;
    document.plan.names = settings.plan.names;
    if settings.plan.iterations != 1 {
        document.plan.iterations = settings.plan.iterations;
    }
    Ok((document, settings.remarks))
}

/// What the window takes over from its last run: what was open only where neither files nor settings are named.
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
    /// Reads the configurations of `--pin` arguments behind those of a document.
    ///
    /// # Errors
    /// A sentence that names the argument, and the file with the place in it.
    pub(super) fn add_pins(&mut self, texts: &[String]) -> anyhow::Result<()> {
        for text in texts {
            let Some((name, path)) = text.rsplit_once('=').filter(|(_, path)| !path.is_empty()) else {
                bail!("--pin {text}: write --pin NAME=CONFIG.json");
            };
            let others = self.pins.iter().map(|pin| pin.name.as_str());
            let name = Pin::name_of(name, others).map_err(|why| anyhow::anyhow!("--pin {text}: {why}"))?;
            let name = name.to_owned();
            if self.pins.len() >= MOST_PINS {
                bail!("--pin {text}: {MOST_PINS} pins are compared at most");
            }
            let bytes = read_bytes(path.as_ref()).with_context(|| format!("--pin {name}"))?;
            let (config, remarks) = read_config(path, &bytes).with_context(|| format!("--pin {name}: {path}"))?;
            self.remarks.push((path.to_owned(), remarks));
            let configuration = self.pinned(&config);
            self.pins.push(Pin {
                name,
                configuration,
                follows_schedule: config.schedule.is_none(),
            });
        }
        Ok(())
    }

    /// What a configuration file says, over what it leaves open.
    fn pinned(&self, config: &ConfigDocument) -> Configuration {
        let mut document = Document::new(Vec::new());
        document.options.clone_from(&self.options);
        document.environment.clone_from(&self.environment);
        document.plan.clone_from(&self.plan);
        apply_config(config, &mut document);
        Configuration {
            options: document.options,
            environment: document.environment,
            plan: document.plan,
        }
    }
}

/// Takes over what a configuration file says.
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

/// Applies `--set`, `--env` and `--inherit-env`.
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

/// `NAME=VALUE` texts, and the process's own variables where asked, into the environment.
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
        // Names may hold "=", values never do.
        let Some((name, list)) = text.rsplit_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            bail!("--dim {text}: write --dim NAME=VALUE");
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
            bail!("--dim {text}: \"{list}\" is no list of whole numbers below 2^63; write {name}=8 or {name}=8,16,32");
        };
        if dims.insert(name.to_owned(), values).is_some() {
            bail!("--dim {name} is given twice; write all its values in one list: --dim {name}=8,16,32");
        }
    }
    Ok(dims)
}

/// Dimensions that take one value each.
pub(super) fn parse_bindings(texts: &[String]) -> anyhow::Result<Bindings> {
    let mut bindings = Bindings::new();
    for (name, values) in parse_dims(texts)? {
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
        _ => bail!("{flag} {text}: write {flag} {form}"),
    }
}
