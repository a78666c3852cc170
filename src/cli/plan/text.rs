//! The answer of `plan` for people: figures, proofs, and a comparison of strategies.

use super::explain;
use crate::choice::Choice;
use crate::text::{diagnostics, diagnostics_section};
use highwater_export::{PlanAnswer, Table};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Nanos, percent_text};
use highwater_plan::{Effort, Fit, find};

/// The beginning of the diagnostic that there is nothing to place.
pub(super) const NOTHING: &str = "there is nothing to place";

pub(super) fn text(answer: &PlanAnswer<'_>, choice: &Choice) -> String {
    let mut out = match choice.remark() {
        Some(remark) => format!("{remark}\n\n"),
        None => String::new(),
    };
    if answer.is_empty() {
        // The diagnostic with the reason becomes the heading.
        let mut others = Diagnostics::new();
        let mut reason = "";
        for entry in answer.diagnostics.entries() {
            match entry.message.strip_prefix(NOTHING) {
                Some(why) => reason = why,
                None => others.push_counted(entry.clone()),
            }
        }
        out.push_str(&format!("nothing to place in \"{}\"{reason}\n\n", answer.entry.name));
        out.push_str(&diagnostics(&others));
        return out;
    }
    let (entry, details) = (answer.entry, answer.details);
    let bound = answer.lower_bound;
    let bound = bound.map_or_else(String::new, |why| format!("the sizes are lower bounds: {why}\n"));
    let mut sections = vec![figures(answer), verdict(answer) + &bound];
    if !answer.planned.tried.is_empty() {
        sections.push(strategies(answer));
    }
    let explained = &details.fragmentation;
    sections.extend(details.chain.iter().map(|chain| explain::chain(chain, entry)));
    sections.extend(explained.iter().map(|one| explain::fragmentation(one, entry)));
    sections.extend(details.reasons.iter().map(|why| explain::why(why, answer.edges, entry)));
    if details.lists_edges {
        let mut table = Table::new(&["buffer", "reused by", ">bytes"]);
        let id = |buffer: u32| entry.ids.get(buffer as usize);
        for edge in answer.edges {
            table.row(&[&id(edge.earlier), &id(edge.later), &edge.bytes.get()]);
        }
        sections.push(table.text());
    }
    out + &sections.join("\n") + &diagnostics_section(answer.diagnostics)
}

fn figures(answer: &PlanAnswer<'_>) -> String {
    let planned = answer.planned;
    let mut table = Table::new(&["plan", planned.strategy, ">"]);
    let mut size = |what: &str, bytes: Bytes| table.row(&[&what, &bytes, &bytes.exact()]);
    size("footprint", planned.plan.footprint);
    size("peak live (lower bound)", planned.lower_bound);
    if planned.proved_bound > planned.lower_bound {
        size("proved bound", planned.proved_bound);
    }
    if let Some(capacity) = answer.capacity {
        size("capacity", capacity);
    }
    // An invalid plan has neither a distance from the bound nor reuse.
    if let Some(percent) = answer.over_bound_percent(planned.plan.footprint) {
        table.row(&[&"above bound", &percent_text(percent), &""]);
    }
    table.row(&[&"buffers", &answer.entry.problem.buffers.len(), &""]);
    if answer.defect.is_none() {
        table.row(&[&"reuse edges", &answer.edges.len(), &""]);
    }
    table.row(&[&"search nodes", &planned.nodes, &""]);
    table.row(&[&"time", &Nanos(answer.elapsed_ns), &""]);
    table.text()
}

/// The certainty of the answer, a sentence per line.
fn verdict(answer: &PlanAnswer<'_>) -> String {
    let planned = answer.planned;
    if let Some(defect) = answer.defect_text() {
        let whose = if find(planned.strategy).is_ok_and(|row| row.effort == Effort::Recorded) {
            "offsets of the file; another --strategy places the buffers again\n"
        } else {
            ""
        };
        return format!("NOT A VALID PLAN: {defect}\n{whose}");
    }
    let optimality = if answer.is_optimal() {
        "proven optimal: no plan is smaller".to_owned()
    } else {
        let over = percent_text(planned.plan.footprint.percent_over(planned.proved_bound));
        format!("within {over} of the bound, so at most that much above the optimum")
    };
    let mut lines = vec![format!("{optimality}; checked: no two live buffers share a byte")];
    let capacity = answer.capacity.unwrap_or_default();
    lines.extend(answer.fit().map(|fit| match fit {
        Fit::Fits => format!("fits in {capacity}"),
        Fit::Impossible => format!("does not fit in {capacity} (proven: no plan fits)"),
        Fit::NotFound => format!("does not fit in {capacity} (not proven: a plan may exist)"),
    }));
    lines.push(String::new());
    lines.join("\n")
}

fn strategies(answer: &PlanAnswer<'_>) -> String {
    let mut table = Table::new(&[
        "strategy",
        ">footprint",
        ">exact",
        ">above bound",
        ">nodes",
        ">time",
        "",
    ]);
    let tried = &answer.planned.tried;
    for row in tried {
        // The plan may be an improvement of all of them.
        let is_smallest = row.footprint == answer.planned.plan.footprint;
        let over = answer.over_bound_percent(row.footprint);
        let nodes = Some(row.nodes).filter(|nodes| *nodes > 0);
        table.row(&[
            &row.strategy,
            &row.footprint,
            &row.footprint.exact(),
            &over.map_or_else(|| "unknown (invalid plan)".to_owned(), percent_text),
            &nodes.map_or(String::new(), |nodes| nodes.to_string()),
            &row.elapsed_ns.map_or(String::new(), |time| Nanos(time).to_string()),
            &if is_smallest { "smallest" } else { "" },
        ]);
    }
    table.text()
}
