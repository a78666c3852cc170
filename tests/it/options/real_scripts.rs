//! Scripts in the manner of public ones: adapters' parameter maps, flags, start scripts, torchair, MindSpore, mistyped names.

use highwater::options::{NoFiles, effective_values};
use highwater::script::read_config;

const SCRIPTS: &str = include_str!("../fixtures/real_scripts.txt");

/// A script with what is right for it.
struct Case<'a> {
    id: &'a str,
    file: &'a str,
    expected: Vec<(&'a str, &'a str)>,
    text: String,
}

fn cases() -> Vec<Case<'static>> {
    let blocks = SCRIPTS.split("\n== ").skip(1);
    blocks
        .map(|block| {
            let (head, text) = block.split_once("\n--\n").unwrap();
            let mut lines = head.lines();
            let (id, file) = lines.next().unwrap().split_once(' ').unwrap();
            Case {
                id,
                file,
                expected: lines.map(|line| line.split_once(' ').unwrap()).collect(),
                text: format!("{}\n", text.trim_end()),
            }
        })
        .collect()
}

#[test]
fn real_scripts_mean_what_they_do() {
    let cases = cases();
    assert!(cases.len() > 70, "{}", cases.len());
    for Case {
        id,
        file,
        expected,
        text,
    } in cases
    {
        let (document, remarks) = match read_config(file, text.as_bytes()) {
            Ok((document, remarks)) => {
                let messages = remarks.entries().iter().map(|entry| entry.message.clone());
                (document, messages.collect::<Vec<String>>().join("\n"))
            }
            Err(error) => (Default::default(), error.to_string()),
        };
        let values = effective_values(&document.options, &document.environment, &NoFiles);
        let value = |key: &str| {
            let (_, value) = values.iter().find(|(name, _)| name == key).unwrap();
            value.to_string()
        };
        assert!(!expected.is_empty(), "{id}");
        for (kind, wanted) in expected {
            match (kind, wanted.split_once(' ')) {
                ("policy", _) => assert_eq!(value("effective_policy"), wanted, "{id}: {remarks}"),
                ("value", Some((key, wanted))) => assert_eq!(value(key), wanted, "{id}: {remarks}"),
                ("says", _) => assert!(remarks.contains(wanted), "{id}: \"{wanted}\" in {remarks}"),
                ("silent", _) => assert!(!remarks.contains(wanted), "{id}: \"{wanted}\" in {remarks}"),
                (other, _) => panic!("{id}: {other}"),
            }
        }
    }
}
