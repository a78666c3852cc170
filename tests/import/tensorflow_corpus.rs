//! The TensorFlow importer on the shared corpus, where that is available: its files against their figures.

use std::collections::BTreeMap;
use std::path::Path;

use highwater_import::{IMPORTERS, Input};
use highwater_model::graph::{Bindings, Graph, Phase, Role};
use highwater_model::liveness::{View, lifetimes};
use highwater_model::workload::{GraphEntry, Source};
use serde_json::Value;

use crate::corpus::{json, known_alone, unpacked};
use crate::oracle::Oracle;
use crate::support::{files, name, read, shared};

fn entry(name: &str, bytes: &[u8]) -> Result<GraphEntry, String> {
    let imported = read(name, bytes).map_err(|error| error.to_string())?;
    match imported.source {
        Source::Graphs(entries) => entries.into_iter().next().ok_or_else(|| "no graph".to_owned()),
        _ => Err("no graphs".to_owned()),
    }
}

/// Bytes of what stays and of what is fed.
fn resident(graph: &Graph, bindings: &Bindings) -> (u64, u64) {
    let sizes = graph.sizes(bindings);
    let (mut weights, mut inputs) = (0, 0);
    for (id, tensor) in graph.tensors().iter_ids() {
        let bytes = sizes.tensor(id).unwrap_or(0);
        match tensor.role {
            Role::Input => inputs += bytes,
            role if role.is_resident() => weights += bytes,
            _ => {}
        }
    }
    (weights, inputs)
}

fn check(name: &str, bytes: usize, entry: &GraphEntry, expected: &Value, shapes: &Value, faults: &mut Vec<String>) {
    let graph = &*entry.graph;
    let mut oracle = Oracle::new(name, expected);
    let mut bindings = Bindings::new();
    if let Some(batch) = oracle.get("bound_batch").as_u64() {
        bindings.insert("batch".to_owned(), batch);
    }
    // A text of the same graph has the figures of the binary file, but for its size.
    if name.strip_suffix(".pb").is_some() {
        oracle.same("file_bytes", bytes as u64);
    } else {
        oracle.left_out("file_bytes");
    }
    let results = graph.tensors().iter().filter(|tensor| tensor.producer.is_some());
    oracle.same("n_nodes", graph.ops().len() as u64);
    oracle.same("n_tensors", results.count() as u64);
    oracle.same("n_functions", entry.bodies.len() as u64);
    let (weights, inputs) = resident(graph, &bindings);
    oracle.same("resident_const_var_read_bytes", weights);
    oracle.same("placeholder_bytes", inputs);
    oracle.same_kinds("op_types", graph);
    let sizes = graph.sizes(&bindings);
    let is_known = |id: highwater_model::graph::TensorId| !shapes[graph.tensor_name(id)]["bytes"].is_null();
    for (view, key) in [(View::Naive, "naive"), (View::Aliased, "alias_aware")] {
        // Tensors that the oracle does not know count nothing there; knowing them is better, but not comparable.
        let live = known_alone(&lifetimes(graph, &sizes, view), is_known);
        oracle.same_peak(key, graph, &live, true);
    }
    let without = graph.without_shape_reads();
    let live = known_alone(&lifetimes(&without, &sizes, View::Naive), is_known);
    oracle.same("naive_peak_if_shape_ops_do_not_keep_data_alive", live.peak().0.get());
    let is_sorted = graph.reordered_ops() == 0;
    oracle.holds(
        "file_order_is_topological",
        |theirs| theirs.as_bool() == Some(is_sorted),
        &format!("{is_sorted}"),
    );
    let unknown = graph.unknown_activations(&sizes).count();
    oracle.holds(
        "n_unknown_shape",
        |theirs| theirs.as_u64().is_some_and(|theirs| unknown as u64 <= theirs),
        &format!("{unknown} unknown"),
    );
    let inputs = graph
        .tensors()
        .iter_ids()
        .filter(|(_, tensor)| tensor.role == Role::Input);
    let inputs: Vec<&str> = inputs.map(|(id, _)| graph.tensor_name(id)).collect();
    for bound in oracle.get("bound_placeholders").as_array().into_iter().flatten() {
        let name = format!("{}:0", bound.as_str().unwrap_or_default());
        if !inputs.contains(&name.as_str()) {
            oracle.fault(&format!("{name} is no input"));
        }
    }
    // Edges and attributes of the file that figures do not depend on, and words.
    for key in [
        "n_control_edges",
        "n_back_edges",
        "n_nodes_with_output_shapes",
        "n_sinks",
        "unknown_examples",
        "note",
    ] {
        oracle.left_out(key);
    }
    faults.extend(oracle.faults());
    check_phases(name, graph, faults);
    eprintln!("{name}: {unknown} unknown, oracle {}", expected["n_unknown_shape"]);
}

