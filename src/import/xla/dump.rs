//! The texts that XLA writes for a module: `buffer-assignment.txt` and `live-range.txt`, alone or concatenated.
//!
//! ```text
//! BufferAssignment:
//! allocation 55: size 1835008, preallocated-temp:
//!  value: <272 broadcast_maximum_fusion.1 @0> (size=524288,offset=0): f32[128,1024]{1,0}
//!
//! HloLiveRange (max 56):
//!   InstructionSequence:
//!     0:p.1
//!   BufferLiveRange:
//!     wrapped_log{}:28-30                                       both ends included
//!   Live ranges at 53 (peak):
//!     dot{}: 3211264 bytes (cumulative: 11599872 bytes)
//! ```
//!
//! Line by line; other sections are passed over.

use std::collections::BTreeMap;

use super::assignment::{Allocation, Assignment, Kind, Value};
use crate::ImportError;
use crate::text_limits::STEPS;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;

pub(super) const ASSIGNMENT: &str = "BufferAssignment:";
pub(super) const RANGES: &str = "HloLiveRange (max ";
const ADVICE: &str = "dump it again with --xla_dump_to";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    /// Steps of the schedule.
    pub(super) n_steps: u64,
    /// First and last step by name, in the file's order.
    pub(super) steps: Vec<(String, (u64, u64))>,
    /// The step of XLA's own peak.
    pub(super) peak: Option<u64>,
    /// Bytes of what lives then.
    pub(super) sizes: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dump {
    pub(super) assignment: Option<Assignment>,
    pub(super) ranges: Option<Ranges>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Other,
    /// A list for people that is passed over.
    Passed,
    Allocations,
    Sequence,
    LiveRanges,
    Peak,
}

pub(super) fn read(text: &str, progress: &Progress<'_>, diagnostics: &mut Diagnostics) -> Result<Dump, ImportError> {
    let mut dump = Dump::default();
    let mut section = Section::Other;
    let mut read = 0_usize;
    for (line, content) in (1_u64..).zip(text.lines()) {
        read += content.len() + 1;
        if line % 4096 == 1 {
            progress.set("reading", read as u64, text.len() as u64)?;
        }
        let trimmed = content.trim();
        if let Some(next) = start_of(trimmed, &mut dump).map_err(|what| bad(what, line))? {
            section = next;
            if next == Section::Passed {
                diagnostics.skipped("a list for people in the dump", trimmed);
            }
            continue;
        }
        let done = match section {
            Section::Allocations => allocation_line(trimmed, &mut dump),
            Section::Sequence | Section::Passed => Ok(()),
            Section::LiveRanges => range_line(trimmed, &mut dump),
            Section::Peak => peak_line(trimmed, &mut dump),
            Section::Other => {
                if !trimmed.is_empty() {
                    diagnostics.skipped(
                        "a line of the dump that belongs to no known section",
                        &format!("line {line}"),
                    );
                }
                Ok(())
            }
        };
        done.map_err(|what| bad(what, line))?;
    }
    Ok(dump)
}

fn bad(what: impl Into<String>, line: u64) -> ImportError {
    ImportError::at(what, format!("line {line}"), ADVICE)
}

fn start_of(line: &str, dump: &mut Dump) -> Result<Option<Section>, String> {
    if line == ASSIGNMENT {
        dump.assignment.get_or_insert_default();
        return Ok(Some(Section::Allocations));
    }
    if let Some(rest) = line.strip_prefix(RANGES) {
        let n_steps = rest.strip_suffix("):").and_then(|number| number.parse().ok());
        dump.ranges.get_or_insert_default().n_steps = n_steps.ok_or("the number of steps is not readable")?;
        return Ok(Some(Section::Other));
    }
    Ok(match line {
        "InstructionSequence:" => Some(Section::Sequence),
        "BufferLiveRange:" => {
            dump.ranges.get_or_insert_default();
            Some(Section::LiveRanges)
        }
        "Used values:" => Some(Section::Passed),
        _ if line.starts_with("Total bytes used:") || line.starts_with("Stack trace breakdown") => {
            Some(Section::Passed)
        }
        _ => match line
            .strip_prefix("Live ranges at ")
            .and_then(|rest| rest.strip_suffix(" (peak):"))
        {
            Some(step) => {
                let step = step.parse().map_err(|_error| format!("\"{step}\" is no step"))?;
                dump.ranges.get_or_insert_default().peak = Some(step);
                Some(Section::Peak)
            }
            None => None,
        },
    })
}

