//! Configurations as files: JSON, Python training scripts, notebooks, shell scripts, launchers' files; read and written.
//!
//! In: a file's name and bytes. Out: the [`ConfigDocument`], the same from every form, with a warning for every value that only a running
//! script knows. No script is ever run. And back: a document as JSON, as Python, an environment as shell; [`ConfigExport`] alone decides
//! what is written, and what speaks against it. Deliberately not here: checking values (`options::check`), files on disk.

mod config;
mod config_document;
mod config_export;
mod config_form;
mod config_schema;
mod config_wire;
mod encoding;
mod json_kind;
mod json_value;
mod launcher;
mod mindspore;
mod neighbours;
mod notebook;
mod python;
mod python_part;
mod quotes;
mod read_config;
mod reading;
mod shell;
mod torch_pin;
mod write_engine;
mod write_names;
mod write_python;
mod write_remarks;
mod write_shell;

pub use config::{ConfigError, from_json, schedule_from_json, to_json};
pub use config_document::{CONFIG_VERSION, ConfigDevice, ConfigDocument, NotFollowed, Predicted, ScriptFacts};
pub use config_export::{
    ConfigExport, ConfigFile, ConfigRefusal, WRITTEN_FORMS, config_errors, files_text, is_written_name,
};
pub use config_form::ConfigForm;
pub use config_schema::config_schema;
pub use json_value::{json_of, value_of};
pub use python_part::PythonPart;
pub use read_config::{is_script_name, read_config, read_config_of};
pub use write_python::{HEADER, to_python};
pub use write_shell::to_shell;
