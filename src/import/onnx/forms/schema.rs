//! The messages of ONNX as far as they are read: names, numbers and kinds of fields (onnx.proto of onnx 1.23.2).

use super::schema::Kind::{Bytes, Double, Float, Message as Inner, Name, Number, Word};

pub(super) struct Message {
    pub(super) fields: &'static [(&'static str, u64, Kind)],
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Number,
    /// A number that texts may write as a word: the words by number.
    Word(&'static [&'static str]),
    Float,
    Double,
    /// A text that has to be whole.
    Name,
    /// Content, which is left out where it is long: as weights, it is not read.
    Bytes,
    Message(&'static Message),
}

impl Message {
    /// The number and kind of a field by its name, which JSON may write in the other style (`opType`).
    pub(super) fn field(&self, name: &str) -> Option<(u64, Kind)> {
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let exact = self.fields.iter().find(|row| row.0 == name);
        let row = exact.or_else(|| {
            let wanted = plain(name);
            self.fields.iter().find(|row| plain(row.0) == wanted)
        })?;
        Some((row.1, row.2))
    }
}

pub(super) static MODEL: Message = Message {
    fields: &[
        ("ir_version", 1, Number),
        ("producer_name", 2, Name),
        ("graph", 7, Inner(&GRAPH)),
        ("opset_import", 8, Inner(&OPERATOR_SET)),
        ("functions", 25, Inner(&FUNCTION)),
    ],
};
static OPERATOR_SET: Message = Message {
    fields: &[("domain", 1, Name), ("version", 2, Number)],
};
static GRAPH: Message = Message {
    fields: &[
        ("node", 1, Inner(&NODE)),
        ("name", 2, Name),
        ("initializer", 5, Inner(&TENSOR)),
        ("input", 11, Inner(&VALUE)),
        ("output", 12, Inner(&VALUE)),
        ("value_info", 13, Inner(&VALUE)),
        ("sparse_initializer", 15, Inner(&SPARSE_TENSOR)),
    ],
};
static FUNCTION: Message = Message {
    fields: &[
        ("name", 1, Name),
        ("input", 4, Name),
        ("output", 5, Name),
        ("attribute", 6, Name),
        ("node", 7, Inner(&NODE)),
        ("opset_import", 9, Inner(&OPERATOR_SET)),
        ("domain", 10, Name),
        ("attribute_proto", 11, Inner(&ATTRIBUTE)),
        ("value_info", 12, Inner(&VALUE)),
        ("overload", 13, Name),
    ],
};
static NODE: Message = Message {
    fields: &[
        ("input", 1, Name),
        ("output", 2, Name),
        ("name", 3, Name),
        ("op_type", 4, Name),
        ("attribute", 5, Inner(&ATTRIBUTE)),
        ("domain", 7, Name),
        ("overload", 8, Name),
    ],
};
static ATTRIBUTE: Message = Message {
    fields: &[
        ("name", 1, Name),
        ("f", 2, Float),
        ("i", 3, Number),
        ("s", 4, Bytes),
        ("t", 5, Inner(&TENSOR)),
        ("g", 6, Inner(&GRAPH)),
        ("floats", 7, Float),
        ("ints", 8, Number),
        ("strings", 9, Bytes),
        ("graphs", 11, Inner(&GRAPH)),
        ("type", 20, Word(ATTRIBUTE_TYPES)),
        ("ref_attr_name", 21, Name),
        ("sparse_tensor", 22, Inner(&SPARSE_TENSOR)),
    ],
};
/// By number.
pub(super) const ATTRIBUTE_TYPES: &[&str] = &[
    "UNDEFINED",
    "FLOAT",
    "INT",
    "STRING",
    "TENSOR",
    "GRAPH",
    "FLOATS",
    "INTS",
    "STRINGS",
    "TENSORS",
    "GRAPHS",
    "SPARSE_TENSOR",
    "SPARSE_TENSORS",
    "TYPE_PROTO",
    "TYPE_PROTOS",
];
static TENSOR: Message = Message {
    fields: &[
        ("dims", 1, Number),
        ("data_type", 2, Number),
        ("float_data", 4, Float),
        ("int32_data", 5, Number),
        ("int64_data", 7, Number),
        ("name", 8, Name),
        ("raw_data", 9, Bytes),
        ("double_data", 10, Double),
        ("uint64_data", 11, Number),
        ("data_location", 14, Word(&["DEFAULT", "EXTERNAL"])),
    ],
};
static SPARSE_TENSOR: Message = Message {
    fields: &[
        ("values", 1, Inner(&TENSOR)),
        ("indices", 2, Inner(&TENSOR)),
        ("dims", 3, Number),
    ],
};
static VALUE: Message = Message {
    fields: &[("name", 1, Name), ("type", 2, Inner(&TYPE))],
};
static TYPE: Message = Message {
    fields: &[
        ("tensor_type", 1, Inner(&TENSOR_TYPE)),
        ("sequence_type", 4, Inner(&OTHER_TYPE)),
        ("map_type", 5, Inner(&OTHER_TYPE)),
        ("sparse_tensor_type", 8, Inner(&TENSOR_TYPE)),
        ("optional_type", 9, Inner(&OTHER_TYPE)),
    ],
};
static TENSOR_TYPE: Message = Message {
    fields: &[("elem_type", 1, Number), ("shape", 2, Inner(&SHAPE))],
};
/// A sequence, a map or an optional: that it is one is all that is read, but rules of sequences take their elements' type.
static OTHER_TYPE: Message = Message {
    fields: &[("elem_type", 1, Inner(&TYPE))],
};
static SHAPE: Message = Message {
    fields: &[("dim", 1, Inner(&DIM))],
};
static DIM: Message = Message {
    fields: &[("dim_value", 1, Number), ("dim_param", 2, Name)],
};
