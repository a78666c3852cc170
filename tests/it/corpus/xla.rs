//! The XLA importer against the shared corpus: every dump of the folder, its texts, its protobuf and XLA's own plan.

use std::collections::BTreeMap;
use std::path::Path;

use highwater::graph::{Bindings, Graph};
use highwater::import::{Input, join_dump};
use highwater::plan::{Plan, verify};
use highwater::progress::{Cancel, Progress};
use highwater::session::{OnFailure, SourceSpec, load};
use highwater::workload::{GraphEntry, ProblemEntry, Source};
use serde_json::Value as Json;

use crate::oracle::Oracle;
use crate::support::{read, shared};
use crate::workloads::workload;

fn bytes(folder: &Path, file: &str) -> Vec<u8> {
    std::fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn entry(folder: &Path, file: &str) -> GraphEntry {
    let workload = workload(file, &bytes(folder, file));
    workload.graphs()[0].clone()
}

fn problems(source: &Source) -> &[std::sync::Arc<ProblemEntry>] {
    match source {
        Source::Problems(problems) => problems,
        _ => panic!("the dump holds problems"),
    }
}

fn number(expected: &Json, key: &str) -> u64 {
    expected[key].as_u64().unwrap_or_else(|| panic!("{key} is a number"))
}

/// Every dump of the corpus with the figures of an independent reader.
fn each(run: impl Fn(&Path, &Json, &str)) {
    let Some(folder) = shared("corpus/made/xla") else {
        return;
    };
    let expected: Json = serde_json::from_slice(&bytes(&folder, "expected.json")).unwrap();
    for (name, expected) in expected.as_object().unwrap() {
        let folder = folder.join(name);
        if folder.is_dir() {
            run(&folder, expected, name);
        }
    }
}

fn verified(entry: &ProblemEntry, title: &str) -> u64 {
    let plan = Plan::new(&entry.problem, entry.recorded.as_ref().unwrap().offsets.clone());
    verify(&entry.problem, &plan).unwrap_or_else(|error| panic!("{title} {}: {error}", entry.name));
    assert!(plan.footprint <= entry.capacity.unwrap(), "{title} {}", entry.name);
    assert!(entry.problem.lower_bound() <= plan.footprint, "{title} {}", entry.name);
    plan.footprint.get()
}

#[test]
fn modules_and_their_plans_have_the_figures_of_the_oracle() {
    each(|folder, expected, title| {
        let entry = entry(folder, "hlo_after.hlo.pb");
        let dumped = entry.dumped.as_ref().unwrap();
        let facts: BTreeMap<&str, u64> = dumped
            .facts
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), value.parse().ok()?)))
            .collect();
        let mut oracle = Oracle::new(title, expected);
        oracle.same("n_instructions_entry", entry.graph.ops().len() as u64);
        for (fact, key) in [
            ("computations", "n_computations"),
            ("instructions", "n_instructions_all"),
            ("steps of the flattened schedule", "schedule_len"),
            ("allocations", "n_allocations"),
            ("allocations bytes", "sum_allocations"),
            ("allocations bytes", "report_total_bytes"),
            ("parameter bytes", "parameter_bytes"),
            ("parameter bytes", "memory_analysis.argument_size_in_bytes"),
            ("maybe-live-out bytes", "maybe_live_out_bytes"),
            ("constant bytes", "constant_bytes"),
            ("thread-local bytes", "thread_local_bytes"),
            ("preallocated-temp bytes", "temp_bytes"),
            ("preallocated-temp bytes", "memory_analysis.temp_size_in_bytes"),
            ("preallocated-temp values", "n_values_in_temp"),
            ("preallocated-temp bytes of values", "sum_value_sizes_in_temp"),
            ("live ranges", "n_live_ranges"),
        ] {
            match facts.get(fact) {
                Some(ours) => oracle.same(key, *ours),
                None => oracle.fault(&format!("there is no fact \"{fact}\"")),
            }
        }
        match dumped.peak_live {
            Some((bytes, step)) => {
                oracle.same("live_bytes_at_peak_reported_by_xla", bytes.get());
                oracle.same("peak_step", step);
            }
            // Loops: only the text of the live ranges states it.
            None => {
                assert!(!entry.bodies.is_empty(), "{title}");
                oracle.left_out("live_bytes_at_peak_reported_by_xla");
                oracle.left_out("peak_step");
            }
        }
        // The executable's totals are sums of compared figures.
        for key in [
            "memory_analysis",
            "total_needed_arg_plus_out_minus_alias_plus_temp",
            "n_live_at_peak",
        ] {
            oracle.left_out(key);
        }
        let faults = oracle.faults();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let temp = dumped
            .arenas
            .iter()
            .filter(|arena| arena.name.contains("preallocated-temp"));
        let footprint: u64 = temp.map(|arena| verified(arena, title)).sum();
        assert_eq!(footprint, number(expected, "temp_bytes"), "{title}");
        for arena in &dumped.arenas {
            verified(arena, title);
        }
    });
}

