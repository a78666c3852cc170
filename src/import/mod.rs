//! File bytes -> Source: one file or folder per format, one row each in [`IMPORTERS`].
//!
//! In: an [`Input`] (name, length, a seekable reader). Out: [`Imported`] (graphs or live ranges, the format's
//! name, diagnostics) or an [`ImportError`] with a place in the file. Detection looks at content; the extension
//! only breaks ties. Deliberately not here: opening files, and anything about policies.

mod allocation_trace;
mod block_program;
mod dim_text;
mod dtr_log;
mod each;
mod error;
mod gzip;
mod input;
mod json_key;
mod megengine;
mod native;
mod onnx;
mod op_list;
mod problem;
mod table;

pub use error::ImportError;
pub use input::{Input, ReadSeek};
pub use table::{IMPORTERS, Imported, Importer, import};
