//! A plan as CSV: rows `id,lower,upper,size,offset`, half-open, with the file's own ids and times.
//!
//! The columns `alignment` (of a problem file; all buffers of a graph have one alignment), `gaps` and `same_address_as` follow where the
//! problem has such values. The importer of problems reads the file back with its plan.

use std::fmt::Write as _;

use highwater_model::workload::ProblemEntry;
use highwater_plan::Plan;

/// The rows with a header. O(n log gaps).
pub(super) fn plan_csv(entry: &ProblemEntry, plan: &Plan, states_alignment: bool) -> String {
    let problem = &entry.problem;
    let has_alignment = states_alignment && problem.buffers.iter().any(|buffer| buffer.alignment > 1);
    let leaders = leaders(entry);
    let mut out = String::from("id,lower,upper,size,offset");
    for (is_there, heading) in [
        (has_alignment, ",alignment"),
        (!problem.gaps.is_empty(), ",gaps"),
        (!problem.groups.is_empty(), ",same_address_as"),
    ] {
        if is_there {
            out.push_str(heading);
        }
    }
    out.push('\n');
    for (position, (buffer, offset)) in problem.buffers.iter().zip(&plan.offsets).enumerate() {
        push_field(&mut out, entry.ids.get(position));
        let (lower, upper) = (entry.time(buffer.lower), entry.time(buffer.upper));
        // Writing to a String cannot fail.
        let _infallible = write!(out, ",{lower},{upper},{},{offset}", buffer.size.get());
        if has_alignment {
            let _infallible = write!(out, ",{}", buffer.alignment);
        }
        if !problem.gaps.is_empty() {
            let gaps = problem.gaps_of(position).iter();
            let gaps: Vec<String> = gaps
                .map(|gap| format!("{}-{}", entry.time(gap.lower), entry.time(gap.upper)))
                .collect();
            let _infallible = write!(out, ",{}", gaps.join(" "));
        }
        if !problem.groups.is_empty() {
            out.push(',');
            if let Some(leader) = leaders[position] {
                push_field(&mut out, entry.ids.get(leader as usize));
            }
        }
        out.push('\n');
    }
    out
}

/// By buffer the first member of its group; `None` for that member.
fn leaders(entry: &ProblemEntry) -> Vec<Option<u32>> {
    if entry.problem.groups.is_empty() {
        return Vec::new();
    }
    let mut leaders = vec![None; entry.problem.buffers.len()];
    for group in &entry.problem.groups {
        for member in group.iter().skip(1) {
            leaders[*member as usize] = group.first().copied();
        }
    }
    leaders
}

/// A field, in quotes where a reader would change it otherwise.
fn push_field(out: &mut String, text: &str) {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text || text.starts_with('\u{feff}') {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}
