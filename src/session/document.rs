//! The document: sources, options, environment, device, schedule.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::bookmarks::Bookmark;
use super::files::stream_name;
use super::loaded::Loaded;
use super::samples::Sample;
use highwater_analysis::{
    AllocatorSetting, Configuration, LaneGoal, LaneId, LaneSet, LaneStrategies, Pin, Request, acting_device, bound_plan,
};
use highwater_import::{IMPORTERS, importer};
use highwater_model::workload::{Device, DimValues, EventRange, RecordingRules, SchedulePlan, Workload};
use highwater_options::{Environment, Options, SeenFiles};

/// A source of graphs.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceSpec {
    /// A file; `-` is standard input.
    Path(PathBuf),
    /// A bundled sample.
    Sample(&'static Sample),
    /// Content without a path.
    Bytes { name: String, bytes: Arc<[u8]> },
    /// A source whose format the user chose.
    As {
        source: Box<Self>,
        /// By importer.
        format: &'static str,
    },
    /// A range of the events of a source. A document keeps the whole source.
    Within { source: Box<Self>, range: EventRange },
}

impl SourceSpec {
    /// The source of a command-line argument: `sample:NAME` or a path.
    ///
    /// # Errors
    /// [`super::FileError::UnknownSample`].
    pub fn from_argument(argument: impl AsRef<Path>) -> Result<Self, super::FileError> {
        let path = argument.as_ref();
        let Some(name) = path.to_str().and_then(|text| text.strip_prefix("sample:")) else {
            return Ok(Self::Path(path.to_owned()));
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

    /// The source read as a format; `None` detects the format.
    ///
    /// # Errors
    /// [`super::FileError::UnknownFormat`].
    pub fn opened_as(self, format: Option<&str>) -> Result<Self, super::FileError> {
        let plain = match self {
            Self::As { source, .. } => *source,
            Self::Within { source, range } => {
                return Ok(source.opened_as(format)?.within(Some(range)));
            }
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

    /// The source with a range of its events; all without one.
    #[must_use]
    pub fn within(self, range: Option<EventRange>) -> Self {
        match range {
            Some(range) => Self::Within {
                source: Box::new(self),
                range,
            },
            None => self,
        }
    }

    pub fn chosen_format(&self) -> Option<&'static str> {
        match self {
            Self::As { format, .. } => Some(format),
            Self::Within { source, .. } => source.chosen_format(),
            _ => None,
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => stream_name(path).is_none().then_some(path),
            Self::As { source, .. } | Self::Within { source, .. } => source.path(),
            Self::Sample(_) | Self::Bytes { .. } => None,
        }
    }

    /// The text that names it on the command line and in messages.
    pub fn label(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Sample(sample) => format!("sample:{}", sample.name),
            Self::Bytes { name, .. } => name.clone(),
            Self::As { source, .. } | Self::Within { source, .. } => source.label(),
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
            Self::As { source, .. } | Self::Within { source, .. } => source.title(),
        }
    }
}

/// The user's choices. Cheap to clone; an answer is current while the document is equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub sources: Vec<SourceSpec>,
    /// The part that is shown alone ([`Workload::parts`](highwater_model::workload::Workload::parts)); `None` shows everything.
    pub part: Option<String>,
    /// Whether the forward phase of each training graph is added as an evaluation graph.
    pub with_evaluation: bool,
    pub options: Options,
    /// Options of a configuration file that this version does not know, kept for writing.
    pub unknown_options: Map<String, Json>,
    /// Fields of a configuration file that this version does not know, kept for writing.
    pub unknown_fields: Map<String, Json>,
    pub environment: Environment,
    pub plan: SchedulePlan,
    /// Placement strategies of single lanes.
    pub strategies: LaneStrategies,
    /// Allocator settings that are simulated beside recordings, a lane each.
    pub allocator_settings: Vec<AllocatorSetting>,
    /// What lines of recorded call stacks are, before the built-in rules.
    pub recording_rules: RecordingRules,
    pub lanes: LaneSet,
    /// Steps with notes, in order of steps. The answer does not depend on them.
    pub bookmarks: Vec<Bookmark>,
    /// Pinned configurations, a lane each in this order; names are unique.
    pub pins: Vec<Pin>,
    /// The baseline that the user chose. The answer does not depend on it.
    pub baseline: Option<LaneId>,
    /// The goal by which a policy is recommended. The answer has the recommendations of all goals.
    pub goal: LaneGoal,
}

impl Document {
    /// Takes the sources of another document, and what belongs to them.
    pub(super) fn take_sources(&mut self, other: Self) {
        self.sources = other.sources;
        self.plan = other.plan;
        self.with_evaluation = other.with_evaluation;
        self.strategies = other.strategies;
        self.lanes = other.lanes;
        self.bookmarks = other.bookmarks;
    }

