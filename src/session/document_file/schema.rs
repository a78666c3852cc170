//! The JSON Schema (draft 2020-12) of documents: `docs/document.schema.json`.
//!
//! Unknown names are allowed everywhere, since the reader keeps them.

use highwater_analysis::LaneGoal;
use serde_json::{Value as Json, json};

use super::wire::LANE_KINDS;
use super::{DOCUMENT_VERSION, MAX_PINS, MOST_BOOKMARKS, MOST_SOURCES};

pub fn document_schema() -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "highwater document",
        "description": "What is open with its settings: a .highwater file (docs/document.md).",
        "type": "object",
        "required": ["highwater_document"],
        "properties": {
            "highwater_document": {"type": "integer", "minimum": 1, "maximum": DOCUMENT_VERSION},
            "tool_version": {"type": "string", "description": "The highwater that wrote it."},
            "sources": {"type": "array", "maxItems": MOST_SOURCES, "items": source()},
            "part": {"type": "string", "description": "What of the sources is looked at by itself."},
            "settings": {
                "type": "object",
                "description": "A configuration (docs/config.schema.json) without effective, sources and predicted: \
                                options, environment, device, schedule and evaluation.",
                "properties": {"highwater_config": {"type": "integer", "minimum": 1}}
            },
            "lanes": lanes(),
            "strategies": {
                "type": "object",
                "description": "How the static arenas of single lanes are placed: by lane, the strategy's name.",
                "additionalProperties": {"type": "string"}
            },
            "bookmarks": {"type": "array", "maxItems": MOST_BOOKMARKS, "items": bookmark()},
            "pins": {"type": "array", "maxItems": MAX_PINS, "items": pin()},
            "baseline": {"type": "string", "description": "The lane that others are compared with, such as \"policy 0\" or \"pin 1\"."},
            "goal": {"enum": LaneGoal::ALL.map(LaneGoal::name), "description": "The goal by which a policy is recommended; least-overhead unless given."},
            "view": {
                "type": "object",
                "description": "How the window showed it; it has its own version, and may be left out.",
                "properties": {"version": count()}
            }
        }
    })
}

fn source() -> Json {
    json!({
        "type": "object",
        "anyOf": [{"required": ["path"]}, {"required": ["sample"]}],
        "properties": {
            "path": {"type": "string", "description": "Seen from the document's folder, with / between names."},
            "sample": {"type": "string", "description": "The name of a bundled sample."},
            "format": {"type": "string", "description": "Read as this format, whatever the content looks like."},
            "sha256": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "Of the content when the document was saved; of a folder as docs/document.md says."
            }
        }
    })
}

fn lanes() -> Json {
    json!({
        "type": "object",
        "description": "What lanes are compared for; policies where it is left out.",
        "required": ["kind"],
        "properties": {
            "kind": {"type": "string", "examples": LANE_KINDS},
            "runs": {
                "type": "array",
                "description": "Runs under budgets, for the kind \"budgets\"; one without a budget has none.",
                "items": {
                    "type": "object",
                    "required": ["heuristic"],
                    "properties": {
                        "heuristic": {"type": "string"},
                        "budget_bytes": count(),
                        "budget_ratio": {"type": "number", "minimum": 0}
                    }
                }
            }
        }
    })
}

fn bookmark() -> Json {
    json!({
        "type": "object",
        "properties": {
            "step": count(),
            "turn": {"type": "object", "description": "What happens on the step."},
            "note": {"type": "string"},
            "lane": {"type": "string", "examples": ["policy 2", "problem 0", "pass 1", "pin 0", "measured 0"]}
        }
    })
}

fn pin() -> Json {
    json!({
        "type": "object",
        "description": "A configuration that is kept to compare with.",
        "required": ["name", "configuration"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "No other pin has it."},
            "configuration": {
                "type": "object",
                "description": "A configuration (docs/config.schema.json): options, environment and schedule.",
                "properties": {"highwater_config": {"type": "integer", "minimum": 1}}
            }
        }
    })
}

fn count() -> Json {
    json!({"type": "integer", "minimum": 0})
}