fn same(one: &Graph, other: &Graph, title: &str) {
    let of = |graph: &Graph| {
        let sizes = graph.sizes(&Bindings::new());
        let tensors = graph.tensors().ids();
        let tensors = tensors.map(|id| {
            (
                graph.tensor_name(id).to_owned(),
                sizes.tensor(id),
                graph.tensors()[id].role,
            )
        });
        let ops = graph.ops().ids();
        let ops = ops.map(|op| {
            let (name, kind) = (graph.op_name(op).to_owned(), graph.op_kind(op).to_owned());
            (name, kind, graph.operands(op).to_vec(), graph.results(op).to_vec())
        });
        (
            tensors.collect::<Vec<_>>(),
            ops.collect::<Vec<_>>(),
            graph.outputs().to_vec(),
        )
    };
    assert_eq!(one.name(), other.name(), "{title}");
    assert_eq!(of(one), of(other), "{title}");
}

#[test]
fn text_and_protobuf_of_a_module_are_one_graph() {
    each(|folder, _, title| {
        let (text, proto) = (entry(folder, "hlo_after.txt"), entry(folder, "hlo_after.hlo.pb"));
        assert_eq!(text.name, proto.name);
        same(&text.graph, &proto.graph, title);
        assert_eq!(text.bodies.len(), proto.bodies.len(), "{title}");
        for (one, other) in text.bodies.iter().zip(&proto.bodies) {
            same(one, other, title);
        }
        let before = entry(folder, "hlo_before.txt");
        assert!(
            before.graph.ops().len() > 10 && before.graph.reordered_ops() == 0,
            "{title}"
        );
    });
}

/// First and last step of every value by name.
fn ranges(entries: &[std::sync::Arc<ProblemEntry>]) -> BTreeMap<String, (u32, u32)> {
    let mut ranges = BTreeMap::new();
    for entry in entries {
        for (position, buffer) in entry.problem.buffers.iter().enumerate() {
            let name = entry.ids.get(position).trim_end_matches("{}").to_owned();
            ranges.insert(name, (buffer.lower.0, buffer.upper.0 - 1));
        }
    }
    ranges
}

#[test]
fn live_ranges_are_xlas_own_and_join_the_assignment_to_the_same_arenas() {
    each(|folder, expected, title| {
        let alone = read("live-range.txt", &bytes(folder, "live-range.txt")).unwrap();
        let listed = problems(&alone.source);
        assert_eq!(
            listed[0].problem.buffers.len() as u64,
            number(expected, "n_live_ranges"),
            "{title}"
        );
        let peak = highwater::plan::peak_live(&listed[0].problem);
        assert_eq!(
            peak.0.get(),
            number(expected, "live_bytes_at_peak_reported_by_xla"),
            "{title}"
        );
        let said = format!(
            "XLA states a peak of {} bytes in {} values at step {} of {}",
            peak.0.get(),
            number(expected, "n_live_at_peak"),
            number(expected, "peak_step"),
            number(expected, "schedule_len")
        );
        assert!(
            alone.diagnostics.entries().iter().any(|entry| entry.message == said),
            "{title}: {said}"
        );
        let xla = ranges(listed);
        let proto = entry(folder, "hlo_after.hlo.pb");
        let arenas = &proto.dumped.as_ref().unwrap().arenas;
        for (name, range) in ranges(arenas) {
            assert_eq!(xla.get(&name), Some(&range), "{title} {name}");
        }
        let held = read("buffer-assignment.txt", &bytes(folder, "buffer-assignment.txt")).unwrap();
        let held = &problems(&held.source)[0].problem;
        assert_eq!(held.buffers.len() as u64, number(expected, "n_allocations"), "{title}");
        let sum: u64 = held.buffers.iter().map(|buffer| buffer.size.get()).sum();
        assert_eq!(sum, number(expected, "sum_allocations"), "{title}");
        for files in [
            ["buffer-assignment.txt", "live-range.txt"],
            ["live-range.txt", "buffer-assignment.txt"],
        ] {
            let cancel = Cancel::new();
            let mut inputs = files.map(|file| Input::from_bytes(file, bytes(folder, file)).unwrap());
            let joined = join_dump(&mut inputs, &Progress::silent(&cancel)).unwrap().unwrap();
            let joined = problems(&joined.source);
            assert_eq!(joined.len(), arenas.len(), "{title}");
            for (one, other) in joined.iter().zip(arenas) {
                assert_eq!(one.name, other.name, "{title}");
                assert_eq!(one.problem, other.problem, "{title} {}", one.name);
                assert_eq!(one.recorded, other.recorded, "{title} {}", one.name);
            }
        }
    });
}

