//! YAML of launchers: its forms, and what is reported.

use super::super::reading::Reading;
use super::from_yaml;

const CUDA: &str = "PYTORCH_CUDA_ALLOC_CONF";
const CONF: &str = "expandable_segments:True,max_split_size_mb:64";

#[track_caller]
fn sets(text: &str) -> Reading {
    let reading = from_yaml(text);
    assert_eq!(reading.document.environment.get(CUDA), Some(CONF), "{text}");
    reading
}

#[test]
fn forms_of_launchers_set_variables() {
    for text in [
        // docker compose
        "services:\n  train:\n    environment:\n      PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True,max_split_size_mb:64 # tuned\n",
        "services:\n  train:\n    environment:\n    - HOME=/root\n    - PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64\n",
        // Kubernetes
        "spec:\n  containers:\n  - name: train\n    env:\n    - name: PYTORCH_CUDA_ALLOC_CONF\n      value: \"expandable_segments:True,max_split_size_mb:64\"\n",
        "env:\n- value: 'expandable_segments:True,max_split_size_mb:64'\n  name: PYTORCH_CUDA_ALLOC_CONF\n",
        // One line
        "env: {HOME: /root, PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True,max_split_size_mb:64'}\n",
        "env: [\"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64\"]\n",
        // Maps in lists, anchors, other keys
        "env_vars:\n  - PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True,max_split_size_mb:64\n",
        "x-common: &common\n  PYTORCH_CUDA_ALLOC_CONF: !!str expandable_segments:True,max_split_size_mb:64\n",
        // Several lines
        "env:\n  PYTORCH_CUDA_ALLOC_CONF: >-\n    expandable_segments:True,max_split_size_mb:64\n  HOME: /root\n",
        "env:\n  PYTORCH_CUDA_ALLOC_CONF:\n    expandable_segments:True,max_split_size_mb:64\n",
        // Aliases, maps and lists over several lines
        "x: &conf expandable_segments:True,max_split_size_mb:64\nenv:\n  PYTORCH_CUDA_ALLOC_CONF: *conf\n",
        "env: {PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True,max_split_size_mb:64',\n  HOME: /root}\n",
        // Scripts
        "run: |\n  set -e\n  export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64\n  python train.py\n",
        "script:\n  - export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64\n",
    ] {
        let reading = sets(text);
        assert!(reading.is_found && reading.warnings.entries().is_empty(), "{text}");
    }
}

/// Each alias of a long text would repeat it.
#[test]
fn aliases_of_long_texts_are_not_read() {
    let text = format!(
        "x: &long {}\nenv:\n  PYTORCH_CUDA_ALLOC_CONF: *long\n",
        "a".repeat(5000)
    );
    let reading = from_yaml(&text);
    assert_eq!(reading.document.environment.get(CUDA), None);
    assert!(reading.warnings.entries()[0].message.contains("line 3"));
}

#[test]
fn what_follows_an_error_at_the_end_is_reported() {
    let reading = from_yaml("env: {PYTORCH_CUDA_ALLOC_CONF: 'a:1',\n");
    assert!(reading.is_found && !reading.warnings.entries().is_empty());
}

#[test]
fn unread_values_and_other_values_are_reported_with_their_lines() {
    for (text, line) in [
        ("env:\n  PYTORCH_CUDA_ALLOC_CONF: ${CONF:-a:1}\n", "line 2"),
        ("a: 1\nenv:\n  PYTORCH_CUDA_ALLOC_CONF: *conf\n", "line 3"),
        ("env:\n  PYTORCH_CUDA_ALLOC_CONF: {{ conf }}\n", "line 2"),
        ("env:\n  PYTORCH_CUDA_ALLOC_CONF: a: 1\n", "line 2"),
        ("env:\n  PYTORCH_CUDA_ALOC_CONF: a:1\n", "line 2"),
        (
            "a:\n  env:\n    PYTORCH_ALLOC_CONF: a:1\nb:\n  env:\n    PYTORCH_ALLOC_CONF: a:2\n",
            "line 6",
        ),
    ] {
        let reading = from_yaml(text);
        assert!(reading.is_found, "{text}");
        let warnings = reading.warnings.entries();
        assert!(
            warnings.len() == 1 && warnings[0].message.starts_with(line),
            "{text}: {warnings:?}"
        );
    }
}

#[test]
fn other_files_set_nothing() {
    for text in [
        "",
        "a: b\n- c\n",
        "model:\n  PYTORCH_CUDA_ALOC_CONF: a:1\n",
        ": :\n'\n\"x\n- - - :\n",
        "{[\n",
        &format!("env: {}{}\n", "[".repeat(100_000), "]".repeat(100_000)),
        "é: 'ü\n\"é\": \"\\\n- é",
    ] {
        assert!(!from_yaml(text).is_found, "{text}");
    }
}
