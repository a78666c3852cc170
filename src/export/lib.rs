//! What leaves the program: files and texts, each with wire structs of its own.
//!
//! In: options, environment, findings, figures. Out: texts with a stable order and a final line break.
//! Formats are defined here and nowhere else. Deliberately not here: writing files, choosing names.

mod against;
mod answers;
mod baseline;
mod calibrations;
mod check_report;
mod comparison;
mod comparison_markdown;
mod config;
mod config_schema;
mod config_wire;
mod contributors;
mod device;
mod forms;
mod inspect;
mod json_value;
mod limit_checks;
mod oom_report;
mod options_markdown;
mod options_text;
mod options_wire;
mod peak;
mod picture;
mod pinned;
mod placements;
mod plan;
mod png;
mod remat;
mod replay;
mod report;
mod request_summary;
mod reuse;
mod run_remat;
mod script;
mod space;
mod subject;
mod svg;
mod table;
mod trace;
mod verdict;

pub use against::{Against, WireAgainst};
pub use baseline::{Baseline, BaselineError, BaselineLane};
pub use calibrations::WireCalibrations;
pub use check_report::CheckReport;
pub use comparison::WireComparison;
pub use comparison_markdown::{CompareAnswer, comparison_markdown};
pub use config::{
    CONFIG_VERSION, ConfigDevice, ConfigDocument, ConfigError, Predicted, from_json, schedule_from_json, to_json,
};
pub use config_schema::config_schema;
pub use device::{WireDevices, WireFigure};
pub use forms::{EXPORT_FORMS, ExportForm, ExportRow, export_forms_help};
pub use inspect::{WireDiagnostic, WireFiles, WireInspection};
pub use json_value::{json_of, value_of};
pub use limit_checks::{LimitChecks, Outcome};
pub use options_markdown::options_markdown;
pub use options_text::options_text;
pub use options_wire::{OptionsObject, options_json, options_object};
pub use peak::{PEAK_FORMS, PeakAnswer, WirePeak, peak_csv, peak_file, peak_text};
pub use pinned::{Beside, WireBeside};
pub use plan::{
    PlanAnswer, WireChain, WireEdge, WireEnginePlan, WireFragmentation, WireOp, WireOps, WirePlan, WireStrategy,
    WireWhy, plan_csv, wire_edges,
};
pub use png::{Picture, png};
pub use remat::{RematAnswer, WireRemat};
pub use replay::{WireReplay, replay_final, replay_header, replay_line};
pub use request_summary::RequestSummary;
pub use reuse::{WireRename, WireReuse, WireUnsafe, reuse_warnings};
pub use script::{WRITTEN_FORMS, Writer, is_script_name, read_config, to_python, to_shell, writer_of};
pub use space::{SweepAnswers, WireRecommendation, WireSweep, sweep_csv};
pub use subject::{ExportAbout, ExportError, ExportSubject};
pub use svg::{LaneDrawing, SvgColors, lane_svg, lanes_svg};
pub use table::table_csv;
pub use verdict::{VerdictLine, VerdictMark, verdict};

use placements::placements_csv;
use report::report_html;
use trace::trace_json;
