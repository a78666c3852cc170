//! Environment variables from shell scripts, and back.

use expect_test::expect;
use highwater::options::Environment;
use highwater::script::{read_config, to_shell};
use proptest::prelude::*;

use super::python::reads;

#[test]
fn a_start_script_is_read() {
    reads(
        "run.sh",
        include_str!("../fixtures/scripts/run.sh"),
        &expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: line 7: GE_USE_STATIC_MEMORY is set only under a condition; it is taken as set
        "#]],
    );
}

#[test]
fn every_way_to_set_a_variable_is_read() {
    for (text, expected) in [
        ("export V=2", "2"),
        ("V=2", "2"),
        ("V='a b'", "a b"),
        ("V=\"a \\\"b\\\" \\\\ \\c\"", "a \"b\" \\ \\c"),
        ("V=a\\ b", "a b"),
        ("V=$'a\\nb'", "a\nb"),
        ("V='a\nb'", "a\nb"),
        ("V=a'b'\"c\"", "abc"),
        ("V=", ""),
        ("export A=1 V=2 B", "2"),
        ("V=1; V=2", "2"),
        ("V=2 python3 train.py --V=3", "2"),
        ("make V=3 ; export V=2", "2"),
        ("export \\\n  V=2", "2"),
        ("export V=2 # V=3", "2"),
        ("# V=3\nV=2", "2"),
        ("A=2\nV=$A", "2"),
        ("A=2\nV=\"${A}x\"", "2x"),
        ("A=2\nV=${A:-3}", "2"),
        ("A=\nV=${A:-'3 4'}", "3 4"),
        ("V='$A'", "$A"),
        ("V=a$", "a$"),
        ("if true; then V=2; fi", "2"),
        ("for i in 1 2; do export V=2; done", "2"),
        ("f() { export V=2; }", "2"),
        ("V=1\nV+=2", "12"),
        ("if [ x ]; then V=2; else V=2; fi", "2"),
        ("V=2\nif [ x ]; then export V=2; fi", "2"),
        ("V=2\nf() {\n  local V=3\n  declare V=4\n}", "2"),
        ("export A=1 && export V=2", "2"),
        ("declare -x V=2", "2"),
        ("readonly V=2", "2"),
        ("ENV V=2 B=3", "2"),
        ("ENV V 2", "2"),
        ("setenv V 2", "2"),
        ("env V=2 python3 train.py", "2"),
        ("V=2\r\nB=1\r\n", "2"),
        ("cat <<X\nV=3\nX\nV=2", "2"),
        ("cat <<-'X' | sort\n\tV=3\n\tX\nV=2", "2"),
    ] {
        let text = text
            .replace('V', "GE_USE_STATIC_MEMORY")
            .replace("ENGE_USE_STATIC_MEMORY", "ENV");
        let (document, warnings) = read_config("a.sh", text.as_bytes()).unwrap();
        assert_eq!(
            document.environment.get("GE_USE_STATIC_MEMORY"),
            Some(expected),
            "{text}"
        );
        assert!(warnings.entries().is_empty(), "{text}: {warnings:?}");
    }
}

