//! Folders of onnxruntime-genai: what `genai_config.json` states of the model beside it.

use serde_json::{Value as Json, json};

use crate::cli::{json, run};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A model whose cache has open sizes. The form of the file does not matter.
fn model() -> Json {
    let past = |id: &str| json!({"id": id, "name": id, "dtype": "float32", "role": "batch", "shape": ["batch", "heads", "past", "kv_cache_dim"]});
    let present = |id: &str| json!({"id": id, "dtype": "float32", "shape": ["batch", "heads", "past", "kv_cache_dim"]});
    json!({"highwater_graph": 1, "meta": {"model": "decoder"},
        "inputs": [
            past("past_key_values.0.key"), past("past_key_values.0.value"),
            {"id": "ids", "dtype": "int64", "role": "batch", "shape": ["batch", "vocab_size"]},
        ],
        "nodes": [{"name": "attention", "op": "GroupQueryAttention",
            "inputs": ["ids", "past_key_values.0.key", "past_key_values.0.value"],
            "outputs": [{"id": "logits", "dtype": "float32", "shape": ["batch", "vocab_size"]},
                present("present.0.key"), present("present.0.value")]}],
        "outputs": ["logits", "present.0.key", "present.0.value"]})
}

fn config(shares: bool) -> Json {
    json!({
        "model": {"type": "llama", "context_length": 256, "vocab_size": 512, "eos_token_id": 7, "decoder": {
            "filename": "model.json", "head_size": 16, "num_key_value_heads": 2, "num_hidden_layers": 1,
            "inputs": {"past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"},
            "outputs": {"present_key_names": "present.%d.key", "present_value_names": "present.%d.value"}}},
        "search": {"max_length": 128, "past_present_share_buffer": shares}})
}

fn folder(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.json"), model().to_string()).expect("written");
    std::fs::write(folder.path().join("genai_config.json"), config).expect("written");
    folder
}

fn inspected(config: &str, dims: &[&str]) -> (Json, String) {
    let folder = folder(config);
    let path = folder.path().display().to_string();
    let mut arguments = vec!["inspect", &path, "--format", "json"];
    arguments.extend(dims.iter().flat_map(|dim| ["--dim", dim]));
    let answer = json(&arguments, 0);
    (answer.clone(), answer.to_string())
}

#[test]
fn the_configuration_gives_sizes_and_one_cache() {
    let (answer, text) = inspected(&config(true).to_string(), &["batch=1"]);
    for told in [
        "dimension \\\"kv_cache_dim\\\" is 16: model.decoder.head_size of genai_config.json",
        "dimension \\\"heads\\\" is 2: model.decoder.num_key_value_heads of genai_config.json",
        "dimension \\\"past\\\" is 128: search.max_length of genai_config.json",
        "dimension \\\"vocab_size\\\" is 512: model.vocab_size of genai_config.json",
        "past and present of 2 tensors share their memory: search.past_present_share_buffer of genai_config.json",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(!text.contains("unknown format"), "{text}");
    let graph = &answer["graphs"][0];
    // Two caches of 2 heads, 128 tokens and 16 elements, and the ids; the results are the logits alone.
    assert_eq!(graph["input_bytes"], 2 * 2 * 128 * 16 * 4 + 512 * 8, "{graph}");
    assert_eq!(graph["aliased_peak_live_bytes"], 512 * 4, "{graph}");
}

#[test]
fn without_a_shared_buffer_nothing_is_shared_and_lengths_stay_open() {
    let (_, text) = inspected(&config(false).to_string(), &["batch=1", "past=8"]);
    assert!(
        !text.contains("share their memory") && !text.contains("\\\"past\\\" is"),
        "{text}"
    );
    assert!(text.contains("\\\"kv_cache_dim\\\" is 16"), "{text}");
}

#[test]
fn a_configuration_is_never_an_error_of_its_folder() {
    for config in [
        "{\"model\": {\"type\": \"llama\", \"decoder\": {}}, \"search\": {}}",
        "{\"nodes",
        "{\"model\": 1}",
    ] {
        let folder = folder(config);
        let path = folder.path().display().to_string();
        let answer = run(&["inspect", &path]);
        let (out, told) = (text(&answer.stdout), text(&answer.stderr));
        assert!(answer.status.success(), "{config}: {told}");
        assert!(
            !out.contains("error:") && !told.contains("error"),
            "{config}: {out}{told}"
        );
    }
    let folder = folder(&config(true).to_string());
    let alone = folder.path().join("genai_config.json").display().to_string();
    let answer = run(&["inspect", &alone]);
    assert!(
        text(&answer.stderr).contains("onnxruntime-genai"),
        "{}",
        text(&answer.stderr)
    );
}
