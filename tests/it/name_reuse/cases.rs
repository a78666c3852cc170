//! Rules by hand: levels, data types, protected names, errors, and the log.

use highwater::options::{Value, find, keys};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::name_reuse::{
    HazardKind, NameReuse, NameReuseRequest, ReuseDefectKind, ReuseQuestion, ReuseReport, SkipKind, SkipOptSet,
    VERSIONS, Version, reuse_report,
};
use highwater::workload::BlockProgram;

use super::{line_program, reused};

fn level(level: i64) -> NameReuseRequest {
    NameReuseRequest {
        level,
        print_log: true,
        ..NameReuseRequest::default()
    }
}

fn skipping(names: &[&str], kind: SkipKind) -> NameReuseRequest {
    NameReuseRequest {
        skip: SkipOptSet {
            kind,
            names: names.iter().map(|name| Box::from(*name)).collect(),
            other: None,
        },
        ..level(0)
    }
}

fn lines(answer: &NameReuse) -> Vec<&str> {
    answer.log.iter().map(|line| &*line.text).collect()
}

fn renames(answer: &NameReuse) -> Vec<String> {
    let renames = answer.renames.iter();
    renames
        .map(|rename| format!("{}>{}@{}", rename.variable, rename.cache, rename.op_index))
        .collect()
}

fn report(program: &BlockProgram, request: &NameReuseRequest, fetched: &[&str]) -> ReuseReport {
    let cancel = Cancel::new();
    let fetched: Vec<Box<str>> = fetched.iter().map(|name| Box::from(*name)).collect();
    let question = ReuseQuestion {
        program,
        request,
        fetched: &fetched,
        batch: 2,
    };
    reuse_report(&question, &Progress::silent(&cancel)).unwrap()
}

#[test]
fn a_dead_variable_frees_its_name_from_the_next_op_on() {
    // The guide's example: x dies at the sum, and the product reuses it, because an op has made x.
    let program = line_program("load -> x y\n sum x y -> z\n matmul y z -> m\n use m -> end", &[]);
    let answer = reused(&program, &level(0));
    assert_eq!(renames(&answer), ["m>x@2", "end>y@3"]);
    assert_eq!(
        lines(&answer)[0],
        "!!! 0,  m[4, 4] => x[4, 4], cache idx 0, pool size 1"
    );
    assert_eq!(answer.log[0].variables, [Some("m".into()), Some("x".into())]);
    // Fed from outside, x never becomes free.
    let fed = line_program("sum x y -> z\n matmul y z -> m", &[]);
    assert!(reused(&fed, &level(1)).renames.is_empty());
}

#[test]
fn levels_types_and_batches_decide_the_fit() {
    let shapes: &[(&str, &[i64], &str)] = &[
        ("big", &[8, 8], "FP32"),
        ("half", &[16], "FP16"),
        ("batch", &[-1, 16], "FP32"),
        ("small", &[16], "FP32"),
    ];
    let text = "make -> big half batch\n use big half batch -> a\n next a -> small\n last small -> end";
    let program = line_program(text, shapes);
    assert!(
        reused(&program, &level(0))
            .renames
            .iter()
            .all(|rename| &*rename.variable != "small")
    );
    let answer = reused(&program, &level(1));
    assert_eq!(renames(&answer), ["small>big@2", "end>a@3"]);
    assert_eq!(
        lines(&answer)[..2],
        [
            "x_dtype and cache_dtype are different",
            "!!! 0,  small[16] => big[8, 8], cache idx 2, pool size 3"
        ]
    );
    let report = report(&program, &level(1), &[]);
    assert!(
        report
            .hazards
            .iter()
            .any(|hazard| hazard.kind == HazardKind::LargerSlots)
    );
    assert!(report.findings.is_empty());
    // big 256, half 32, batch 2*16*4, a 64, small 64, end 64.
    assert_eq!(report.figures.bytes_before.get(), 256 + 32 + 128 + 64 + 64 + 64);
    assert_eq!(report.figures.bytes_after.get(), 256 + 32 + 128 + 64);
    assert_eq!(report.figures.peak_before.get(), 256 + 32 + 128 + 64);
    // Version 2 ignores types: the half slot holds as many elements, but not as many bytes.
    let careless = NameReuseRequest {
        version: Version::V2,
        ..level(1)
    };
    let answer = super::reused(&program, &careless);
    assert_eq!(renames(&answer)[0], "small>half@2");
    let hazards = self::report(&program, &careless, &[]).hazards;
    assert!(
        hazards.iter().any(|hazard| hazard.kind == HazardKind::SlotTooSmall),
        "{hazards:?}"
    );
}

