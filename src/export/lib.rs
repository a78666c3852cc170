//! Everything that leaves the program: answers as JSON, Markdown and CSV, drawings, reports, traces.
//!
//! In: options, environment, findings, figures. Out: texts with a stable order and a final line break. Formats are defined here and
//! nowhere else. Deliberately not here: writing files, choosing names.

mod allocator;
mod allocator_state;
mod answer;
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
mod curves;
mod device;
mod events;
mod explain_json;
mod explain_log;
mod failed_requests;
mod file_names;
mod flame;
mod forms;
mod found;
mod growth;
mod inspect;
mod json_parts;
mod lane_json;
mod limit_checks;
mod options;
mod peak;
mod peak_export;
mod pinned;
mod placements;
mod plan;
mod png_file;
mod record;
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
    FitAnswer, NoHistoryAnswer, SettingSearchAnswer, SettingsAnswer, TraceAnswer, TraceRun, WithoutHistory,
    run_closing_json,
};
pub use allocator_state::AllocatorAnswer;
pub use answer::{Answer, Page, diagnostics_text};
pub use baseline::{Baseline, BaselineError, BaselineLane};
pub use baseline_comparison::{BaselineComparison, LaneBaseline};
pub use blocks::{PagePart, PageTable, Table};
pub use calibrations::LearnAnswer;
pub use cells::{GuardedCells, guarded_csv};
pub use check_report::CheckReport;
pub use compare::{CompareAnswer, Shortage};
pub use device::DevicesAnswer;
pub use events::EventsAnswer;
pub use explain_log::{LogAnswer, LogPage};
pub use flame::{FLAME_FORMS, FlameAnswer, flame_file, flame_text, folded_stacks};
pub use forms::{EXPORT_FORMS, ExportForm, ExportLanes, ExportRow, ExportWriter, export_form_help};
pub use found::FoundAnswer;
pub use growth::GrowthAnswer;
pub use inspect::{InspectAnswer, InspectedFile};
pub use limit_checks::{LimitCheck, Outcome};
pub use options::{OptionsAnswer, allocator_options_markdown, options_markdown};
pub use peak::{PEAK_FORMS, PEAK_ROWS, PeakAnswer, peak_file};
pub use plan::{NOTHING_TO_PLACE, PlanAnswer, PlanDetails, engine_plan_json};
pub use png_file::{Picture, png};
pub use remat::{RematAnswer, RematSweep};
pub use replay::{ReplayAnswer, replay_final, replay_header, replay_line};
pub use request_summary::RequestSummary;
pub use reuse::{ReuseAnswer, reuse_warnings};
pub use space::{SweepAnswers, recommendation_json, sweep_csv, sweep_json};
pub use subject::{ExportAbout, ExportError, ExportSubject};
pub use svg::{LaneDrawing, SvgColors, flame_svg, lane_svg, lanes_svg};
pub use table::table_csv;
