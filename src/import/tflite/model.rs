//! The tables of a model as plain values: what the importer needs of each, weights left where they are.
//!
//! In: a [`Flat`]. Out: [`Model`] with operator names, buffers (extents only), notes, and the subgraphs' positions, whose
//! tensors and operators are read one by one. Field numbers are those of the public schema.

use std::collections::BTreeMap;

use super::flatbuffer::{Flat, List, Table};
use super::operators;
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::UseKind;

const PLAN_NOTE: &str = "OfflineMemoryAllocation";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatedPlan {
    pub(super) subgraph: u64,
    /// By position of the tensor; `None` where the interpreter chooses.
    pub(super) offsets: Vec<Option<u64>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) version: u32,
    pub(super) description: String,
    /// Operator types by the index that operators use.
    pub(super) kinds: Vec<String>,
    /// Bytes of each buffer, 0 where there are none.
    pub(super) buffers: Vec<u64>,
    /// Buffers in other files, by id.
    pub(super) external_buffers: BTreeMap<u32, ExternalBuffer>,
    /// Names of the files of external buffers, by number.
    pub(super) external_groups: Vec<String>,
    pub(super) subgraphs: List,
    /// Names of signatures with the subgraph that each calls.
    pub(super) signatures: Vec<(String, u64)>,
    pub(super) plan: Option<StatedPlan>,
    /// Further notes: name and text or size.
    pub(super) notes: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawTensor {
    /// Its name; may be empty.
    pub(super) name: String,
    pub(super) dtype: u8,
    /// Sizes as the interpreter plans with them; `-1` where the file states none.
    pub(super) dims: Vec<i32>,
    /// Whether the signature leaves a size free for which `dims` states one.
    pub(super) is_free: bool,
    /// The number of its buffer; 0 is the empty one.
    pub(super) buffer: u32,
    /// The id of its buffer in another file; 0 for none.
    pub(super) external_buffer: u32,
    pub(super) is_variable: bool,
    pub(super) is_sparse: bool,
}

/// A buffer in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExternalBuffer {
    /// The number of its file.
    pub(super) group: u32,
    pub(super) bytes: u64,
    /// Whether it holds the elements as they are, without a packing.
    pub(super) is_plain: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawOp {
    /// Position in [`Model::kinds`].
    pub(super) kind: u32,
    /// Tensors that it reads; `-1` where an optional one is left out.
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
    pub(super) intermediates: u64,
}

pub(super) fn model(flat: &mut Flat<'_>, diagnostics: &mut Diagnostics) -> Result<Model, ImportError> {
    let root = flat.root()?;
    let mut model = Model {
        version: flat.number(root, 0, "the model")?,
        description: flat.text(root, 3, "the model's description")?,
        subgraphs: flat.tables(root, 2, "the list of subgraphs")?,
        ..Model::default()
    };
    kinds(flat, root, &mut model, diagnostics)?;
    let buffers = flat.tables(root, 4, "the list of buffers")?;
    let mut data = Vec::new();
    for place in 0..buffers.len {
        let list = buffer(flat, buffers, place, diagnostics)?;
        model.buffers.push(list.0);
        data.push(list.1);
    }
    let notes = flat.tables(root, 6, "the list of notes")?;
    for place in 0..notes.len {
        let table = flat.nth(notes, place, "a note")?;
        let name = flat.text(table, 0, "a note's name")?;
        let index = flat.number(table, 1, "a note")?;
        let list = data.get(index as usize).copied().flatten().unwrap_or_default();
        if name == PLAN_NOTE {
            model.plan = stated_plan(flat, list, diagnostics)?;
        } else {
            model.notes.push(note(flat, name, list)?);
        }
    }
    signatures(flat, root, &mut model)?;
    external_buffers(flat, root, &mut model)?;
    Ok(model)
}