#[test]
fn corruption_by_repeated_writes_is_named() {
    // b dies at the first use, is written again, and d takes its name while it lives.
    let text = "make -> a\n one a -> b\n two b -> c\n three c -> b\n four c -> d\n five b d -> e";
    let program = line_program(text, &[]);
    let report = report(&program, &level(0), &[]);
    let wrong: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.kind.is_corruption())
        .collect();
    assert!(!wrong.is_empty(), "{:?}", report.reuse.renames);
    assert!(wrong.iter().all(|finding| finding.kind == ReuseDefectKind::WrongValue));
    assert!(wrong[0].message.contains("reads"), "{}", wrong[0].message);
}

#[test]
fn refusals_are_the_originals() {
    let mut program = line_program("make -> fc f c\n one fc f c -> d\n two d -> g\n sgd g -> h", &[]);
    let exception = |program: &BlockProgram, request: &NameReuseRequest| reused(program, request).exception;
    for wrong in [2, -1, 7] {
        assert_eq!(
            exception(&program, &level(wrong)).as_deref(),
            Some("ValueError: only support opt_level 0 or 1.")
        );
    }
    let refusal = Some("ValueError: only support skip_opt_set as set.".to_owned());
    assert_eq!(exception(&program, &skipping(&["fc"], SkipKind::Tuple)), refusal);
    assert_eq!(exception(&program, &skipping(&["fc"], SkipKind::Text)), refusal);
    assert_eq!(exception(&program, &skipping(&["fc"], SkipKind::List)), None);
    let mut number = skipping(&["fc"], SkipKind::List);
    number.skip.other = Some("3".into());
    assert_eq!(
        exception(&program, &number).as_deref(),
        Some("TypeError: 3 should be Variable or str")
    );
    // Older versions take the letters of a text.
    let letters = NameReuseRequest {
        version: Version::V2,
        ..skipping(&["fc"], SkipKind::Text)
    };
    assert_eq!(renames(&reused(&program, &letters)), ["g>fc@2", "h>d@3"]);
    let gradients = NameReuseRequest {
        skip_grads: true,
        ..letters
    };
    assert!(exception(&program, &gradients).unwrap().starts_with("AttributeError"));
    // Optimizer ops without their attribute, with half of it, with none in it.
    program.blocks[0].ops[3].role = Some(2);
    let gradients = NameReuseRequest {
        skip_grads: true,
        ..level(0)
    };
    assert_eq!(
        exception(&program, &gradients).as_deref(),
        Some("RuntimeError: Attribute op_role_var is not found")
    );
    program.blocks[0].ops[3].role_variables = Some(vec!["g".into()]);
    assert_eq!(
        exception(&program, &gradients).as_deref(),
        Some("IndexError: list index out of range")
    );
    program.blocks[0].ops[3].role_variables = Some(Vec::new());
    assert_eq!(exception(&program, &gradients), None);
    program.blocks[0].ops[3].role_variables = Some(vec!["fc".into(), "g".into()]);
    assert_eq!(renames(&reused(&program, &gradients)), ["h>c@3"]);
}

#[test]
fn hazards_are_reported() {
    let program = line_program(
        "make -> fc_0.tmp_0\n one fc_0.tmp_0 -> b\n two b -> c\n three c -> d",
        &[],
    );
    let has = |report: &ReuseReport, kind: HazardKind, text: &str| {
        assert!(
            report
                .hazards
                .iter()
                .any(|hazard| hazard.kind == kind && hazard.message.contains(text)),
            "{kind:?}: {:?}",
            report.hazards
        );
    };
    let fetched = report(&program, &level(0), &["fc_0.tmp_0", "d"]);
    has(&fetched, HazardKind::FetchedOverwritten, "\"fc_0.tmp_0\" is fetched");
    has(&fetched, HazardKind::FetchedRenamed, "\"d\" is fetched");
    has(&fetched, HazardKind::Deprecated, "memory_optimize is deprecated");
    let protected = report(
        &program,
        &skipping(&["fc_0.tmp_0", "d"], SkipKind::Set),
        &["fc_0.tmp_0", "d"],
    );
    assert_eq!(protected.hazards.len(), 1, "{:?}", protected.hazards);
    has(
        &report(&program, &skipping(&["fc"], SkipKind::Set), &[]),
        HazardKind::UnknownSkipName,
        "\"fc_0.tmp_0\" is not protected",
    );
    has(
        &report(&program, &skipping(&["fc"], SkipKind::Text), &[]),
        HazardKind::TextAsSet,
        "refused",
    );
    let last = NameReuseRequest {
        version: Version::V4,
        ..level(9)
    };
    let nothing = report(&program, &last, &[]);
    assert_eq!((nothing.reuse.hits(), nothing.reuse.exception.as_ref()), (0, None));
    has(&nothing, HazardKind::Version, "does nothing");
}