/// A graph that applies gradients has all three phases, and what it applies to is trained.
fn check_phases(name: &str, graph: &Graph, faults: &mut Vec<String>) {
    let mut counts: BTreeMap<Phase, usize> = BTreeMap::new();
    graph
        .ops()
        .iter()
        .for_each(|op| *counts.entry(op.phase).or_default() += 1);
    let applies = graph.ops().ids().any(|op| graph.op_kind(op).contains("Apply"));
    let mut roles: BTreeMap<Role, usize> = BTreeMap::new();
    let sizes = graph.sizes(&Bindings::new());
    for (id, storage) in graph.storages().iter_ids() {
        let root = &graph.tensors()[storage.root];
        if sizes.storage(id) > 0 && root.role.is_variable() {
            *roles.entry(root.role).or_default() += 1;
        }
    }
    eprintln!("{name}: {counts:?} {roles:?}");
    if applies && (counts.len() != 3 || counts.contains_key(&Phase::Unknown) || roles.len() != 2) {
        faults.push(format!("{name}: phases {counts:?}, variables {roles:?}"));
    }
}

fn check_shapes(name: &str, graph: &Graph, batch: &Value, shapes: &Value, faults: &mut Vec<String>) {
    let bindings: Bindings = batch
        .as_u64()
        .map(|batch| ("batch".to_owned(), batch))
        .into_iter()
        .collect();
    let sizes = graph.sizes(&bindings);
    let found: BTreeMap<&str, _> = graph.tensors().ids().map(|id| (graph.tensor_name(id), id)).collect();
    let (mut n_wrong, mut n_unknown) = (0, 0);
    for (tensor, row) in shapes.as_object().into_iter().flatten() {
        let Some(id) = found.get(tensor.as_str()) else {
            faults.push(format!("{name}: there is no {tensor}"));
            continue;
        };
        let theirs = row["bytes"].as_u64();
        let ours = sizes.tensor(*id);
        if ours.is_none() && theirs.is_some_and(|bytes| bytes > 0) {
            n_unknown += 1;
        }
        let is_wrong = theirs.is_some() && row["shape"].is_array() && ours != theirs;
        if is_wrong {
            n_wrong += 1;
            if n_wrong <= 5 {
                faults.push(format!(
                    "{name}: {tensor} takes {ours:?} as {:?}, expected {row}",
                    graph.tensors()[*id].dtype
                ));
            }
        }
    }
    eprintln!("{name}: {n_wrong} shapes differ, {n_unknown} unknown");
}

