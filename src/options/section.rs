//! The groups of options, in the order of the vendor's reference.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Memory,
    Basic,
    DynamicShape,
    MixedComputing,
    Debugging,
    AccuracyTuning,
    AccuracyComparison,
    Performance,
    Profiling,
    Aoe,
    OperatorCompilation,
    DataAugmentation,
    ExceptionRemedy,
    Experiment,
    Deprecated,
    /// Inherited by `NPURunConfig` from TensorFlow's `RunConfig`.
    RunConfig,
    /// In the adapter's code, but not in its reference.
    Adapter,
    /// Session options of the engine, for graph construction without the adapter.
    Engine,
    /// MegEngine's `DTRConfig`.
    Dtr,
    /// Paddle's `memory_optimize`.
    MemoryOptimize,
    /// highwater's own: the simulated device and its assumptions.
    Simulation,
}

impl Section {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Basic => "basic",
            Self::DynamicShape => "dynamic shape",
            Self::MixedComputing => "mixed computing",
            Self::Debugging => "debugging",
            Self::AccuracyTuning => "accuracy tuning",
            Self::AccuracyComparison => "accuracy comparison",
            Self::Performance => "performance",
            Self::Profiling => "profiling",
            Self::Aoe => "AOE",
            Self::OperatorCompilation => "operator compilation",
            Self::DataAugmentation => "data augmentation",
            Self::ExceptionRemedy => "exception remedy",
            Self::Experiment => "experiment",
            Self::Deprecated => "deprecated",
            Self::RunConfig => "inherited from RunConfig",
            Self::Adapter => "undocumented adapter options",
            Self::Engine => "engine session options",
            Self::Dtr => "DTRConfig",
            Self::MemoryOptimize => "memory_optimize",
            Self::Simulation => "simulation",
        }
    }

    /// Whether the section is part of the vendor's reference of `NPURunConfig`.
    pub const fn is_reference(self) -> bool {
        (self as u8) <= Self::Deprecated as u8
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
