//! The TensorFlow importer on the shared corpus, where it is at hand: whatever files lie there, against their figures.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use highwater::graph::{Bindings, Graph, Phase, Role};
use highwater::import::{IMPORTERS, Input};
use highwater::liveness::{View, lifetimes};
use highwater::workload::{GraphEntry, Source};
use serde_json::Value;

use crate::support::{files, name, read, shared};

/// A file's content, unpacked.
fn unpacked(path: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(bytes);
    }
    let mut text = Vec::new();
    let mut packed = flate2::read::GzDecoder::new(bytes.as_slice());
    packed.read_to_end(&mut text).ok()?;
    Some(text)
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&unpacked(path)?).ok()
}

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

fn check(name: &str, entry: &GraphEntry, (expected, shapes): (&Value, &Value), faults: &mut Vec<String>) {
    let graph = &*entry.graph;
    let mut bindings = Bindings::new();
    if let Some(batch) = expected["bound_batch"].as_u64() {
        bindings.insert("batch".to_owned(), batch);
    }
    let mut same = |what: &str, ours: u64, theirs: &Value| {
        if theirs.as_u64().is_some_and(|theirs| theirs != ours) {
            faults.push(format!("{name}: {what} {ours}, expected {theirs}"));
        }
    };
    let results = graph
        .tensors()
        .iter()
        .filter(|tensor| tensor.producer.is_some())
        .count();
    same("ops", graph.ops().len() as u64, &expected["n_nodes"]);
    same("tensors", results as u64, &expected["n_tensors"]);
    same("functions", entry.bodies.len() as u64, &expected["n_functions"]);
    let (weights, inputs) = resident(graph, &bindings);
    same("resident", weights, &expected["resident_const_var_read_bytes"]);
    same("placeholders", inputs, &expected["placeholder_bytes"]);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for op in graph.ops().ids() {
        *kinds.entry(graph.op_kind(op)).or_default() += 1;
    }
    for (kind, count) in expected["op_types"].as_object().into_iter().flatten() {
        same(kind, kinds.remove(kind.as_str()).unwrap_or(0), count);
    }
    for (kind, count) in kinds {
        same(kind, count, &Value::from(0));
    }
    let sizes = graph.sizes(&bindings);
    for (view, key) in [(View::Naive, "naive"), (View::Aliased, "alias_aware")] {
        // What the oracle does not know counts nothing there; knowing it is better, but not comparable.
        let mut live = lifetimes(graph, &sizes, view);
        live.items
            .retain(|item| !shapes[graph.tensor_name(item.tensor)]["bytes"].is_null());
        let (peak, step) = live.peak();
        let expected = &expected[key];
        same(&format!("{key} peak"), peak.get(), &expected["peak_live_bytes"]);
        same(
            &format!("{key} step"),
            step.map_or(0, |step| u64::from(step.0)),
            &expected["peak_step"],
        );
    }
    let is_sorted = graph.reordered_ops() == 0;
    if expected["file_order_is_topological"]
        .as_bool()
        .is_some_and(|theirs| theirs != is_sorted)
    {
        faults.push(format!("{name}: file order {is_sorted}"));
    }
    let unknown = graph.unknown_activations(&sizes).count();
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
    let Some(expected) = json(&folder.join("expected.json")) else {
        return;
    };
    let shapes = json(&folder.join("expected_shapes.json.gz")).unwrap_or_default();
    let mut faults = Vec::new();
    for (name, expected) in expected["graphs"].as_object().expect("an object of files") {
        let Ok(bytes) = std::fs::read(folder.join(name)) else {
            continue;
        };
        match entry(name, &bytes) {
            Ok(entry) => {
                check(name, &entry, (expected, &shapes[name]), &mut faults);
                check_shapes(name, &entry.graph, &expected["bound_batch"], &shapes[name], &mut faults);
            }
            Err(error) => faults.push(format!("{name}: {error}")),
        }
    }
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
    let Some(expected) = json(&folder.join("expected.json")) else {
        return;
    };
    let mut n_files = 0;
    for (name, expected) in expected["run_metadata"].as_object().into_iter().flatten() {
        let Ok(bytes) = std::fs::read(folder.join(name)) else {
            continue;
        };
        let imported = read(name, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(imported.format, "tensorflow_run", "{name}");
        let Source::Recordings(recordings) = imported.source else {
            panic!("{name}: recordings")
        };
        for recording in &recordings {
            assert_eq!(recording.check(), Ok(()), "{name}");
        }
        let blocks: Vec<_> = recordings.iter().flat_map(|recording| &recording.blocks).collect();
        let freed = blocks.iter().filter(|block| block.is_freed).count();
        let bytes = |is_wanted: fn(bool) -> bool| -> u64 {
            let wanted = blocks.iter().filter(|block| is_wanted(block.is_freed));
            wanted.map(|block| block.bytes.get()).sum()
        };
        let ops: usize = recordings.iter().map(|recording| recording.ops.len()).sum();
        let peak = recordings.iter().map(|recording| recording.peaks().live.0.get()).max();
        for (key, ours) in [
            ("n_node_stats", ops as u64),
            ("n_alloc_records", (blocks.len() + freed) as u64),
            ("positive", blocks.len() as u64),
            ("measured_peak_from_allocation_records", peak.unwrap_or(0)),
            ("live_at_end", bytes(|is_freed| !is_freed)),
            ("sum_alloc", bytes(|_| true)),
        ] {
            assert_eq!(Some(ours), expected[key].as_u64(), "{name}: {key}");
        }
        n_files += 1;
    }
    eprintln!("{n_files} runs");
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
