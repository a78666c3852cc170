//! The answer of `plan` for people: figures, proofs, and a comparison of strategies.

use super::explain;
use crate::choice::Choice;
use crate::text::{diagnostics, diagnostics_section};
use highwater_export::{PlanAnswer, Table, WirePlan};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Nanos, percent_text};
use highwater_plan::{AS_DUMPED, Fit};

/// The beginning of the diagnostic that there is nothing to place.
pub(super) const NOTHING: &str = "there is nothing to place";

pub(super) fn text(answer: &PlanAnswer<'_>, wire: &WirePlan, choice: &Choice) -> String {
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
    out.push_str(&figures(answer, wire));
    out.push('\n');
    out.push_str(&verdict(answer, wire));
    if let Some(why) = answer.lower_bound {
        out.push_str(&format!("the sizes are lower bounds: {why}\n"));
    }
    if !wire.strategies.is_empty() {
        out.push('\n');
        out.push_str(&strategies(wire));
    }
    if let Some(chain) = &wire.peak_chain {
        out.push('\n');
        out.push_str(&explain::chain(chain));
    }
    if let Some(fragmentation) = &wire.fragmentation {
        out.push('\n');
        out.push_str(&explain::fragmentation(fragmentation));
    }
    for why in &wire.why {
        out.push('\n');
        out.push_str(&explain::why(why));
    }
    if let Some(edges) = &wire.edges {
        let mut table = Table::new(&["donor", "heir", ">bytes"]);
        for edge in edges {
            table.row(&[&edge.earlier, &edge.later, &edge.bytes]);
        }
        out.push('\n');
        out.push_str(&table.text());
    }
    out + &diagnostics_section(answer.diagnostics)
}

fn figures(answer: &PlanAnswer<'_>, wire: &WirePlan) -> String {
    let mut table = Table::new(&["plan", wire.strategy, ">"]);
    let mut size = |what: &str, bytes: u64| table.row(&[&what, &Bytes(bytes), &Bytes(bytes).exact()]);
    size("footprint", wire.footprint_bytes);
    size("peak live (lower bound)", wire.lower_bound_bytes);
    if wire.proved_bound_bytes > wire.lower_bound_bytes {
        size("proved bound", wire.proved_bound_bytes);
    }
    if let Some(capacity) = wire.capacity_bytes {
        size("capacity", capacity);
    }
    // An invalid plan has neither a distance from the bound nor reuse.
    if let Some(percent) = wire.over_bound_percent {
        table.row(&[&"over the bound", &percent_text(percent), &""]);
    }
    table.row(&[&"buffers", &wire.buffers, &""]);
    if answer.defect.is_none() {
        table.row(&[&"reuse edges", &wire.reuse_edges, &""]);
    }
    table.row(&[&"search nodes", &wire.nodes, &""]);
    table.row(&[&"time", &Nanos(wire.elapsed_ns), &""]);
    table.text()
}

/// The certainty of the answer, a sentence per line.
fn verdict(answer: &PlanAnswer<'_>, wire: &WirePlan) -> String {
    let planned = answer.planned;
    if let Some(defect) = &wire.defect {
        let whose = if planned.strategy == AS_DUMPED {
            "the offsets are those of the file; another --strategy places the buffers anew\n"
        } else {
            ""
        };
        return format!("NOT A VALID PLAN: {defect}\n{whose}");
    }
    let optimality = if wire.optimal {
        "proven optimal: no plan is smaller".to_owned()
    } else {
        let over = percent_text(planned.plan.footprint.percent_over(planned.proved_bound));
        format!("within {over} of the bound, so at most that much above the smallest plan there can be")
    };
    let mut lines = vec![format!("{optimality}; checked: no two live buffers share a byte")];
    let capacity = answer.capacity.unwrap_or_default();
    lines.extend(answer.fit().map(|fit| match fit {
        Fit::Fits => format!("fits in {capacity}"),
        Fit::Impossible => format!("does not fit in {capacity}: proved, no plan does"),
        Fit::NotFound => format!("does not fit in {capacity}: none was found that does, there may be a plan"),
    }));
    lines.push(String::new());
    lines.join("\n")
}

fn strategies(wire: &WirePlan) -> String {
    let mut table = Table::new(&[
        "strategy",
        ">footprint",
        ">exact",
        ">over the bound",
        ">nodes",
        ">time",
        "",
    ]);
    let smallest = wire.strategies.iter().map(|row| row.footprint_bytes).min();
    for row in &wire.strategies {
        let mark = if Some(row.footprint_bytes) == smallest {
            "smallest"
        } else {
            ""
        };
        let footprint = Bytes(row.footprint_bytes);
        let over = row.over_bound_percent;
        let nodes = Some(row.nodes).filter(|nodes| *nodes > 0);
        table.row(&[
            &row.strategy,
            &footprint,
            &footprint.exact(),
            &over.map_or_else(|| "unknown: not a valid plan".to_owned(), percent_text),
            &nodes.map_or(String::new(), |nodes| nodes.to_string()),
            &row.elapsed_ns.map_or(String::new(), |time| Nanos(time).to_string()),
            &mark,
        ]);
    }
    table.text()
}
