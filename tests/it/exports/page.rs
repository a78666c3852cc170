//! The report: well-formed, complete without scripts, and file contents are never markup.

use std::collections::BTreeSet;

use highwater::analysis::LaneGoal;
use highwater::export::ExportForm;
use highwater::session::SourceSpec;
use serde_json::Value as Json;

use super::{exported, session, subject, text};
use crate::cli::{Place, words};
use crate::synthetic;

/// Elements whose text is no markup.
const RAW: [&str; 2] = ["script", "style"];

/// Names of elements with their attributes, in order; panics unless every element is closed and every text is escaped.
#[track_caller]
pub(super) fn well_formed(html: &str) -> Vec<String> {
    let mut rest = html.strip_prefix("<!DOCTYPE html>\n").unwrap_or(html);
    let (mut open, mut seen): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(start) = rest.find('<') {
        let (words, tag) = rest.split_at(start);
        assert!(!words.contains('>'), "{words}");
        for piece in words.split('&').skip(1) {
            let is_known = ["amp;", "lt;", "gt;", "quot;", "#39;"]
                .iter()
                .any(|name| piece.starts_with(name));
            assert!(is_known, "{words}");
        }
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = inside.split([' ', '/']).next().unwrap_or_default().to_owned();
        seen.push(inside.to_owned());
        if inside.ends_with('/') {
            continue;
        }
        if RAW.contains(&name.as_str()) {
            let end = format!("</{name}>");
            let at = rest.find(&end).expect("a script ends");
            rest = &rest[at + end.len()..];
            continue;
        }
        open.push(name);
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(rest.trim(), "");
    seen
}

/// The data of the page's script.
fn data(html: &str) -> Json {
    let start = html.find("id=\"hw-data\">").unwrap() + "id=\"hw-data\">".len();
    let end = html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..start + end]).unwrap()
}

#[track_caller]
fn check(html: &str) {
    let tags = well_formed(html);
    let names = |wanted: &str| tags.iter().filter(|tag| tag.split(' ').next() == Some(wanted)).count();
    assert_eq!((names("h1"), names("main"), names("title") > 0), (1, 1, true));
    assert_eq!(names("h2"), 6);
    assert_eq!(names("table"), names("caption"), "every table has a caption");
    assert_eq!(names("figure"), names("figcaption"));
    assert_eq!(names("script"), 2);
    // Every id is unique, and every link has a target.
    let ids: Vec<&str> = tags
        .iter()
        .filter_map(|tag| tag.split_once(" id=\"")?.1.split('"').next())
        .collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "{ids:?}");
    for tag in tags.iter().filter(|tag| tag.starts_with("a ")) {
        let target = tag.split_once("href=\"#").unwrap().1.trim_end_matches('"');
        assert!(known.contains(target), "{tag}");
    }
    // Nothing is fetched, and every drawing has a name.
    for name in ["img", "link", "iframe", "object", "video"] {
        assert_eq!(names(name), 0, "{name}");
    }
    let links = tags
        .iter()
        .filter_map(|tag| tag.split_once("href=\""))
        .map(|(_, link)| link);
    assert!(
        links.into_iter().all(|link| link.starts_with(['#', 'd'])),
        "only parts of the page and its own pictures"
    );
    let found = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!found.contains("http://") && !found.contains("https://") && !found.contains("@import"));
    assert!(
        tags.iter()
            .filter(|tag| tag.starts_with("svg "))
            .all(|tag| tag.contains("role=\"img\""))
    );
}

#[test]
fn the_page_contains_the_figures_of_the_answer() {
    let subject = subject(synthetic::comparison(40, 3));
    let html = text(&subject, ExportForm::Report, "report.html");
    check(&html);
    let comparison = &subject.comparison;
    for lane in &comparison.lanes {
        let exact = lane.summary.peak_reserved.exact();
        assert!(html.contains(&format!("title=\"{exact}\"")), "{exact}");
        assert!(html.contains(&format!(
            "{}: {}",
            comparison.lane_title(lane.id),
            lane.policy.row().label
        )));
        for remark in &lane.explanation {
            assert!(html.contains(remark.text.split('<').next().unwrap()), "{}", remark.text);
        }
    }
    let recommended = comparison.recommended(LaneGoal::LeastOverhead).unwrap();
    let words = format!(
        "Recommended (least overhead that fits): policy {}: ",
        recommended.policy.number()
    );
    assert!(html.contains(&words));
    for words in [
        "@media screen and (prefers-color-scheme: dark)",
        "@media print",
        "est.\u{a0}",
        "active",
        "No option is set",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let data = data(&html);
    for (lane, drawn) in comparison.lanes.iter().zip(data["lanes"].as_array().unwrap()) {
        let columns = drawn["columns"].as_array().unwrap();
        let most = |at: usize| columns.iter().filter_map(|column| column[at].as_u64()).max();
        assert_eq!(most(2), Some(lane.summary.peak_reserved.get()));
        assert_eq!(most(4), Some(lane.summary.peak_live.get()));
        assert!(drawn["stops"].is_null());
        assert_eq!(columns[0][0], 0);
        assert_eq!(columns.last().unwrap()[1], comparison.axis.n_steps - 1);
    }
}

/// A graph whose names all look like markup.
const HOSTILE: &str = r#"{"highwater_graph": 1,
    "nodes": [{"name": "<script>alert(1)</script>", "op": "a&b\"'<img src=x onerror=alert(2)>", "inputs": ["x"],
               "outputs": [{"id": "</script><script>alert(3)</script>", "shape": [64, 64], "dtype": "float32"}]},
              {"name": "]]>--><b>", "op": "</svg></title><script>alert(4)</script>",
               "inputs": ["</script><script>alert(3)</script>"],
               "outputs": [{"id": "<z onload=\"alert(5)\">", "shape": [64], "dtype": "float32"}]}],
    "inputs": [{"id": "x", "shape": [64, 64], "dtype": "float32"}], "outputs": ["<z onload=\"alert(5)\">"]}"#;