#[test]
fn a_module_and_its_texts_join_to_what_the_protobuf_holds() {
    each(|folder, expected, title| {
        let files = ["live-range.txt", "hlo_after.txt", "buffer-assignment.txt"];
        let cancel = Cancel::new();
        let mut inputs = files.map(|file| Input::from_bytes(file, bytes(folder, file)).unwrap());
        let joined = join_dump(&mut inputs, &Progress::silent(&cancel)).unwrap().unwrap();
        let Source::Graphs(entries) = &joined.source else {
            panic!("{title}: a graph")
        };
        let proto = entry(folder, "hlo_after.hlo.pb");
        let (found, whole) = (entries[0].dumped.as_ref().unwrap(), proto.dumped.as_ref().unwrap());
        assert_eq!(entries[0].graph.ops().len(), proto.graph.ops().len(), "{title}");
        assert_eq!(found.arenas.len(), whole.arenas.len(), "{title}");
        for (one, other) in found.arenas.iter().zip(&whole.arenas) {
            assert_eq!(
                (&one.problem, &one.recorded),
                (&other.problem, &other.recorded),
                "{title}"
            );
        }
        let temp = found.facts.iter().find(|(key, _)| key == "preallocated-temp bytes");
        assert_eq!(
            temp.and_then(|(_, value)| value.parse().ok()),
            expected["temp_bytes"].as_u64()
        );
        // Ranges of another module are rejected.
        let mut inputs = ["live-range.txt", "hlo_after.txt", "buffer-assignment.txt"].map(|file| {
            let content = bytes(folder, file);
            let text = String::from_utf8(content).unwrap();
            let text = if file == "hlo_after.txt" {
                "HloModule other\nENTRY %e {\n  ROOT %p = f32[1]{0} parameter(0)\n}\n".to_owned()
            } else {
                text
            };
            Input::from_bytes(file, text.into_bytes()).unwrap()
        });
        assert!(
            join_dump(&mut inputs, &Progress::silent(&cancel)).unwrap().is_none(),
            "{title}"
        );
    });
}

#[test]
fn incomplete_lists_name_the_file_to_open_instead() {
    each(|folder, _, title| {
        for file in ["buffer-assignment-values.txt", "memory-usage-report.txt"] {
            let error = read(file, &bytes(folder, file)).unwrap_err().to_string();
            assert!(error.contains(".hlo.pb"), "{title} {file}: {error}");
        }
    });
}

#[test]
fn a_folder_of_dumps_opens_its_module_once() {
    each(|folder, _, title| {
        let cancel = Cancel::new();
        let source = SourceSpec::Path(folder.to_owned());
        let loaded = load(&[source], false, OnFailure::Stop, &Progress::silent(&cancel))
            .unwrap_or_else(|error| panic!("{title}: {error}"));
        let graphs = loaded.workload.graphs();
        assert_eq!(graphs.len(), 1, "{title}");
        let dumped = graphs[0].dumped.as_ref();
        assert!(dumped.is_some_and(|dumped| !dumped.arenas.is_empty()), "{title}");
        let told = loaded.diagnostics.entries().iter();
        assert!(
            told.clone()
                .any(|entry| entry.message.contains("another compiler stage")),
            "{title}"
        );
    });
}

/// Arguments + outputs - aliases + temporary memory, as the executable states them: what XLA holds, and what policy 0 of the
/// same module reserves, up to a page of each pool.
#[test]
fn the_reserved_peak_is_what_the_executable_holds() {
    each(|folder, expected, title| {
        let total = number(expected, "total_needed_arg_plus_out_minus_alias_plus_temp");
        for file in ["hlo_after.hlo.pb", "hlo_after.txt"] {
            let source = SourceSpec::Path(folder.join(file));
            let session = crate::sessions::session(vec![source]);
            let (comparison, _) = session.answer().expect("an answer");
            let reserved = comparison.lanes[0].summary.peak_reserved.get();
            let most = total + (total / 40).max(2_162_688);
            assert!(
                (total - total / 50..=most).contains(&reserved),
                "{title} {file}: {reserved} for {total}"
            );
        }
    });
}
