//! Small traces with expected answers, one per rule, in `rules.txt`.

use highwater_torch::{Outcome, Replay, Settings, Trace, Version};

/// The commands of a case without their answers, and what is wrong with the answers.
fn run(case: &str) -> Vec<String> {
    let (title, body) = case.split_once('\n').expect("a title");
    let mut parts = title.split('|').map(str::trim);
    let name = parts.next().expect("a name");
    let version = parts.next().and_then(Version::named).expect("a version");
    let settings = Settings::parse(parts.next().unwrap_or(""), version).expect("right settings");
    let lines: Vec<(&str, &str)> = body
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split_once(" => ").unwrap_or((line, "")))
        .collect();
    let commands: Vec<&str> = lines.iter().map(|line| line.0).collect();
    let trace = Trace::parse(&commands.join("\n")).expect("a trace");
    let replay = Replay::new(&trace, settings, version.rules());
    let answers = replay.map(|answer| {
        let reserved = answer.stats.reserved.current;
        match answer.outcome {
            Outcome::Granted {
                addr: Some(addr),
                block,
            } => format!("{addr} {block} {reserved}"),
            Outcome::Granted { addr: None, block } => format!("null {block} {reserved}"),
            Outcome::OutOfMemory => format!("oom {reserved}"),
            Outcome::Done | Outcome::Skipped | Outcome::Refused(_) => reserved.to_string(),
        }
    });
    let pairs = answers.zip(&lines[1..]);
    let wrong = pairs.filter(|(got, (_, wanted))| got != wanted);
    wrong
        .map(|(got, (command, wanted))| format!("{name}: {command}: {got} instead of {wanted}"))
        .collect()
}

#[test]
fn rules_hold() {
    let cases: Vec<&str> = include_str!("rules.txt").split("\n== ").skip(1).collect();
    assert!(cases.len() > 20, "the file has its cases");
    let wrong: Vec<String> = cases.into_iter().flat_map(run).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
