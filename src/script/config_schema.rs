//! The JSON Schema (draft 2020-12) of configuration files, made from the tables: `docs/config.schema.json`.
//!
//! Unknown names are allowed wherever the reader keeps them; values have the types and ranges of the table. Rules across options are
//! in `options::check`.

use serde_json::{Map, Value as Json, json};

use highwater_options::{ENVIRONMENT, FRAMEWORKS, GROUPS, OptionKind, OptionRow, TABLE, has_fields};

use super::config_document::CONFIG_VERSION;
use super::json_value::json_of;

pub fn config_schema() -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "highwater configuration",
        "description": "The versioned form that highwater writes, or a plain object of options.",
        "type": "object",
        "if": {"required": ["highwater_config"]},
        "then": {"$ref": "#/$defs/document"},
        "else": {"$ref": "#/$defs/options"},
        "$defs": {
            "document": document(),
            "options": options(),
            "expression": expression(),
        }
    })
}

fn document() -> Json {
    let variables: Map<String, Json> = ENVIRONMENT
        .iter()
        .map(|row| {
            (
                row.name.to_owned(),
                json!({"type": "string", "description": row.summary}),
            )
        })
        .collect();
    json!({
        "type": "object",
        "required": ["highwater_config"],
        "properties": {
            "highwater_config": {"type": "integer", "minimum": 1, "maximum": CONFIG_VERSION},
            "tool_version": {"type": "string"},
            "options": {"$ref": "#/$defs/options"},
            "effective": {
                "type": "object",
                "description": "Effective values, for readers; not read back."
            },
            "environment": {
                "type": "object",
                "properties": variables,
                "additionalProperties": {"type": "string"}
            },
            "framework": {
                "description": "The framework that runs the graphs by GE; its defaults act where no option is set.",
                "enum": FRAMEWORKS.iter().map(|row| row.name).collect::<Vec<&str>>()
            },
            "device": {
                "type": "object",
                "required": ["name", "memory_bytes"],
                "properties": {"name": {"type": "string"}, "memory_bytes": count(0)}
            },
            "schedule": {
                "type": "object",
                "properties": {
                    "iterations": {"type": "integer", "minimum": 1, "maximum": u32::MAX},
                    "dims": {"type": "object", "additionalProperties": {"type": "array", "items": count(0)}},
                    "entries": {
                        "type": "array",
                        "description": "Entries of an iteration in order; by default every graph once.",
                        "items": schedule_entry()
                    },
                    "names": {
                        "type": "object",
                        "description": "Names of graphs given by the user, by original name.",
                        "additionalProperties": {"type": "string"}
                    }
                }
            },
            "evaluation": {"type": "boolean"},
            "sources": {"type": "array", "items": {"type": "string"}},
            "predicted": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["peak_reserved_bytes", "peak_live_bytes"],
                    "properties": {
                        "peak_reserved_bytes": count(0),
                        "peak_live_bytes": count(0),
                        "out_of_memory": {"type": "boolean"}
                    }
                }
            }
        }
    })
}

fn schedule_entry() -> Json {
    json!({
        "type": "object",
        "required": ["graph"],
        "properties": {
            "graph": {"type": "string"},
            "kind": {"enum": ["run", "load", "unload"], "default": "run"},
            "dims": {
                "type": "object",
                "description": "Values of the graph's dimensions; missing ones are those of the schedule.",
                "additionalProperties": {
                    "type": "string",
                    "examples": ["8,16,32", "8..64 step 8", "8..1024 log 5 seed 7", "8~1024 samples 4"]
                }
            },
            "repeats": {"type": "integer", "minimum": 1, "maximum": u32::MAX, "default": 1},
            "group": {
                "type": "integer",
                "minimum": 0,
                "maximum": u32::MAX,
                "description": "Neighbours of one group run at the same time."
            }
        }
    })
}

fn count(min: u64) -> Json {
    json!({"type": "integer", "minimum": min})
}

fn expression() -> Json {
    json!({
        "description": "A Python expression, a set or a tuple.",
        "type": "object",
        "oneOf": [{"required": ["python"]}, {"required": ["set"]}, {"required": ["tuple"]}],
        "properties": {
            "python": {"type": "string"},
            "set": {"type": "array", "minItems": 1},
            "tuple": {"type": "array"},
        },
        "additionalProperties": false
    })
}

