//! The vendor's planner: rules by hand, recorded answers, random op lists and problems.

mod op_lists;
mod recorded;
mod rules;

use highwater::import::Imported;
use highwater::plan::{Assigner, EnginePlan, PlacementProblem, engine_plan, verify};
use highwater::progress::{Cancel, Progress};
use highwater::workload::{ProblemEntry, Source};

use crate::support;

fn first(imported: Imported) -> ProblemEntry {
    match imported.source {
        Source::Problems(entries) => (*entries[0]).clone(),
        other => panic!("{other:?}"),
    }
}

/// An op list in the form of its files.
fn listed(text: &str) -> ProblemEntry {
    let imported = support::read("a.ops", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "op_list");
    first(imported)
}

fn planned(entry: &ProblemEntry, assigner: Assigner) -> EnginePlan {
    let plan = of(&entry.problem, entry, assigner);
    let checked = highwater::plan::Plan::new(&entry.problem, plan.offsets.clone());
    assert_eq!(verify(&entry.problem, &checked), Ok(()));
    assert!(checked.footprint <= plan.arena);
    plan
}

fn of(problem: &PlacementProblem, entry: &ProblemEntry, assigner: Assigner) -> EnginePlan {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    engine_plan(problem, entry.order.as_ref(), assigner, &progress).unwrap()
}

fn offset(entry: &ProblemEntry, plan: &EnginePlan, id: &str) -> u64 {
    let position = (0..entry.ids.len()).find(|position| entry.ids.get(*position) == id);
    plan.offsets[position.unwrap_or_else(|| panic!("no buffer {id}"))]
}
