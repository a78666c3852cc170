//! Every row reads its texts, with these figures, and does not read what looks alike.

use std::collections::{BTreeMap, BTreeSet};

use super::super::passages::plain;
use super::template::BREAK;
use super::*;

/// What is said of a text by the first row of this name that has a mark in it.
fn read(name: &str, text: &str) -> Option<String> {
    let text = text.replace("\\n", &BREAK.to_string()) + "\n";
    let line = plain(&text);
    let found = marks(&line).into_iter().filter(|one| one.row().name == name);
    found.into_iter().find_map(|one| {
        let row = one.row();
        let begin = if matches!(row.reads, Reads::InBlock | Reads::Detail) {
            0
        } else {
            one.at
        };
        let statement = row.statement(&line[begin..]).map(|(words, _)| words);
        statement.or_else(|| row.report(&line[..begin], &line[begin..]).map(|report| said(&report)))
    })
}

fn said(report: &Report) -> String {
    let mut all = Vec::new();
    all.extend(report.asked.map(|asked| format!("{} bytes", asked.bytes())));
    for (name, value) in [
        ("device", report.device),
        ("graph", report.graph),
        ("process", report.process),
        ("allocated", report.allocated),
        ("reserved", report.reserved),
        ("largest", report.largest_free),
        ("free", report.free),
        ("total", report.total),
        ("allowed", report.allowed),
    ] {
        all.extend(value.map(|value| format!("{name} {value}")));
    }
    for (name, value) in [
        ("who", &report.who),
        ("kernel", &report.kernel),
        ("program", &report.program),
        ("purpose", &report.purpose),
        ("name", &report.holder_name),
    ] {
        all.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    if report.refused != RefusedBy::Device {
        all.push(format!("refused {:?}", report.refused));
    }
    if report.memory == MemoryPlace::Host {
        all.push("host".to_owned());
    }
    all.extend(
        report
            .holders
            .iter()
            .map(|one| format!("holder {} {}", one.name, one.bytes)),
    );
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(", ")
    }
}

#[test]
fn every_row_reads_its_texts_and_no_others() {
    let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
    let mut texts: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    let mut name = "";
    let mut said: Vec<(&str, Option<String>)> = Vec::new();
    let mut faults = Vec::new();
    for line in include_str!("texts.txt").lines() {
        let Some((kind, rest)) = line.split_once(' ') else {
            continue;
        };
        match kind {
            "=" if said.is_empty() => name = rest,
            "=" => {
                for (text, own) in said.drain(..).filter(|(_, own)| own.as_deref() != Some(rest)) {
                    faults.push(format!("{name}: {text}\n  says   {own:?}\n  wanted {rest}"));
                }
            }
            "+" => {
                texts.entry(name).or_default()[0] += 1;
                said.push((rest, read(name, rest)));
            }
            "-" => {
                texts.entry(name).or_default()[1] += 1;
                if let Some(own) = read(name, rest) {
                    faults.push(format!("{name}: reads {rest}\n  says {own}"));
                }
            }
            _ => {}
        }
    }
    assert!(faults.is_empty() && said.is_empty(), "{}", faults.join("\n"));
    for name in &names {
        let counts = texts.get(name).copied().unwrap_or_default();
        assert!(
            counts[0] > 0 && counts[1] > 0,
            "{name} has {} texts that it reads, {} that it does not",
            counts[0],
            counts[1]
        );
    }
    assert!(
        texts.keys().all(|name| names.contains(name)),
        "texts.txt has a row that the table lacks"
    );
}

#[test]
fn every_row_says_where_it_is_from() {
    for row in TABLE.iter() {
        assert!(!row.source.is_empty() && !row.marks.is_empty(), "{}", row.name);
        assert!(
            row.marks.iter().all(|mark| mark.len() > 3 && !mark.starts_with(' ')),
            "{}",
            row.name
        );
    }
}

/// Whatever a text is, the table answers, in time that grows with its length alone.
#[test]
fn any_text_is_taken() {
    let seed = include_str!("texts.txt").replace('\n', " ");
    let letters: Vec<char> = seed.chars().collect();
    for round in 0..400_usize {
        let mut text: Vec<char> = letters
            .iter()
            .skip(round * 37 % letters.len())
            .take(600)
            .copied()
            .collect();
        for change in 0..round % 30 {
            let at = (round * 7919 + change * 104_729) % text.len().max(1);
            if let Some(letter) = text.get_mut(at) {
                *letter = ['\u{1}', 'é', '9', '{', '}', '(', '.', '\u{0}'][(round + change) % 8];
            }
        }
        let text: String = text.into_iter().collect();
        for one in marks(&text) {
            let row = one.row();
            let _ = row.report("", &text[one.at..]).map(|report| said(&report));
            let _ = row.statement(&text[one.at..]);
        }
    }
}