/// Every option by its dotted key, and the groups as nested objects.
fn options() -> Json {
    let mut properties: Map<String, Json> = TABLE.iter().map(|row| (row.key.to_owned(), option(row))).collect();
    let groups = GROUPS.iter().map(|group| group.key).chain(["simulation"]);
    for key in groups {
        properties.entry(key).or_insert_with(|| json!({"anyOf": [nested(key)]}));
    }
    json!({"type": "object", "properties": properties})
}

/// The fields of a group under their short names.
fn nested(group: &str) -> Json {
    let rows = TABLE.iter().filter(|row| row.group() == Some(group));
    let fields: Map<String, Json> = rows
        .map(|row| {
            let target = format!("#/$defs/options/properties/{}", row.key);
            (row.short_key().to_owned(), json!({ "$ref": target }))
        })
        .collect();
    json!({"type": "object", "properties": fields})
}

fn option(row: &OptionRow) -> Json {
    let mut schema = Map::new();
    schema.insert("description".to_owned(), Json::from(row.summary));
    schema.insert("default".to_owned(), json_of(&row.default_value()));
    if row.deprecated.is_some() {
        schema.insert("deprecated".to_owned(), Json::Bool(true));
    }
    let mut forms = values(row);
    if let Some((number, _)) = row.also {
        forms.push(json!({"const": number}));
    }
    forms.push(json!({"$ref": "#/$defs/expression"}));
    forms.push(json!({"type": "null", "description": "as if it were not set"}));
    schema.insert("anyOf".to_owned(), Json::Array(forms));
    Json::Object(schema)
}

/// The schemas of the option's values; one of them has to fit.
fn values(row: &OptionRow) -> Vec<Json> {
    match &row.kind {
        OptionKind::Bool => vec![json!({"type": "boolean"})],
        OptionKind::Int { min, max } => integers(row, *min, *max),
        OptionKind::Bytes { min, max } => {
            let mut forms = integers(row, *min, *max);
            let pattern = r"^\s*[0-9_]+(\.[0-9_]+)?\s*([KMGTkmgt]([Ii]?[Bb])?|[Bb]([Yy][Tt][Ee][Ss]?)?)?\s*$";
            forms.push(json!({"type": "string", "pattern": pattern}));
            forms
        }
        OptionKind::Float { min, max } => {
            let mut form = json!({"type": "number", "minimum": min});
            if max.is_finite() {
                form["maximum"] = json!(max);
            }
            vec![form]
        }
        OptionKind::IntChoice(_) | OptionKind::TextChoice(_) => {
            let choices = row.kind.choices();
            let one = |(value, summary)| json!({"const": json_of(&value), "description": summary});
            choices.into_iter().map(one).collect()
        }
        OptionKind::Names(choices) if !choices.is_empty() => {
            let names: Vec<&str> = choices.iter().map(|(value, _)| *value).collect();
            let name = format!(r"\s*({})\s*", names.join("|"));
            vec![json!({"type": "string", "pattern": format!("^{name}(,{name})*$")})]
        }
        OptionKind::Text | OptionKind::Names(_) | OptionKind::Path(_) | OptionKind::ShapeRange => {
            vec![json!({"type": "string"})]
        }
        OptionKind::Any => vec![json!(true)],
        OptionKind::List => vec![json!({"type": "array", "items": {"type": "string"}})],
        OptionKind::Object { .. } if has_fields(row.key) => vec![nested(row.key)],
        OptionKind::Object { .. } => Vec::new(),
    }
}

/// Integers within bounds, and the default, which is allowed even outside of them.
fn integers(row: &OptionRow, min: i64, max: i64) -> Vec<Json> {
    let mut form = Map::new();
    form.insert("type".to_owned(), Json::from("integer"));
    if min != i64::MIN {
        form.insert("minimum".to_owned(), Json::from(min));
    }
    if max != i64::MAX {
        form.insert("maximum".to_owned(), Json::from(max));
    }
    let mut forms = vec![Json::Object(form)];
    if let Some(default) = row.default_value().as_int()
        && !(min..=max).contains(&default)
    {
        forms.push(json!({ "const": default }));
    }
    forms
}
