//! The table of the allocator's settings: text, JSON, Markdown.

use serde_json::{Value as Json, json};

use super::super::json_parts::list;
use highwater_torch::{COMMON_VARIABLE, Effect, Framework, OPTIONS, OptionRow, Scope, Version};

/// Versions that know a key.
fn known_to(row: &OptionRow) -> String {
    match row.scope {
        Scope::Npu => "torch_npu".to_owned(),
        Scope::Cuda(since) => since_text(since),
        Scope::Both(since) => format!("{}, torch_npu", since_text(since)),
    }
}

fn since_text(since: Version) -> String {
    match since {
        Version::Torch2_9 => "torch".to_owned(),
        since => format!("{since} and newer"),
    }
}

fn is_simulated(row: &OptionRow) -> bool {
    row.effect() == Effect::Acts
}

pub(in super::super) fn allocator_options_json() -> Json {
    json!({
        "variables": [Framework::Cuda.variable(), Framework::Npu.variable(), COMMON_VARIABLE],
        "versions": Version::all().map(Version::name).collect::<Vec<_>>(),
        "settings": list(OPTIONS, |row| {
            let versions = Version::all().filter(|version| row.is_known_to(*version));
            json!({
                "key": row.key,
                "default": row.default,
                "accepted": row.accepted,
                "summary": row.about,
                "versions": versions.map(Version::name).collect::<Vec<_>>(),
                "simulated": is_simulated(&row),
            })
        }),
    })
}

/// A line with facts and a line with the effect per key.
pub(in super::super) fn allocator_options_text() -> Vec<(String, &'static str)> {
    let row = |row: &OptionRow| {
        let note = if is_simulated(row) { "" } else { "; not simulated" };
        let facts = format!("{}, default {}; {}{note}", row.accepted, row.default, known_to(row));
        (format!("{}  ({facts})", row.key), row.about)
    };
    OPTIONS.iter().map(row).collect()
}

/// A table with a row per key, those that change figures first.
pub fn allocator_options_markdown() -> String {
    let mut out = String::new();
    for (heading, simulated) in [("key", true), ("key without an effect on figures here", false)] {
        out.push_str(&format!(
            "\n| {heading} | accepted | default | known to | effect |\n|---|---|---|---|---|\n"
        ));
        for row in OPTIONS.iter().filter(|row| is_simulated(row) == simulated) {
            out.push_str(&format!(
                "| `{}` | {} | {} | {} | {} |\n",
                row.key,
                row.accepted,
                row.default,
                known_to(row),
                row.about
            ));
        }
    }
    out
}