#[test]
fn values_known_only_to_the_running_shell_are_reported() {
    for (value, expected) in [
        (
            "$OTHER",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 2: GE_USE_STATIC_MEMORY depends on $OTHER, which this file does not set; set it by hand
        "]],
        ),
        (
            "${OTHER:-2}",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            info: line 2: GE_USE_STATIC_MEMORY takes the default "2", since this file does not set $OTHER
        "#]],
        ),
        (
            "$(nproc --all | grep ')')",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 2: GE_USE_STATIC_MEMORY is computed when the script runs ($(nproc --all | grep ')')); set it by hand
        "]],
        ),
        (
            "`nproc`",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 2: GE_USE_STATIC_MEMORY is computed when the script runs (`nproc`); set it by hand
        "]],
        ),
        (
            "$((1 + 1))",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 2: GE_USE_STATIC_MEMORY is computed when the script runs ($((1 + 1))); set it by hand
        "]],
        ),
        (
            "$1",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 2: GE_USE_STATIC_MEMORY is computed when the script runs ($1); set it by hand
        "]],
        ),
        (
            "${OTHER%%x}",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 2: GE_USE_STATIC_MEMORY is computed when the script runs (${OTHER%%x}); set it by hand
        "]],
        ),
    ] {
        reads(
            "a.sh",
            &format!("#!/bin/sh\nexport GE_USE_STATIC_MEMORY={value}\n"),
            &expected,
        );
    }
    reads(
        "a.sh",
        "GE_USE_STATIC_MEMRY=2\nPATH=/bin\n",
        &expect![[r#"
        env GE_USE_STATIC_MEMRY = "2"
        warning: line 1: no variable "GE_USE_STATIC_MEMRY" has an effect here; did you mean "GE_USE_STATIC_MEMORY"?
    "#]],
    );
    reads(
        "a.sh",
        "export GE_USE_STATIC_MEMORY=2\nunset GE_USE_STATIC_MEMORY\n",
        &expect![[r""]],
    );
}

#[test]
fn an_environment_is_written_for_any_shell() {
    let mut environment = Environment::new();
    environment.set("GE_USE_STATIC_MEMORY", "2");
    environment.set("NAME", "it's $HOME\nand `more`");
    environment.set("no name", "1");
    expect![[r#"
        # Environment variables, written by highwater; use with: . FILE
        export GE_USE_STATIC_MEMORY='2'
        export NAME='it'\''s $HOME
        and `more`'
        # no shell can hold "no name"="1"
    "#]]
    .assert_eq(&to_shell(&environment));
}

#[test]
fn deep_and_long_scripts_are_read() {
    for part in [
        "(",
        "${A:-",
        "$(",
        "\"$(",
        "{",
        "`",
        "A=$A$A\n",
        "cat <<A\n",
        "\\",
        "'",
        "\"",
    ] {
        let text = format!("A=1\n{}", part.repeat(50_000));
        drop(read_config("a.sh", text.as_bytes()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shell_exports_are_read_back(
        variables in proptest::collection::btree_map("[A-Za-z_][A-Za-z0-9_]{0,8}", "[^\u{0}]*|[a\n'\"\\\\$`# ]{0,6}", 1..6)
    ) {
        let mut environment = Environment::new();
        for (name, text) in &variables {
            environment.set(name, text);
        }
        let text = to_shell(&environment);
        let (read, warnings) = read_config("a.sh", text.as_bytes()).unwrap();
        prop_assert_eq!(&read.environment, &environment, "{}", text);
        prop_assert!(warnings.entries().is_empty(), "{:?}", warnings);
    }
}

#[test]
fn conditions_are_reported() {
    for (text, expected) in [
        (
            "[ x ] && export V=1 || export V=2",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: lines 1, 1: GE_USE_STATIC_MEMORY is set to different texts under conditions; the last one is taken
        "#]],
        ),
        (
            "[ x ] &&\n  export V=2",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: line 2: GE_USE_STATIC_MEMORY is set only under a condition; it is taken as set
        "#]],
        ),
        (
            "if [ x ]; then\n  V=2\nfi",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: line 2: GE_USE_STATIC_MEMORY is set only under a condition; it is taken as set
        "#]],
        ),
        (
            "if [ x ]; then\n  V=2\nelse\n  V=3\nfi\nif [ y ]; then B=1; fi",
            expect![[r#"
                env GE_USE_STATIC_MEMORY = "3"
                warning: lines 2, 4: GE_USE_STATIC_MEMORY is set to different texts under conditions; the last one is taken
            "#]],
        ),
        (
            "if [ x ]; then\n  V=2\nelif [ y ]; then\n  V=2\nfi",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: lines 2, 4: GE_USE_STATIC_MEMORY is set only under a condition; it is taken as set
        "#]],
        ),
        (
            "case $1 in\n  a) V=2 ;;\nesac",
            expect![[r#"
                env GE_USE_STATIC_MEMORY = "2"
                warning: line 2: GE_USE_STATIC_MEMORY is set only under a condition; it is taken as set
            "#]],
        ),
        (
            "if [ x ]; then\n  V=2\nfi\nV=3",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "3"
        "#]],
        ),
    ] {
        let text = text.replace('V', "GE_USE_STATIC_MEMORY");
        reads("a.sh", &text, &expected);
    }
}

#[test]
fn values_known_only_at_run_time_are_reported() {
    for (text, expected) in [
        (
            "V=~/x",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 1: GE_USE_STATIC_MEMORY depends on $HOME, which this file does not set; set it by hand
        "]],
        ),
        (
            "V+=x",
            expect![[r"
            env GE_USE_STATIC_MEMORY is unread
            warning: line 1: GE_USE_STATIC_MEMORY depends on $GE_USE_STATIC_MEMORY, which this file does not set; set it by hand
        "]],
        ),
        (
            "V=2\nB='a\nV=3",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: line 2: nothing closes the quote that starts here; what follows may be missing
        "#]],
        ),
        (
            "V=2\nB=\"a\nV=3",
            expect![[r#"
            env GE_USE_STATIC_MEMORY = "2"
            warning: line 2: nothing closes the quote that starts here; what follows may be missing
        "#]],
        ),
    ] {
        let text = text.replace('V', "GE_USE_STATIC_MEMORY");
        reads("a.sh", &text, &expected);
    }
}
