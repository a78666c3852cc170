//! Everything that leaves the program: answers as JSON, Markdown and CSV, drawings, reports, traces.
//!
//! In: options, environment, findings, figures. Out: texts with a stable order and a final line break. Formats are defined here and
//! nowhere else. Deliberately not here: writing files, choosing names.

mod allocator;
mod allocator_state;
mod baseline;
mod baseline_comparison;
mod blocks;
mod calibrations;
mod cann_log;
mod cells;
mod check_report;
mod compare;
mod comparison;
mod contributors;
mod device;
mod explain_log;
mod file_names;
mod flame;
mod forms;
mod growth;
mod inspect;
mod json_parts;
mod lane_json;
mod limit_checks;
mod options_json;
mod options_markdown;
mod options_text;
mod peak;
mod pinned;
mod placements;
mod plan;
mod png_file;
mod remat;
mod replay;
mod report;
mod request_summary;
mod reuse;
mod space;
mod subject;
mod svg;
mod table;
mod timeline_file;
mod trace;

pub use allocator::{
    FitAnswer, SettingSearchAnswer, SettingsAnswer, TraceAnswer, allocator_options_markdown, fit_json, fit_text,
    run_closing_json, setting_search_json, setting_search_text, settings_json, settings_text, trace_summary_json,
    trace_summary_text,
};
pub use allocator_state::{AllocatorAnswer, allocator_csv, allocator_json, allocator_text};
pub use baseline::{Baseline, BaselineError, BaselineLane};
pub use baseline_comparison::{BaselineComparison, LaneBaseline};
pub use blocks::{PagePart, PageTable, Table};
pub use calibrations::calibrations_json;
pub use cells::{GuardedCells, guarded_csv};
pub use check_report::CheckReport;
pub use compare::CompareAnswer;
pub use comparison::WireComparison;
pub use device::{device_text, devices_json};
pub use explain_log::{LogPage, log_story_json, log_story_markdown, log_story_text};
pub use flame::{FLAME_FORMS, FlameAnswer, WireTree, flame_file, flame_text, folded_stacks};
pub use forms::{EXPORT_FORMS, ExportForm, ExportLanes, ExportRow, ExportWriter, export_form_help};
pub use growth::{GrowthAnswer, growth_csv, growth_json, growth_text};
pub use inspect::{inspection_fields, inspections_json};
pub use json_parts::diagnostics_json;
pub use limit_checks::{LimitCheck, Outcome};
pub use options_json::options_json;
pub use options_markdown::options_markdown;
pub use options_text::options_text;
pub use peak::{PEAK_FORMS, PeakAnswer, WirePeak, peak_csv, peak_file, peak_text, ranks_text};
pub use plan::{PlanAnswer, PlanDetails, WireEnginePlan, WireOp, WireOps, WirePlan, plan_csv, reused};
pub use png_file::{Picture, png};
pub use remat::{RematAnswer, WireRemat};
pub use replay::{replay_final, replay_header, replay_json, replay_line};
pub use request_summary::RequestSummary;
pub use reuse::{WireReuse, reuse_warnings};
pub use space::{SweepAnswers, WireSweep, recommendation_json, sweep_csv};
pub use subject::{ExportAbout, ExportError, ExportSubject};
pub use svg::{LaneDrawing, SvgColors, flame_svg, lane_svg, lanes_svg};
pub use table::table_csv;
