//! Workload + options -> comparison: the same session in several lanes, on one step axis. Deterministic: the same request
//! gives an equal comparison; threads only share the lanes out.
//!
//! A module uses modules alone that follow it here, in reading order (`tests/it/tidy.rs` checks that):
//! ```text
//! sweep verified largest_batch compare eager_lanes allocator_lanes advice pins study trade lane_marks alignment lane_steps lane_queries
//! policies budget_sweep passes name_reuse slots recording_lanes logged_peaks
//! comparison calibration run_lanes explain recommended lowest_peak recording_remarks limits metrics lane
//! reuse_lanes device_sessions running shapes bodies lowering logged_plans dumped allocation_order
//! oom_report name_context arena request pin configuration plan_search inspect recording_facts recording_figures pinned measured_pass
//! rewriting lane_set workspaces log_story recorded_failures run_differences assumption pool_history verdict setting_release allocator_state what_if selection log_words logged_beside logged_join error
//! ```

mod advice;
mod alignment;
mod allocation_order;
mod allocator_lanes;
mod allocator_state;
mod arena;
mod assumption;
mod bodies;
mod budget_sweep;
mod calibration;
mod compare;
mod comparison;
mod configuration;
mod device_sessions;
mod dumped;
mod eager_lanes;
mod error;
mod explain;
mod inspect;
mod lane;
mod lane_marks;
mod lane_queries;
mod lane_set;
mod lane_steps;
mod largest_batch;
mod limits;
mod log_story;
mod log_words;
mod logged_beside;
mod logged_join;
mod logged_peaks;
mod logged_plans;
mod lowering;
mod lowest_peak;
mod measured_pass;
mod metrics;
mod name_context;
mod name_reuse;
mod oom_report;
mod passes;
mod pin;
mod pinned;
mod pins;
mod plan_search;
mod policies;
mod pool_history;
mod recommended;
mod recorded_failures;
mod recording_facts;
mod recording_figures;
mod recording_lanes;
mod recording_remarks;
mod request;
mod reuse_lanes;
mod rewriting;
mod run_differences;
mod run_lanes;
mod running;
mod selection;
mod setting_release;
mod shapes;
mod slots;
mod study;
pub mod sweep;
mod trade;
mod verdict;
mod verified;
mod what_if;
mod workspaces;

pub use advice::with_figures;
pub use alignment::{BY_CONSTRUCTION, off_by};
pub use allocation_order::{arena_order, entry_order};
pub use allocator_state::{AllocatorState, AllocatorSums, Piece, PieceKind, PoolState, SegmentState};
pub use arena::{Plans, arena_problem, engine_size};
pub use assumption::Assumption;
pub use budget_sweep::{BudgetSweepPoint, BudgetSweepTask, SWEEP_RATIOS, feasible_limit, sweep};
pub use calibration::{Calibration, LearnedSetting, calibrations};
pub use compare::compare;
pub use comparison::Comparison;
pub use configuration::{Configuration, Difference};
pub use device_sessions::LOOP_VARIABLES;
pub use dumped::{USUAL_ALIGNMENT, common_alignment, dumped_plan, dumped_problems, with_inputs};
pub use error::AnalysisError;
pub use inspect::{DumpFigures, GraphFigures, Inspection, inspect, inspect_with, tensor_count};
pub use lane::{DocumentedArena, Lane, RecordedLane, Remark};
pub use lane_marks::LaneMark;
pub use lane_queries::{CapacitySource, Effect, Fit, LaneCapacity, LanePeak};
pub use lane_set::{LaneId, LaneKind, LaneSet, LaneStrategies, RematLane};
pub use largest_batch::{BatchSearch, batch_symbol, fitting_policy};
pub use limits::{Bound, Limit, LimitError};
pub use log_story::{
    Advice, FailedRequest, GraphMemory, GraphState, LogStory, ModuleMemory, NeedBasis, PolicyNeed, ProcessStory,
};
pub use log_words::{DEFAULT_LEVEL, failed_request, log_sentence};
pub use logged_beside::{compare_ops, join_logs};
pub use logged_plans::{LoggedArena, logged_arenas, logged_remarks};
pub use lowest_peak::LowestPeak;
pub use measured_pass::{OpRun, measured_pass};
pub use metrics::{COMPARED, Figure, FigureDifference, METRICS, Metric};
pub use oom_report::OutOfMemoryReport;
pub use passes::{MAX_PASS_LANES, graph_tapes, part_of};
pub use pin::{MAX_PINS, Pin, PinFailure, PinFit, PinnedLane};
pub use pinned::{PinnedSegments, PinningSite};
pub use pins::repin;
pub use plan_search::{FoundPlan, PlanSearch, PlanWatch};
pub use pool_history::{PoolCurve, PoolHistory, PoolName, pool_histories};
pub use recommended::Recommended;
pub use recorded_failures::{
    DeviceTotal, FailureFact, Outside, PoolAtFailure, RecordedFailure, RecordedFailures, ServingSetting, SiteAtFailure,
    TotalFrom, recorded_failure,
};
pub use recording_facts::RecordedFact;
pub use recording_figures::{CategoryFigures, Fragmentation, LifetimeFigures, RecordingFigures, recording_figures};
pub use request::{Request, acting_device};
pub use reuse_lanes::{ExecutorFigures, REUSE_OFF, REUSE_ON, ReuseLane, reuse_lanes};
pub use rewriting::{LaneRewrite, RunRemat};
pub use run_differences::{RunDifference, RunDifferences};
pub use selection::{LaneGoal, are_overheads_equivalent};
pub use shapes::bound_plan;
pub use study::{
    LaneChoice, MOST_RECORDED_LANES, OpSource, ScheduleChoice, ScheduleNote, Study, StudyWords, opening_lanes, study_of,
};
pub use trade::{Brevity, TradeEnd, TradeTime};
pub use verdict::{Served, Verdict};
pub use verified::{Audit, LaneDefect, Verification, Verified};
pub use what_if::{
    AllocatorFit, AllocatorRun, AllocatorSetting, IGNORED_ON_WINDOWS, JudgedFailure, KeyEffect, SearchError,
    SearchPlan, Servable, ServingRun, SettingPair, SettingSearch, TriedSetting, conf_text, missing_history,
    python_line, search_recordings, search_settings, serving_runs, shell_line, stated_conf,
};
pub use workspaces::{EstimatedWorkspaces, ScratchSource};