fn allocation_line(line: &str, dump: &mut Dump) -> Result<(), String> {
    let Some(assignment) = &mut dump.assignment else {
        return Ok(());
    };
    if let Some(rest) = line.strip_prefix("allocation ") {
        assignment.allocations.push(allocation(rest)?);
    } else if let Some(rest) = line.strip_prefix("value: <") {
        let last = assignment.allocations.last_mut();
        last.ok_or("a value comes before every allocation")?
            .values
            .push(value(rest)?);
    } else if !line.is_empty() {
        return Err("an allocation or a value is expected".to_owned());
    }
    Ok(())
}

/// `55: size 1835008, parameter 2, shape |f32[2]| at ShapeIndex {}, maybe-live-out:`
fn allocation(text: &str) -> Result<Allocation, String> {
    const FORM: &str = "an allocation is written \"allocation N: size S, kinds:\"";
    let (index, rest) = text.split_once(": size ").ok_or(FORM)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let mut kinds = std::collections::BTreeSet::new();
    // Shapes are between bars and may hold anything but bars.
    for words in rest[end..].split('|').step_by(2) {
        for word in words.split(", ") {
            let word = word.trim_start_matches(',').trim().trim_end_matches(':');
            kinds.extend(match word.split(' ').next().unwrap_or("") {
                "parameter" => Some(Kind::Parameter),
                "maybe-live-out" => Some(Kind::LiveOut),
                "constant" => Some(Kind::Constant),
                "thread-local" => Some(Kind::ThreadLocal),
                _ => None,
            });
        }
    }
    if kinds.is_empty() {
        kinds.insert(Kind::Temp);
    }
    Ok(Allocation {
        index: index.parse().map_err(|_error| FORM.to_owned())?,
        size: rest[..end].parse().map_err(|_error| FORM.to_owned())?,
        kinds,
        values: Vec::new(),
    })
}

/// `272 name{1,2} (phi) @0> (size=524288,offset=0): shape`
fn value(text: &str) -> Result<Value, String> {
    const FORM: &str = "a value is written \"value: <ID NAME @COLOUR> (size=S,offset=O): SHAPE\"";
    let (id, rest) = text.split_once(' ').ok_or(FORM)?;
    let (name, rest) = rest.split_once(" @").ok_or(FORM)?;
    let (_, rest) = rest.split_once("(size=").ok_or(FORM)?;
    let (size, rest) = rest.split_once(",offset=").ok_or(FORM)?;
    let (offset, _) = rest.split_once(')').ok_or(FORM)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_error| FORM.to_owned());
    let plain = name.strip_suffix(" (phi)");
    Ok(Value {
        id: number(id)?,
        name: plain.unwrap_or(name).to_owned(),
        size: number(size)?,
        offset: number(offset)?,
        is_phi: plain.is_some(),
    })
}

/// `name{1}:28-30`
fn range_line(line: &str, dump: &mut Dump) -> Result<(), String> {
    const FORM: &str = "a live range is written \"NAME{PATH}:START-END\"";
    let Some(ranges) = &mut dump.ranges else { return Ok(()) };
    if line.is_empty() {
        return Ok(());
    }
    let (name, steps) = line.rsplit_once(':').ok_or(FORM)?;
    let (start, end) = steps.split_once('-').ok_or(FORM)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_error| FORM.to_owned());
    let range = (number(start)?, number(end)?);
    if range.0 > range.1 {
        return Err(format!("the live range {steps} ends before it starts"));
    }
    if range.1 >= STEPS {
        return Err(format!("the live range {steps} ends beyond step {STEPS}, the limit"));
    }
    ranges.steps.push((name.to_owned(), range));
    Ok(())
}

/// `name{}: 4194304 bytes (cumulative: 4194304 bytes)`
fn peak_line(line: &str, dump: &mut Dump) -> Result<(), String> {
    let Some(ranges) = &mut dump.ranges else { return Ok(()) };
    let Some((name, rest)) = line
        .rsplit_once(" bytes (")
        .and_then(|(left, _)| left.rsplit_once(": "))
    else {
        return Ok(());
    };
    let bytes = rest
        .parse()
        .map_err(|_error| format!("\"{rest}\" is no number of bytes"))?;
    ranges.sizes.insert(name.to_owned(), bytes);
    Ok(())
}
