//! Policies that the rules forbid under a schedule are simulated, marked, and never called the best.

use crate::cli::{json, run};

const CONCURRENT: [&str; 6] = ["compare", "sample:mixed", "--run", "train @1", "--run", "evaluate @1"];

#[test]
fn forbidden_policies_are_never_the_best() {
    let with_json = |arguments: &[&str]| json(&[arguments, &["--format", "json"]].concat(), 0);
    let free = with_json(&CONCURRENT[..2]);
    assert!(
        free["policies"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row.get("forbidden_by").is_none())
    );
    let answer = with_json(&CONCURRENT);
    let mut allowed = Vec::new();
    for row in answer["policies"].as_array().unwrap() {
        let rules: Vec<&str> = row["forbidden_by"].as_array().map_or_else(Vec::new, |rules| {
            rules.iter().map(|rule| rule["rule"].as_str().unwrap()).collect()
        });
        let number = row["policy"].as_u64().unwrap();
        assert_eq!(
            rules,
            if number == 2 || number == 4 {
                vec!["R53"]
            } else {
                vec![]
            },
            "{number}"
        );
        if rules.is_empty() {
            allowed.push((row["peak_reserved_bytes"].as_u64().unwrap(), number));
        }
    }
    assert_eq!(
        answer["best"]["policy"].as_u64(),
        allowed.iter().min().map(|(_, number)| *number)
    );
    let why = answer["best"]["why"].as_str().unwrap();
    assert!(why.ends_with("policies 2 and 4 are forbidden by R53"), "{why}");
    let copies = with_json(&["compare", "sample:mixed", "--set", "graph_max_parallel_model_num=2"]);
    assert_eq!(copies["policies"][1]["forbidden_by"][0]["rule"], "R20");
}

#[test]
fn text_and_markdown_say_which_rule() {
    for format in ["text", "markdown"] {
        let output = run(&[&CONCURRENT[..], &["--format", format]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        for words in ["R53 forbids policy 2: ", "R53 forbids policy 4: ", "forbidden by R53"] {
            assert!(text.contains(words), "{text}");
        }
    }
}
