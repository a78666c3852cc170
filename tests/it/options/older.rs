//! Scripts in other encodings, of Python 2, of notebooks, and classes reached indirectly.

use expect_test::expect;
use highwater::options::Value;
use highwater::script::read_config;

use super::python::{reads, value_behind};

#[test]
fn encodings_are_read_or_reported() {
    let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(unit).collect()
    };
    let script = "NPURunConfig(debug_dir='/tmp/\u{e9}')\n";
    let latin = |name: &str| {
        [
            format!("# -*- coding: {name} -*-\nNPURunConfig(debug_dir='/tmp/").as_bytes(),
            b"\xe9')\n",
        ]
        .concat()
    };
    for bytes in [
        script.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", script.as_bytes()].concat(),
        utf16(script, u16::to_le_bytes),
        utf16(script, u16::to_be_bytes),
        latin("latin-1"),
        latin("iso-8859-1"),
    ] {
        let (document, warnings) = read_config("a.py", &bytes).unwrap();
        assert_eq!(
            document.options.get("debug_dir"),
            Some(&Value::from("/tmp/\u{e9}")),
            "{warnings:?}"
        );
        assert!(warnings.entries().is_empty(), "{warnings:?}");
    }
    let bytes = b"# coding=gbk\nos.environ['A'] = '\xc4\xe3'\nNPURunConfig(debug_dir='\xc4\xe3', deterministic=1)\n";
    let (document, warnings) = read_config("a.py", bytes).unwrap();
    assert!(!document.options.is_set("debug_dir") && document.options.is_set("deterministic"));
    assert!(document.environment.is_unread("A"));
    let messages: Vec<&str> = warnings.entries().iter().map(|entry| entry.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "line 2: A has letters of the encoding gbk, which highwater does not read; set it by hand",
            "line 3: debug_dir has letters of the encoding gbk, which highwater does not read; set it by hand",
        ]
    );
}

#[test]
fn numbers_of_older_scripts_are_read() {
    for (expression, expected) in [
        ("0777", 511),
        ("1800L", 1800),
        ("0L", 0),
        ("017 + 10l", 25),
        ("f(1L) or 3", -1),
    ] {
        let (value, messages) = value_behind("x = 0644", expression);
        let value = value.as_ref().and_then(Value::as_int).unwrap_or(-1);
        assert_eq!(value, expected, "{expression}: {messages:?}");
    }
    reads(
        "a.py",
        "s = '0777'\nprint 'x'\nNPURunConfig(hccl_timeout=1800L, debug_dir='1L', deterministic=01)\n",
        &expect![[r#"
            deterministic = Int(1)
            debug_dir = Text("1L")
            hccl_timeout = Int(1800)
            warning: line 2: Simple statements must be separated by newlines or semicolons; what follows may be missing
        "#]],
    );
}

#[test]
fn notebooks_set_variables_and_name_their_cells() {
    let notebook = r#"{"nbformat": 4, "cells": [
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["%env GE_USE_STATIC_MEMORY=2\n", "%set_env JOB_ID 1\n", "%env RANK_ID={x}"]},
        {"cell_type": "code", "source": "%%time\n\nif a:\n    n = 1\nelse:\n    n = 2\nNPURunConfig(iterations_per_loop=n)"}]}"#;
    reads(
        "a.ipynb",
        notebook,
        &expect![[r#"
        iterations_per_loop = Python("n")
        env GE_USE_STATIC_MEMORY = "2"
        env JOB_ID = "1"
        warning: cell 2, line 3: RANK_ID is computed when the notebook runs ({x}); set it by hand
        warning: cell 3, line 7: iterations_per_loop has one value in cell 3, line 4 and another in cell 3, line 6; set it by hand
    "#]],
    );
}

#[test]
fn indirect_references_are_reported() {
    let text = "import functools\nmake = functools.partial(NPURunConfig, iterations_per_loop=3)\n";
    reads(
        "a.py",
        text,
        &expect![[r"
        iterations_per_loop = Int(3)
        warning: line 2: functools.partial(NPURunConfig, iterations_per_loop=3) makes NPURunConfig(...) in a way that is only partly followed: the additions of its calls are ignored; set it by hand
    "]],
    );
    let text = "class My(NPURunConfig):\n    def __init__(self, **kw):\n        \
                super(My, self).__init__(iterations_per_loop=4, **kw)\nc = My(hccl_timeout=700)\n";
    reads(
        "a.py",
        text,
        &expect![[r"
        iterations_per_loop = Int(4)
        warning: line 3: NPURunConfig(...) takes arguments that are computed when the script runs; set them by hand
        warning: line 4: My(hccl_timeout=700) makes NPURunConfig(...) in a way that is only partly followed: its arguments are ignored; set it by hand
    "]],
    );
}
