//! Application state without a window: sources, settings, answers.
//!
//! In: [`Command`]s. Out: a [`Session`] that can be read at any time. Long work runs on one named worker thread; the last answer
//! stays until a newer one comes. Deliberately not here: widgets, zoom, open panels.

mod bookmarks;
mod budget_sweep;
mod command_line;
mod commands;
mod config;
mod document;
mod document_file;
mod editor;
mod export;
mod files;
mod folder;
mod graph_names;
mod history;
mod known_names;
mod load;
mod loaded;
mod merge;
mod multi_file;
mod name_reuse;
mod opened_config;
mod opening;
mod overwrite;
mod painter;
mod performer;
mod persisted;
mod planner;
mod recovery;
mod report;
mod samples;
mod shell_quote;
mod special_files;
mod state;
mod streams;
mod sweep;
mod task;
mod threads;
mod titles;
mod under_way;
mod worker;
mod write;
mod write_config;

pub use bookmarks::{Bookmark, PersistedBookmark, lane_of, lane_text};
pub use budget_sweep::{BudgetSweepSubject, BudgetSweepTable};
pub use command_line::{CommandLine, Origin};
pub use commands::Command;
pub use config::{apply_config, config_from_document, options_of};
pub use document::{Document, SourceSpec, preset_iterations, presets_of};
pub use document_file::{
    AllowedOutside, DOCUMENT_EXTENSION, DOCUMENT_VERSION, DocumentFile, MOST_DOCUMENT_BYTES, NotOpened, OpenedDocument,
    Outside, SourceNote, SourceState, document_schema, is_document, is_document_name, open_document, read_document,
    save_document,
};
pub use editor::USUAL_EDITOR;
pub use export::export_about;
pub use files::{
    FileError, TextOrImported, look, look_at, look_at_files, look_at_files_with, read_bytes, read_source,
    read_text_or_source,
};
pub use folder::{Keep, StatedMemory, read_story};
pub use known_names::KnownNames;
pub use load::{load, load_kept, load_unmeasured};
pub use loaded::{Loaded, ReadConfig, ReadScript};
pub use multi_file::{OnFailure, read_each};
pub use name_reuse::{MOST_LOG_LINES, NamesReport, REUSE_LEVELS};
pub use opened_config::{OpenedConfig, StartConfigs};
pub use opening::read_config_file;
pub use overwrite::{OutputKind, ReadFiles, SettingsFiles};
pub use painter::{LanePicture, PictureFrame, PictureKind, PictureOrder, RowsPicture};
pub use persisted::{MOST_RECENT, PersistedDocument, PersistedSource, Recent, Recents, Restore};
pub use planner::{BestPlan, PlannerFigures, PlannerRow, PlannerSubject, PlannerTable, SearchingRow};
pub use recovery::{Recoverable, Recovery};
pub use report::SourceReport;
pub use samples::{SAMPLES, Sample, SampleFile, sample};
pub use shell_quote::{shell_flag, shell_path, shell_word};
pub use state::{
    Busy, ConfigPreview, ContentOrder, DeviceAt, Exporting, FoundSettings, LaneInView, Notice, RecordedAt, Requested,
    Search, Session, TableKey, setting_version,
};
pub use sweep::{SweepOrder, SweepTable, probe_sweep_files};
pub use threads::{ThreadsError, most_threads};
pub use under_way::{Ended, end_writes};
pub use worker::{Wake, Worker};
pub use write::{WriteError, write_pieces, write_whole};
pub use write_config::{WriteConfigError, write_config};

pub use highwater_export::{
    EXPORT_FORMS, ExportForm, ExportLanes, ExportRow, LogPage, PagePart, PageTable, Picture, SvgColors,
};
pub use highwater_script::{ConfigExport, ConfigForm, files_text};
pub use highwater_timeline::Selected;