#[test]
fn no_name_of_a_file_is_markup() {
    let place = Place::new();
    let source = &*place.write("<script>alert(6)<%2Fscript>&\"'.json", HOSTILE);
    let settings = ["HOSTILE", "dump_config.dump_path"].map(|key| format!("{key}=<script>alert(7)</script>"));
    let arguments = [source, "--env", &settings[0], "--set", &settings[1]];
    let html = exported(&place, &arguments, "report.html");
    check(&html);
    for word in ["<script>alert", "<img", "<b>", "<z ", "onerror=alert(2)>\""] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains("alert(7)"), "settings are told");
    let ops = data(&html)["ops"].to_string();
    assert!(
        ops.contains("<script>alert(1)</script>"),
        "the script has the names as they are: {ops}"
    );
    for form in ["t.svg", "trace.json", "tensors.csv", "plan.csv"] {
        let text = exported(&place, &[source], form);
        match form {
            "t.svg" => drop(well_formed(&text)),
            "trace.json" => drop(serde_json::from_str::<Json>(&text).unwrap()),
            _ => assert!(text.lines().count() > 1, "{text}"),
        }
    }
}

#[test]
fn the_page_states_the_command_that_reproduces_it() {
    let place = Place::new();
    let settings = "sample:bert --set memory_config.static_memory_policy=2 --env GE_USE_STATIC_MEMORY=3 \
                    --dim seq=64,128 --iterations 2 --device generic-16GB --device-memory 3GiB";
    let html = exported(&place, &words(&place.line(settings)), "first.html");
    check(&html);
    let command = html
        .split("<code>highwater export ")
        .nth(1)
        .unwrap()
        .split("</code>")
        .next()
        .unwrap();
    let command = command.replace("&#39;", "'");
    let arguments: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
    let to = arguments.iter().position(|word| *word == "--to").unwrap();
    assert_eq!(arguments[to + 1], "report.html");
    let arguments = [&arguments[..to], &arguments[to + 2..]].concat();
    assert!(html == exported(&place, &arguments, "second.html"), "{arguments:?}");
    for told in [
        "generic-16GB",
        "3221225472",
        "GE_USE_STATIC_MEMORY",
        "seq=64,128",
        "--iterations 2",
    ] {
        assert!(html.contains(told), "{told}");
    }
}

#[test]
fn a_problem_that_does_not_fit_is_reported_first() {
    let arguments = ["sample:resnet50", "--device-memory", "1GiB"];
    let html = exported(&Place::new(), &arguments, "r.html");
    check(&html);
    let summary = html.split("</section>").next().unwrap();
    assert!(summary.contains("No policy completes on this device."), "{summary}");
    assert!(summary.contains("runs out of memory at step"));
    let stops = |lane: &Json| lane["stops"].is_u64();
    assert!(data(&html)["lanes"].as_array().unwrap().iter().all(stops));
    assert!(html.contains("<li>Reserved: "));
}

#[test]
fn maps_with_very_many_blocks_are_pictures_in_the_page() {
    let subject = subject(synthetic::comparison(1500, 2));
    let html = text(&subject, ExportForm::Report, "report.html");
    check(&html);
    assert!(html.contains("data:image/png;base64,iVBOR"));
    assert!(html.contains("so the map is a picture"));
    assert!(html.len() < 4 << 20, "{}", html.len());
}

#[test]
fn a_dropped_file_has_no_path_for_the_command() {
    let source = SourceSpec::Bytes {
        name: "dropped.json".to_owned(),
        bytes: std::sync::Arc::from(HOSTILE.as_bytes()),
    };
    let mut session = session(vec![source]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.html");
    session.apply(highwater::session::Command::Export {
        form: ExportForm::Report,
        path: path.clone(),
        lanes: None,
    });
    session.settle();
    let html = std::fs::read_to_string(path).unwrap();
    check(&html);
    assert!(html.contains("was dropped onto the window"));
}
