//! The file of `customize_dtypes`: data types of single operators.
//!
//! ```text
//! # by name, then by type
//! block1/Relu::InputDtype:float16,int8,OutputDtype:float16,int8
//! OpType::Relu:InputDtype:float16,int8,OutputDtype:float16,int8
//! ```
//!
//! Names take precedence over types. Source: NPURunConfig option reference.

use super::lines::names;
use super::{FileError, decoded, quoted, unknown};

const INPUTS: &str = "InputDtype:";
const OUTPUTS: &str = "OutputDtype:";
const BY_TYPE: &str = "OpType::";

const DTYPES: &[&str] = &[
    "float",
    "float16",
    "float32",
    "float64",
    "double",
    "bfloat16",
    "hifloat8",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint1",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "string",
    "complex32",
    "complex64",
    "complex128",
    "qint8",
    "qint16",
    "qint32",
    "quint8",
    "quint16",
    "float8_e5m2",
    "float8_e4m3fn",
    "resource",
    "variant",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomDtypes {
    /// Whether the name is a type of operators.
    pub is_type: bool,
    pub name: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

pub fn custom_dtypes(bytes: &[u8]) -> (Vec<CustomDtypes>, Vec<FileError>) {
    let mut read = Vec::new();
    let mut problems = Vec::new();
    for (idx, line) in decoded(bytes).lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(operator) = operator(line) else {
            problems.push(FileError::new(
                idx + 1,
                format!(
                    "{} is neither NAME::InputDtype:TYPES,OutputDtype:TYPES nor OpType::TYPE:InputDtype:TYPES",
                    quoted(line)
                ),
            ));
            continue;
        };
        if operator.is_type && operator.name.ends_with(':') {
            problems.push(FileError::new(
                idx + 1,
                format!(
                    "{} has two colons after a type: use one (two follow a name)",
                    quoted(line)
                ),
            ));
        }
        for dtype in operator.inputs.iter().chain(&operator.outputs) {
            if !DTYPES.contains(&dtype.as_str()) {
                problems.push(FileError::new(idx + 1, unknown("data type", dtype, DTYPES)));
            }
        }
        read.push(operator);
    }
    (read, problems)
}

fn operator(line: &str) -> Option<CustomDtypes> {
    let typed = line.strip_prefix(BY_TYPE);
    let rest = typed.unwrap_or(line);
    let separator = if typed.is_some() { ":" } else { "::" };
    let start = [INPUTS, OUTPUTS]
        .iter()
        .filter_map(|marker| rest.find(&format!("{separator}{marker}")))
        .min()?;
    let (name, dtypes) = (rest[..start].trim(), &rest[start + separator.len()..]);
    let (inputs, outputs) = match dtypes.split_once(OUTPUTS) {
        Some((inputs, outputs)) => (inputs, outputs),
        None => (dtypes, ""),
    };
    let inputs: Vec<String> = listed(inputs.strip_prefix(INPUTS).unwrap_or(inputs));
    let outputs = listed(outputs);
    if name.is_empty() || (inputs.is_empty() && outputs.is_empty()) {
        return None;
    }
    Some(CustomDtypes {
        is_type: typed.is_some(),
        name: name.to_owned(),
        inputs,
        outputs,
    })
}

fn listed(text: &str) -> Vec<String> {
    names(text).map(str::to_owned).collect()
}
