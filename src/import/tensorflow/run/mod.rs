//! `RunMetadata`: what TensorFlow measured of a traced step -> recordings.
//!
//! ```text
//! RunMetadata { step_stats { dev_stats { device, node_stats { node_name, times, memory_stats { temp_memory_size },
//!     memory { allocator_name, allocation_records { alloc_micros, alloc_bytes } } } } } }
//! ```
//!
//! A session that runs with the option of a full trace fills it; `m.SerializeToString()` or its text is the file. A
//! negative `alloc_bytes` gives memory back. Source: the public protos `tensorflow/core/framework/step_stats.proto` and
//! `tensorflow/core/protobuf/config.proto`. One recording for each device and allocator; what is measured of its ops
//! belongs to its first allocator. An event is a step. Ties: events of one microsecond are ordered "memory freed,
//! then memory allocated", each in the order of the file; but memory that is freed in the microsecond in which it was
//! allocated comes last. Within a node an end belongs to the oldest open block of its size. Not read: the graphs, the cost
//! model, the descriptions of outputs, because the records are exact; a diagnostic counts them.

mod assemble;
mod parse;

use std::sync::Arc;

use super::detect::{self, Content};
use crate::text_proto::TextProto;
use crate::wire::Wire;
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

pub(crate) fn detect(input: &Input<'_>) -> bool {
    matches!(detect::content(input.head()), Some((Content::Run, _)))
}

pub(crate) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let len = input.len();
    let is_text = match detect::content(input.head()) {
        Some((_, is_text)) => is_text,
        None => detect::is_text(input.head()),
    };
    let reader = input.reader()?;
    let devices = if is_text {
        parse::file(&mut TextProto::new(reader, len, *progress), len, diagnostics)?
    } else {
        parse::file(&mut Wire::new(reader, len, *progress), len, diagnostics)?
    };
    let mut recordings = Vec::new();
    for device in devices {
        progress.check()?;
        recordings.extend(assemble::recordings(device, diagnostics)?);
    }
    if recordings.is_empty() {
        return Err(ImportError::at_byte(
            "the run has no measured ops and no allocations",
            len,
        ));
    }
    Ok(Source::Recordings(recordings.into_iter().map(Arc::new).collect()))
}
