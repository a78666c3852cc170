//! The JSON Schema (draft 2020-12) of documents: `docs/document.schema.json`.
//!
//! Unknown names are allowed everywhere, since the reader keeps them.

use highwater_analysis::LaneGoal;
use serde_json::{Value as Json, json};

use super::wire::LANE_KINDS;
use super::{DOCUMENT_VERSION, MAX_PINS, MOST_BOOKMARKS, MOST_FRAME_RULES, MOST_SETTINGS, MOST_SOURCES};

pub fn document_schema() -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "highwater document",
        "description": "A document: sources and settings (.highwater; docs/document.md).",
        "type": "object",
        "required": ["highwater_document"],
        "properties": {
            "highwater_document": {"type": "integer", "minimum": 1, "maximum": DOCUMENT_VERSION},
            "tool_version": {"type": "string", "description": "Version of highwater that wrote the document."},
            "sources": {"type": "array", "maxItems": MOST_SOURCES, "items": source()},
            "part": {"type": "string", "description": "Part of the sources that is shown alone."},
            "settings": {
                "type": "object",
                "description": "A configuration (docs/config.schema.json) without effective, sources and predicted: \
                                options, environment, device, schedule and evaluation.",
                "properties": {"highwater_config": {"type": "integer", "minimum": 1}}
            },
            "lanes": lanes(),
            "strategies": {
                "type": "object",
                "description": "Placement strategy of the static arenas, by lane.",
                "additionalProperties": {"type": "string"}
            },
            "frame_rules": {"type": "array", "maxItems": MOST_FRAME_RULES, "items": frame_rule()},
            "allocator_settings": {"type": "array", "maxItems": MOST_SETTINGS, "items": allocator_setting()},
            "category_rules": {"type": "array", "maxItems": MOST_FRAME_RULES, "items": category_rule()},
            "bookmarks": {"type": "array", "maxItems": MOST_BOOKMARKS, "items": bookmark()},
            "pins": {"type": "array", "maxItems": MAX_PINS, "items": pin()},
            "baseline": {"type": "string", "description": "Baseline lane, e.g. \"policy 0\" or \"pin 1\"."},
            "goal": {"enum": LaneGoal::ALL.map(LaneGoal::name), "description": "The goal by which a policy is recommended; least-overhead unless given."},
            "view": {
                "type": "object",
                "description": "State of the window, with a separate version; optional.",
                "properties": {"version": count()}
            }
        }
    })
}

fn frame_rule() -> Json {
    json!({
        "type": "object",
        "required": ["kind"],
        "description": "What a line of a recorded call stack is, before the built-in rules (docs/document.md).",
        "properties": {
            "kind": {"enum": ["user", "library", "generated", "autograd_node", "operator", "internal", "native"]},
            "file": {"type": "string", "description": "Regular expression, searched in the file."},
            "function": {"type": "string", "description": "Regular expression, searched in the function; a group (?P<name>...) is what the line is called."},
            "reason": {"type": "string"}
        }
    })
}

fn category_rule() -> Json {
    json!({
        "type": "object",
        "required": ["category"],
        "description": "What recorded blocks are for whose call stack has such a line, before the inference (docs/call-sites.md).",
        "properties": {
            "category": {"enum": ["parameter", "gradient", "optimizer_state", "activation", "input", "temporary", "unknown"]},
            "file": {"type": "string", "description": "Regular expression, searched in the file."},
            "function": {"type": "string", "description": "Regular expression, searched in the function."}
        }
    })
}

fn allocator_setting() -> Json {
    json!({
        "type": "object",
        "required": ["settings"],
        "description": "Settings of PyTorch's or torch_npu's allocator, simulated as a lane beside recordings.",
        "properties": {
            "settings": {"type": "string", "description": "As in PYTORCH_CUDA_ALLOC_CONF; empty for the default."},
            "torch": {"type": "string", "description": "2.0 to 2.15, or npu; the newest of the recording's framework unless given."}
        }
    })
}

fn source() -> Json {
    json!({
        "type": "object",
        "anyOf": [{"required": ["path"]}, {"required": ["sample"]}],
        "properties": {
            "path": {"type": "string", "description": "Relative to the document's folder, separated by /."},
            "sample": {"type": "string", "description": "The name of a bundled sample."},
            "format": {"type": "string", "description": "Format to read the file as, without detection."},
            "sha256": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "Hash of the content when the document was saved; of a folder, see docs/document.md."
            }
        }
    })
}

fn lanes() -> Json {
    json!({
        "type": "object",
        "description": "Kind of lanes; policies by default.",
        "required": ["kind"],
        "properties": {
            "kind": {"type": "string", "examples": LANE_KINDS},
            "runs": {
                "type": "array",
                "description": "Runs of the kind \"budgets\"; a run without this field is unconstrained.",
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
            "turn": {"type": "object", "description": "Note on the step."},
            "note": {"type": "string"},
            "lane": {"type": "string", "examples": ["policy 2", "problem 0", "pass 1", "pin 0", "measured 0"]}
        }
    })
}

fn pin() -> Json {
    json!({
        "type": "object",
        "description": "Pinned configuration.",
        "required": ["name", "configuration"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Unique among pins."},
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
