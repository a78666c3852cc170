//! Every form of an answer shows every mark of every lane.

use highwater::analysis::{Comparison, Fit, LaneMark};
use highwater::diagnostics::Diagnostics;
use highwater::export::{Answer as _, CompareAnswer, ExportForm};
use serde_json::Value as Json;

use super::{subject, text};
use crate::marked_lanes::{N_KINDS, kind, sessions};

/// A page without markup: of Markdown, or of HTML.
fn plain(page: &str) -> String {
    let mut page = page.replace("**", "").replace('\\', "");
    for (escape, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        page = page.replace(escape, letter);
    }
    page
}

/// The first row of a lane: in text a line, in Markdown the line of a table, in HTML a row.
fn row<'a>(page: &'a str, title: &str) -> Option<&'a str> {
    let is_of = |line: &&str| {
        let cell = line.trim_start_matches("| ").trim_start_matches("><th scope=\"row\">");
        let cell = cell
            .trim_start_matches(" class=\"base\"")
            .trim_start_matches("><th scope=\"row\">");
        cell.trim_start_matches("<strong>").starts_with(title)
    };
    let lines = if page.starts_with("<!DOCTYPE") {
        page.split("<tr").collect::<Vec<_>>()
    } else {
        page.lines().collect()
    };
    lines.into_iter().find(is_of)
}

fn in_json(answer: &Json, comparison: &Comparison, lane: usize, mark: &LaneMark<'_>) -> bool {
    let is_measured = comparison.is_measured_lane(lane);
    let before = (0..lane)
        .filter(|other| comparison.is_measured_lane(*other) == is_measured)
        .count();
    let list = if is_measured { "measured" } else { "policies" };
    let row = &answer[list][before];
    let number = Json::from(comparison.lanes[lane].policy.number());
    let contains = |list: &Json, value: &Json| list.as_array().is_some_and(|list| list.contains(value));
    match mark {
        LaneMark::Active { .. } => answer["effective_policy"] == number,
        LaneMark::Recommended(_) => answer["recommended"]["lane"] == number,
        LaneMark::Equivalent(_) => contains(&answer["recommended"]["equivalent"], &number),
        LaneMark::Forbidden(finding) => row["forbidden_by"].to_string().contains(finding.rule),
        LaneMark::DoesNotFit(fit, _) => match fit {
            Fit::OutOfMemory(_) => row["out_of_memory"] == true,
            Fit::StopsUnderBudget => row["remat"].to_string().contains("thrash"),
            Fit::Refuses(count) => row["refused_requests"] == *count,
            Fit::Above { .. } => row["fits"] == false,
            Fit::Unknown | Fit::Yes { .. } | Fit::Forbidden(_) | Fit::Raises => false,
        },
        LaneMark::Arena(behaviour) => row["arena_behaviour"] == behaviour.name(),
        LaneMark::Unloads => row["unloads"].as_u64() > Some(0),
        LaneMark::PerIteration(time) => row["overhead_per_iteration_ns"] == time.0,
        LaneMark::ByConstruction => row["fits_by_construction"] == true,
        LaneMark::AllEquivalent(why) => answer["alike"] == *why,
        LaneMark::LowerBound(_) => row["lower_bound"] == true,
        LaneMark::EstimatedScratch(_) => answer["scratch"] == "estimated",
        LaneMark::Raises(exception) => row["exception"] == *exception,
        LaneMark::NotSimulated(keys) => keys.iter().all(|key| contains(&answer["no_effect"], &Json::from(*key))),
    }
}

#[test]
fn every_form_shows_every_mark_of_every_lane() {
    let mut seen = [false; N_KINDS];
    for session in sessions(concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces")) {
        let (comparison, _) = session.answer().expect("an answer");
        let (import, options, goal) = (Diagnostics::new(), session.configuration(), session.document().goal);
        let answer = CompareAnswer::new(comparison, goal, &[], &import, &options);
        let json = serde_json::to_value(answer.json()).expect("JSON");
        let report = text(&subject((**comparison).clone()), ExportForm::Report, "report.html");
        let pages = [
            answer.page().text(),
            plain(&answer.comment().markdown()),
            plain(&report),
        ];
        for (lane, row_of_lane) in comparison.lanes.iter().enumerate() {
            let title = comparison.lane_title(row_of_lane.id);
            for mark in comparison.lane_marks(lane, goal) {
                seen[kind(&mark).expect("a mark that says something")] = true;
                assert!(in_json(&json, comparison, lane, &mark), "{title}: {mark:?}: {json}");
                for page in &pages {
                    let row = row(page, &title).unwrap_or_else(|| panic!("{title}: {page}"));
                    let sign = if matches!(mark, LaneMark::LowerBound(_)) {
                        "\u{2265}"
                    } else {
                        ""
                    };
                    assert!(
                        row.contains(&mark.label()) && row.contains(sign),
                        "{title}: {mark:?}: {row}"
                    );
                    if let Some(sentence) = mark.sentence(&title) {
                        assert!(page.contains(&sentence), "{title}: {sentence}: {page}");
                        assert!(!mark.is_against() || sentence.contains(&title), "{title}: {sentence}");
                    }
                }
            }
        }
    }
    assert_eq!(seen, [true; N_KINDS], "every kind of mark has a session");
}
