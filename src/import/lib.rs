//! File bytes -> Source: one file or folder per format, one row each in [`IMPORTERS`].
//!
//! In: an [`Input`] (name, length, a seekable reader). Out: [`Imported`] (graphs or live ranges, the format's
//! name, diagnostics) or an [`ImportError`] with a place in the file. Detection looks at content; the extension
//! only breaks ties. Deliberately not here: opening files, and anything about policies.

mod allocation_trace;
mod ascend_profiler;
mod block_program;
mod budget;
mod byte_order_mark;
mod cann_log;
mod chrome_trace;
mod decimal;
mod dim_text;
mod dtr_log;
mod each;
mod element_types;
mod error;
mod event_range;
mod ge_dump;
mod gzip;
mod input;
mod json_key;
mod json_stream;
mod lines;
mod megengine;
mod memory_timeline;
mod mindspore;
mod names;
mod native;
mod notices;
mod onnx;
mod onnxruntime_profile;
mod op_list;
mod pages;
mod problem;
mod proto_head;
mod proto_kind;
mod shape;
mod sqlite;
mod sums;
mod table;
mod tensorflow;
#[cfg(test)]
mod test_help;
mod text_limits;
mod text_proto;
mod tflite;
mod torch_snapshot;
mod translate;
mod unknown;
mod unread_formats;
mod unsupported_hint;
mod wire;
mod xla;

pub use ascend_profiler::{group_slices, join_slices, missing_slices};
pub use cann_log::LogFile;
pub use error::ImportError;
pub use input::{Input, ReadSeek};
pub use json_key::has_key as has_json_key;
pub use mindspore::{FolderFile, superseded_dumps};
pub use table::{
    IMPORTERS, Imported, Importer, dump_part, group_dump_parts, import, import_as, import_logs, importer, join_dump,
    recognise, text_where, unpacked, unread_advice,
};
pub use unread_formats::is_genai_config;
pub use xla::DumpPart;