    /// Takes what no answer depends on from another document.
    pub(super) fn take_marks(&mut self, other: &Self) {
        self.bookmarks.clone_from(&other.bookmarks);
        (self.baseline, self.goal) = (other.baseline, other.goal);
    }

    /// The document without marks and lanes.
    pub(super) fn without_lanes(&self) -> Self {
        Self {
            lanes: LaneSet::Policies,
            strategies: LaneStrategies::default(),
            pins: Vec::new(),
            bookmarks: Vec::new(),
            baseline: None,
            goal: LaneGoal::default(),
            ..self.clone()
        }
    }

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
            allocator_settings: Vec::new(),
            recording_rules: RecordingRules::default(),
            lanes: LaneSet::default(),
            bookmarks: Vec::new(),
            pins: Vec::new(),
            baseline: None,
            goal: LaneGoal::default(),
        }
    }

    /// Options, environment and schedule, as a pin holds them.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            options: self.options.clone(),
            environment: self.environment.clone(),
            plan: self.plan.clone(),
        }
    }

    pub fn presets(&self) -> DimValues {
        presets_of(&self.sources)
    }

    /// Values of dimensions besides those that samples suggest.
    pub fn stated_dims(&self) -> DimValues {
        let (mut dims, presets) = (self.plan.dims.clone(), self.presets());
        dims.retain(|name, values| presets.get(name) != Some(values));
        dims
    }

    /// The comparison of what was read of its sources: the only place that brings schedule, values of dimensions, the shown
    /// part, lanes and pins together. Values of options win over those that samples suggest. Dimensions of other parts have
    /// no value, and those that nothing gives a value stay unbound.
    pub fn request(&self, loaded: &Loaded, files: Arc<SeenFiles>) -> Request {
        let mut configuration = self.configuration();
        configuration.plan.dims = self.stated_dims();
        let plan = &configuration.plan;
        let mut pins: Vec<Pin> = self.pins.iter().map(|pin| pin.with_schedule(plan)).collect();
        let of_pins = pins.iter_mut().map(|pin| &mut pin.configuration.plan);
        for plan in of_pins.chain([&mut configuration.plan]) {
            loaded.show_in(plan);
        }
        let mut request = Request {
            files,
            lanes: self.lanes.clone(),
            strategies: self.strategies.clone(),
            allocator_settings: self.allocator_settings.clone(),
            recording_rules: self.recording_rules.clone(),
            pins,
            ..Request::new(Arc::clone(&loaded.workload), configuration)
        };
        let (bound, _) = bound_plan(&request);
        let mut missing = self.presets();
        missing.retain(|name, _| !bound.dims.contains_key(name));
        request.plan.dims.extend(missing);
        keep_known(&mut request.plan.dims, &loaded.workload);
        request
    }

    /// Takes over what was read: current names of graphs, and no settings of graphs that are not open, unless these may be of
    /// a source that cannot be read.
    pub(super) fn follow(&mut self, loaded: &Loaded) {
        if !loaded.lacks_a_source() {
            loaded.follow(&mut self.plan);
            self.plan.retain_graphs(&loaded.whole.scheduled_graphs());
            keep_known(&mut self.plan.dims, &loaded.whole);
        }
    }

    /// The device that the options name.
    pub fn device(&self) -> Device {
        acting_device(&self.options)
    }
}

/// Removes values of dimensions that no graph has; other sources have dimensions without a list.
fn keep_known(dims: &mut DimValues, workload: &Workload) {
    if !workload.graphs().is_empty() {
        let known = workload.symbols();
        dims.retain(|name, _| known.contains(name));
    }
}

/// The iterations that samples suggest, at least 1.
pub fn preset_iterations(sources: &[SourceSpec]) -> u32 {
    let suggested = sources.iter().filter_map(|source| match source {
        SourceSpec::Sample(sample) => Some(sample.iterations),
        _ => None,
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