fn kinds(
    flat: &mut Flat<'_>,
    root: Table,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportError> {
    let codes = flat.tables(root, 1, "the list of operator codes")?;
    for place in 0..codes.len {
        let table = flat.nth(codes, place, "an operator code")?;
        let narrow = i32::from(flat.byte(table, 0, "an operator code")?.cast_signed());
        let wide = flat.number(table, 3, "an operator code")?.cast_signed();
        // Old files know the narrow field alone; new ones fill it with the marker where the code needs the wide one.
        let code = narrow.max(wide);
        let custom = flat.text(table, 1, "an operator's name")?;
        let kind = match operators::name(code) {
            _ if code == operators::CUSTOM && !custom.is_empty() => custom,
            Some(name) if code != operators::WIDE => name.to_owned(),
            _ => {
                diagnostics.info(
                    "an operator code is younger than the table of names here; it is shown as a number",
                    &format!("operator code {code}"),
                );
                format!("operator {code}")
            }
        };
        model.kinds.push(kind);
    }
    Ok(())
}

/// Bytes of a buffer, and where they are if they are within the flatbuffer.
fn buffer(
    flat: &mut Flat<'_>,
    buffers: List,
    place: u64,
    diagnostics: &mut Diagnostics,
) -> Result<(u64, Option<List>), ImportError> {
    let table = flat.nth(buffers, place, "a buffer")?;
    if let Some(list) = flat.list(table, 0, 1, "a buffer")? {
        return Ok((list.len, Some(list)));
    }
    let offset = flat.long(table, 1, "a buffer")?;
    let size = flat.long(table, 2, "a buffer")?;
    if offset <= 1 {
        return Ok((0, None));
    }
    if offset.checked_add(size).is_none_or(|end| end > flat.len()) {
        diagnostics.warning(
            "a buffer behind the tables reaches beyond the end of the file, which is cut off",
            &format!("buffer {place}"),
        );
    }
    Ok((size, None))
}

fn external_buffers(flat: &mut Flat<'_>, root: Table, model: &mut Model) -> Result<(), ImportError> {
    let groups = flat.tables(root, 8, "the list of files of external buffers")?;
    for place in 0..groups.len {
        let table = flat.nth(groups, place, "a file of external buffers")?;
        let name = flat.text(table, 0, "the name of a file of external buffers")?;
        model.external_groups.push(name);
    }
    let buffers = flat.tables(root, 9, "the list of external buffers")?;
    for place in 0..buffers.len {
        let table = flat.nth(buffers, place, "an external buffer")?;
        let id = flat.number(table, 0, "an external buffer")?;
        let buffer = ExternalBuffer {
            group: flat.number(table, 1, "an external buffer")?,
            bytes: flat.long(table, 3, "an external buffer")?,
            is_plain: flat.text(table, 4, "the packing of an external buffer")?.is_empty(),
        };
        model.external_buffers.entry(id).or_insert(buffer);
    }
    Ok(())
}

fn note(flat: &mut Flat<'_>, name: String, list: List) -> Result<(String, String), ImportError> {
    let text = if list.len <= 64 {
        flat.text_at(list, "a note")?
    } else {
        String::new()
    };
    let text = text.trim_matches('\0');
    let is_text = !text.is_empty() && text.chars().all(|letter| !letter.is_control() && letter != '\u{fffd}');
    let text = if is_text {
        text.to_owned()
    } else {
        format!("{} bytes", list.len)
    };
    Ok((name, text))
}

/// The note's integers: version, subgraph, count, offsets by tensor.
fn stated_plan(
    flat: &mut Flat<'_>,
    list: List,
    diagnostics: &mut Diagnostics,
) -> Result<Option<StatedPlan>, ImportError> {
    let numbers = flat.ints_at(
        List {
            at: list.at,
            len: list.len / 4,
        },
        "the plan made ahead of time",
    )?;
    let [version, subgraph, count, offsets @ ..] = numbers.as_slice() else {
        diagnostics.warning("the plan made ahead of time is too short to be read", PLAN_NOTE);
        return Ok(None);
    };
    let is_known = *version == 1 && usize::try_from(*count).is_ok_and(|count| count <= offsets.len());
    let (true, Ok(subgraph), Ok(count)) = (is_known, u64::try_from(*subgraph), usize::try_from(*count)) else {
        diagnostics.warning(
            format!("the plan made ahead of time has version {version} and {count} offsets, which is not understood"),
            PLAN_NOTE,
        );
        return Ok(None);
    };
    Ok(Some(StatedPlan {
        subgraph,
        offsets: offsets
            .iter()
            .take(count)
            .map(|offset| u64::try_from(*offset).ok())
            .collect(),
    }))
}

fn signatures(flat: &mut Flat<'_>, root: Table, model: &mut Model) -> Result<(), ImportError> {
    let list = flat.tables(root, 7, "the list of signatures")?;
    for place in 0..list.len {
        let table = flat.nth(list, place, "a signature")?;
        let key = flat.text(table, 2, "a signature's name")?;
        let subgraph = flat.number(table, 4, "a signature")?;
        model.signatures.push((key, u64::from(subgraph)));
    }
    Ok(())
}

pub(super) fn tensor(flat: &mut Flat<'_>, list: List, place: u64) -> Result<RawTensor, ImportError> {
    let table = flat.nth(list, place, "a tensor")?;
    let shape = flat.ints(table, 0, "a tensor's shape")?.unwrap_or_default();
    let signature = flat.ints(table, 7, "a tensor's shape")?.unwrap_or_default();
    let is_free = signature.contains(&-1) && !shape.contains(&-1);
    Ok(RawTensor {
        name: flat.text(table, 3, "a tensor's name")?,
        dtype: flat.byte(table, 1, "a tensor")?,
        dims: shape,
        is_free,
        buffer: flat.number(table, 2, "a tensor")?,
        external_buffer: flat.number(table, 10, "a tensor")?,
        is_variable: flat.byte(table, 5, "a tensor")? != 0,
        is_sparse: flat.has(table, 6, "a tensor")?,
    })
}

pub(super) fn op(flat: &mut Flat<'_>, list: List, place: u64) -> Result<RawOp, ImportError> {
    let table = flat.nth(list, place, "an operator")?;
    Ok(RawOp {
        kind: flat.number(table, 0, "an operator")?,
        inputs: flat.ints(table, 1, "an operator's inputs")?.unwrap_or_default(),
        outputs: flat.ints(table, 2, "an operator's outputs")?.unwrap_or_default(),
        intermediates: flat
            .list(table, 8, 4, "an operator's intermediates")?
            .map_or(0, |list| list.len),
    })
}

/// Of a loop: the inputs that its body returns unchanged, by position.
pub(super) fn passed_through(
    flat: &mut Flat<'_>,
    model: &Model,
    list: List,
    place: u64,
) -> Result<Vec<bool>, ImportError> {
    let table = flat.nth(list, place, "an operator")?;
    let Some(options) = flat.part(table, 4, "a loop's options")? else {
        return Ok(Vec::new());
    };
    let body = flat.number(options, 1, "a loop's body")?;
    let body = flat.nth(model.subgraphs, u64::from(body), "a loop's body")?;
    let inputs = flat.ints(body, 1, "a subgraph's inputs")?.unwrap_or_default();
    let outputs = flat.ints(body, 2, "a subgraph's outputs")?.unwrap_or_default();
    let same = inputs.iter().zip(&outputs).map(|(input, output)| input == output);
    Ok(same.collect())
}

/// The subgraphs that an operator runs, and how; none for most. Options that the file leaves out are 0.
pub(super) fn called(
    flat: &mut Flat<'_>,
    kind: &str,
    list: List,
    place: u64,
) -> Result<Option<(Vec<u32>, UseKind)>, ImportError> {
    // The field of the options' table within the operator, then the fields of the numbers within that.
    let (options, fields, how): (u64, &[u64], UseKind) = match kind {
        "CALL" | "CALL_ONCE" => (4, &[0], UseKind::Call),
        "IF" => (4, &[0, 1], UseKind::Branch),
        "WHILE" => (4, &[0, 1], UseKind::Loop),
        "STABLEHLO_COMPOSITE" => (12, &[1], UseKind::Call),
        "STABLEHLO_WHILE" => (12, &[0, 1], UseKind::Loop),
        // A list of branches instead of numbers.
        "STABLEHLO_CASE" => (12, &[], UseKind::Branch),
        _ => return Ok(None),
    };
    let table = flat.nth(list, place, "an operator")?;
    let Some(options) = flat.part(table, options, "an operator's options")? else {
        return Ok(None);
    };
    if fields.is_empty() {
        let branches = flat.ints(options, 0, "an operator's branches")?.unwrap_or_default();
        // A negative number is no subgraph's, and reported.
        let called = branches
            .into_iter()
            .map(|branch| u32::try_from(branch).unwrap_or(u32::MAX));
        return Ok(Some((called.collect(), how)));
    }
    let mut called = Vec::with_capacity(fields.len());
    for field in fields {
        called.push(flat.number(options, *field, "an operator's subgraph")?);
    }
    Ok(Some((called, how)))
}

/// Inputs and outputs of a subgraph, by the numbers of its tensors.
pub(super) fn ends(flat: &mut Flat<'_>, model: &Model, place: u32) -> Result<(Vec<i32>, Vec<i32>), ImportError> {
    let table = flat.nth(model.subgraphs, u64::from(place), "a subgraph that an operator runs")?;
    let inputs = flat.ints(table, 1, "a subgraph's inputs")?.unwrap_or_default();
    let outputs = flat.ints(table, 2, "a subgraph's outputs")?.unwrap_or_default();
    Ok((inputs, outputs))
}
