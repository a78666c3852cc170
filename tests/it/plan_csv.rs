//! A plan written as CSV is read back unchanged.

use highwater::diagnostics::Diagnostics;
use highwater::export::{Answer as _, PlanAnswer, PlanDetails};
use highwater::plan::{AS_DUMPED, PlanRequest, Planned, find, verify};
use highwater::progress::{Cancel, Progress};
use highwater::workload::{Names, ProblemEntry, Source};
use proptest::prelude::*;

use crate::problems::{any_rich_problem, planned};
use crate::support;

fn as_read(problem: &highwater::plan::PlacementProblem, ids: &[String], planned: &Planned) -> ProblemEntry {
    let entry = ProblemEntry {
        problem: problem.clone(),
        ids: ids.iter().map(String::as_str).collect::<Names>(),
        ..ProblemEntry::default()
    };
    let answer = PlanAnswer {
        entry: &entry,
        planned,
        defect: None,
        capacity: None,
        edges: &[],
        others: &[],
        choice: None,
        states_alignment: true,
        lower_bound: None,
        diagnostics: &Diagnostics::new(),
        elapsed_ns: 0,
        details: &PlanDetails::default(),
    };
    let text = answer.csv().unwrap();
    let imported = support::read("plan.csv", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match imported.source {
        Source::Problems(entries) => (*entries[0]).clone(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn a_written_plan_is_read_back(problem in any_rich_problem(), odd in "[ a,\"\r\n\u{feff}é]{0,4}") {
        if problem.buffers.is_empty() {
            // A file without a buffer is rejected.
            return Ok(());
        }
        let planned = planned("greedy_by_size", &problem);
        let ids: Vec<String> = (0..problem.buffers.len()).map(|idx| format!("{odd}{idx}{odd}")).collect();
        let read = as_read(&problem, &ids, &planned);
        for (idx, id) in ids.iter().enumerate() {
            prop_assert_eq!(read.ids.get(idx), id);
        }
        prop_assert_eq!(&read.recorded.as_ref().unwrap().offsets, &planned.plan.offsets);
        // Every offset is fixed now; otherwise the problem is the same.
        let mut free = read.problem.clone();
        free.buffers.iter_mut().for_each(|buffer| buffer.offset = None);
        prop_assert_eq!(&free, &problem);
        let cancel = Cancel::new();
        let request = PlanRequest { recorded: read.recorded.as_ref(), ..PlanRequest::new(&read.problem) };
        let again = highwater::plan::plan(find(AS_DUMPED).unwrap(), &request, &Progress::silent(&cancel)).unwrap();
        prop_assert_eq!(verify(&read.problem, &again.plan), Ok(()));
        prop_assert_eq!(again.plan, planned.plan);
    }
}