#[test]
fn corpus_figures_are_the_oracles() {
    let Some(folder) = shared("corpus/made/tf") else { return };
    let expected = json(&folder.join("expected.json")).expect("the oracle's figures");
    let shapes = json(&folder.join("expected_shapes.json")).expect("the oracle's shapes");
    let mut faults = Vec::new();
    let mut n_files = 0;
    for path in [".pb", ".pbtxt", ".pbtxt.gz"]
        .iter()
        .flat_map(|ending| files(&folder, ending))
    {
        let file = name(&path);
        let row = format!("{}.pb", file.split(".pb").next().unwrap_or_default());
        let bytes = std::fs::read(&path).expect("the file is there");
        match entry(&file, &bytes) {
            Ok(entry) => {
                let (expected, shapes) = (&expected["graphs"][&row], &shapes[&row]);
                check(&file, bytes.len(), &entry, expected, shapes, &mut faults);
                check_shapes(&file, &entry.graph, &expected["bound_batch"], shapes, &mut faults);
                n_files += 1;
            }
            Err(error) => faults.push(format!("{file}: {error}")),
        }
    }
    eprintln!("{n_files} files");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn text_and_binary_give_the_same_graph() {
    let Some(folder) = shared("corpus/made/tf") else { return };
    let mut n_pairs = 0;
    for path in files(&folder, ".pbtxt").into_iter().chain(files(&folder, ".pbtxt.gz")) {
        let text_name = name(&path);
        let stem = text_name.split(".pbtxt").next().unwrap_or_default();
        let Ok(binary) = std::fs::read(folder.join(format!("{stem}.pb"))) else {
            continue;
        };
        let text = std::fs::read(&path).expect("the file is there");
        let binary = entry("same", &binary).unwrap_or_else(|error| panic!("{stem}.pb: {error}"));
        let text = entry("same", &text).unwrap_or_else(|error| panic!("{text_name}: {error}"));
        assert_eq!(binary.graph, text.graph, "{text_name}");
        assert_eq!(binary.bodies, text.bodies, "{text_name}");
        n_pairs += 1;
    }
    eprintln!("{n_pairs} pairs");
}

#[test]
fn measured_runs_are_the_oracles() {
    let Some(folder) = shared("corpus/made/tf") else { return };
    let expected = json(&folder.join("expected.json")).expect("the oracle's figures");
    let mut faults = Vec::new();
    let paths = std::fs::read_dir(&folder).expect("the folder can be listed").flatten();
    let mut paths: Vec<_> = paths.map(|entry| entry.path()).collect();
    paths.retain(|path| name(path).contains(".runmeta."));
    paths.sort();
    for path in &paths {
        let file = name(path);
        let imported = read(&file, &std::fs::read(path).expect("the file is there"));
        let imported = imported.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(imported.format, "tensorflow_run", "{file}");
        let Source::Recordings(recordings) = imported.source else {
            panic!("{file}: recordings")
        };
        for recording in &recordings {
            assert_eq!(recording.check(), Ok(()), "{file}");
        }
        let blocks: Vec<_> = recordings.iter().flat_map(|recording| &recording.blocks).collect();
        let freed = blocks.iter().filter(|block| block.is_freed).count();
        let bytes = |is_wanted: fn(bool) -> bool| -> u64 {
            let wanted = blocks.iter().filter(|block| is_wanted(block.is_freed));
            wanted.map(|block| block.bytes.get()).sum()
        };
        let ops: usize = recordings.iter().map(|recording| recording.ops.len()).sum();
        let peak = recordings.iter().map(|recording| recording.peaks().live.0.get()).max();
        let mut oracle = Oracle::new(&*file, &expected["run_metadata"][&file]);
        oracle.same("n_node_stats", ops as u64);
        oracle.same("n_alloc_records", (blocks.len() + freed) as u64);
        oracle.same("positive", blocks.len() as u64);
        oracle.same("measured_peak_from_allocation_records", peak.unwrap_or(0));
        oracle.same("live_at_end", bytes(|is_freed| !is_freed));
        oracle.same("sum_alloc", bytes(|_| true));
        // Outputs of ops, and the graphs that were run, which a recording does not show.
        for key in ["sum_output_requested", "cost_graph_nodes", "partition_graph_nodes"] {
            oracle.left_out(key);
        }
        faults.extend(oracle.faults());
    }
    eprintln!("{} runs", paths.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Files of a folder and those below it.
fn all_files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for path in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        if path.is_dir() {
            all_files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn no_other_format_is_claimed_and_none_claims_these() {
    let Some(folder) = shared("corpus") else { return };
    let mut paths = Vec::new();
    all_files(&folder, &mut paths);
    paths.sort();
    let mut faults = Vec::new();
    for path in paths {
        let Some(bytes) = unpacked(&path) else { continue };
        let input = Input::from_bytes("head", &bytes[..bytes.len().min(64 << 10)]).expect("bytes are read");
        let rows: Vec<&str> = IMPORTERS
            .iter()
            .filter(|row| (row.detect)(&input))
            .map(|row| row.name)
            .collect();
        let is_ours = rows.iter().any(|row| row.starts_with("tensorflow"));
        let is_run = name(&path).contains(".runmeta.");
        let is_graph = path.parent().is_some_and(|folder| folder.ends_with("tf")) && name(&path).contains(".pb");
        let expected: &[&str] = match (is_run, is_graph) {
            (true, _) => &["tensorflow_run"],
            (_, true) => &["tensorflow"],
            _ => &[],
        };
        if (is_ours || !expected.is_empty()) && rows != expected {
            faults.push(format!("{}: {rows:?}, expected {expected:?}", path.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