#[test]
fn versions_are_ordered() {
    for row in VERSIONS {
        assert_eq!(row.version.rules(), row);
        for name in row.names {
            assert_eq!(Version::find(name), Ok(row.version));
        }
        // The value by which the window sets the option acts.
        let release = Value::from(row.release);
        let option = find(keys::NAME_REUSE_VERSION).unwrap();
        assert_eq!(option.acting(&release), release);
        assert!(row.names.contains(&row.release));
    }
    assert!(Version::find("2.0").is_err());
    // Version 1: any type at level 1, order of death, its own line.
    let shapes: &[(&str, &[i64], &str)] = &[("p", &[64], "INT64"), ("q", &[16], "FP32")];
    let program = line_program("one p q -> b\n two b -> c\n three c -> d", shapes);
    let oldest = NameReuseRequest {
        version: Version::V1,
        ..level(1)
    };
    let answer = reused(&program, &oldest);
    let line = "Hit Cache !!!! cache pool index is 0, var name is c, cached var name is p, var shape is [4, 4]";
    assert_eq!(lines(&answer)[0], line);
    assert_eq!(answer.stderr, "");
}

#[test]
fn a_block_that_mentions_a_renamed_variable_is_named() {
    let mut program = line_program("make -> a\n one a -> b\n two b -> c\n while b -> s\n three c -> d", &[]);
    // The body reads c, which the op that runs it does not list; the op itself lists b and s.
    let mut body = line_program("inner c -> t", &[]).blocks.remove(0);
    body.variables.shift_remove("c");
    body.parent = Some(0);
    program.blocks.push(body);
    program.blocks[0].ops[3].sub_block = Some(1);
    let report = report(&program, &level(0), &[]);
    assert_eq!(renames(&report.reuse)[0], "c>a@2");
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.kind == ReuseDefectKind::WrongValueInside)
    );
}

/// As many ops as results that search in vain for memory of another data type.
fn mismatches(n_free: usize, n_results: usize) -> BlockProgram {
    let free: Vec<String> = (0..n_free).map(|number| format!("f{number}")).collect();
    let results: Vec<String> = (0..n_results).map(|number| format!("r{number}")).collect();
    let shapes: Vec<(&str, &[i64], &str)> = results.iter().map(|name| (&**name, &[4, 4][..], "INT64")).collect();
    let free = free.join(" ");
    let lines = format!("make -> {free}\n sink {free} -> s\n wide s -> {}", results.join(" "));
    line_program(&lines, &shapes)
}

#[test]
fn of_a_long_log_the_first_lines_are_kept_and_all_are_counted() {
    let program = mismatches(20, 10);
    let whole = reused(&program, &level(0));
    assert_eq!((whole.log.len(), whole.n_log_lines), (200, 200));
    assert_eq!(whole.log[0].variables, [Some("r0".into()), Some("f0".into())]);
    for most_log_lines in [0, 7, 200, 300] {
        let request = NameReuseRequest {
            most_log_lines,
            ..level(0)
        };
        let answer = reused(&program, &request);
        assert_eq!(answer.log, whole.log[..most_log_lines.min(200)]);
        assert_eq!(answer.n_log_lines, 200);
        assert_eq!(answer.renames, whole.renames);
    }
    let quiet = NameReuseRequest {
        print_log: false,
        ..level(0)
    };
    assert_eq!(reused(&program, &quiet).n_log_lines, 0);
}

#[test]
fn an_op_of_many_names_takes_no_longer_than_as_many_ops() {
    // Quadratic work on one op would take minutes here.
    let names = |letter: char| -> Vec<String> { (0..60_000).map(|number| format!("{letter}{number}")).collect() };
    let (inputs, outputs) = (names('i').join(" "), names('o').join(" "));
    let lines = format!("make -> {inputs}\n wide {inputs} -> {outputs}\n end {outputs} -> s");
    let program = line_program(&lines, &[]);
    let fetched = names('o');
    let fetched: Vec<&str> = fetched.iter().map(String::as_str).collect();
    let request = NameReuseRequest {
        print_log: false,
        ..skipping(&fetched[..1], SkipKind::Set)
    };
    let report = report(&program, &request, &fetched);
    assert_eq!(report.findings, []);
}
