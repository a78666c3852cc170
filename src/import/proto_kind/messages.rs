//! The messages by which kinds of protobuf files are told apart, as far down as that needs.

use super::Message;
use super::Value::{Any, Bytes, Device, Message as Inner, Name, Number, Stated, Text, Title, Version};

const fn message(fields: &'static [(u64, super::Value)], needs: &'static [&'static [u64]]) -> Message {
    Message {
        fields,
        needs,
        is_open: false,
    }
}

const fn open(fields: &'static [(u64, super::Value)], needs: &'static [&'static [u64]]) -> Message {
    Message {
        fields,
        needs,
        is_open: true,
    }
}

// ---- MindSpore ----

static MIND_IR_NODE: Message = open(
    &[
        (1, Text),
        (2, Text),
        (3, Text),
        (4, Title),
        (5, Bytes),
        (6, Text),
        (7, Text),
    ],
    &[&[4]],
);
static MIND_IR_GRAPH: Message = open(
    &[
        (1, Inner(&MIND_IR_NODE)),
        (2, Text),
        (3, Bytes),
        (5, Bytes),
        (6, Bytes),
        (8, Bytes),
    ],
    &[],
);
/// A model whose versions are texts, as no other kind has them.
pub(super) static MIND_IR: Message = open(
    &[
        (1, Title),
        (2, Title),
        (3, Title),
        (4, Text),
        (5, Title),
        (6, Text),
        (7, Inner(&MIND_IR_GRAPH)),
        (8, Inner(&MIND_IR_GRAPH)),
        (10, Number),
        (13, Number),
    ],
    &[&[7, 8]],
);

// ---- ONNX ----

static ONNX_OPSET: Message = open(&[(1, Text), (2, Stated)], &[]);
static ONNX_VALUE: Message = open(&[(1, Text), (2, Bytes), (3, Any)], &[]);
static ONNX_NODE: Message = open(
    &[
        (1, Text),
        (2, Text),
        (3, Text),
        (4, Title),
        (5, Bytes),
        (6, Any),
        (7, Text),
    ],
    &[&[4]],
);
static ONNX_GRAPH: Message = open(
    &[
        (1, Inner(&ONNX_NODE)),
        (2, Text),
        (5, Bytes),
        (10, Any),
        (11, Inner(&ONNX_VALUE)),
        (12, Inner(&ONNX_VALUE)),
        (13, Inner(&ONNX_VALUE)),
        (14, Bytes),
        (15, Bytes),
        (16, Bytes),
    ],
    &[],
);
/// A model states a version, of the format or of its operators, and has a graph or a producer.
pub(super) static ONNX: Message = open(
    &[
        (1, Version),
        (2, Title),
        (3, Text),
        (4, Text),
        (5, Number),
        (6, Any),
        (7, Inner(&ONNX_GRAPH)),
        (8, Inner(&ONNX_OPSET)),
        (14, Bytes),
        (20, Bytes),
        (25, Bytes),
        (26, Bytes),
    ],
    &[&[1, 8], &[2, 3, 5, 7, 8]],
);

/// What a file of a test set holds.
pub(super) static ONNX_TENSOR: Message = message(
    &[
        (1, Stated),
        (2, Stated),
        (3, Bytes),
        (4, Any),
        (5, Any),
        (6, Bytes),
        (7, Any),
        (8, Title),
        (9, Bytes),
        (10, Any),
        (11, Any),
        (12, Text),
        (13, Bytes),
        (14, Number),
        (16, Bytes),
    ],
    &[&[2]],
);
/// A sequence or an optional of them.
pub(super) static ONNX_SEQUENCE: Message = message(
    &[
        (1, Title),
        (2, Stated),
        (3, Inner(&ONNX_TENSOR)),
        (4, Bytes),
        (5, Bytes),
        (6, Bytes),
        (7, Bytes),
    ],
    &[&[2], &[3, 4, 5, 6, 7]],
);

// ---- TensorFlow ----

const OF_NODES: &[u8] = b"._-/\\>$:";
const OF_OPS: &[u8] = b"._>-";

static TF_ATTRIBUTE: Message = message(&[(1, Title), (2, Bytes)], &[&[1]]);
static TF_NODE: Message = open(
    &[
        (1, Name(OF_NODES)),
        (2, Name(OF_OPS)),
        (3, Text),
        (4, Text),
        (5, Inner(&TF_ATTRIBUTE)),
        (6, Bytes),
        (7, Bytes),
    ],
    &[&[1], &[2]],
);
static TF_ARGUMENT: Message = open(&[(1, Name(OF_NODES))], &[&[1]]);
static TF_SIGNATURE: Message = open(
    &[(1, Name(OF_NODES)), (2, Inner(&TF_ARGUMENT)), (3, Inner(&TF_ARGUMENT))],
    &[&[1]],
);
static TF_FUNCTION: Message = open(
    &[
        (1, Inner(&TF_SIGNATURE)),
        (2, Any),
        (3, Inner(&TF_NODE)),
        (4, Bytes),
        (5, Bytes),
        (6, Bytes),
        (7, Bytes),
    ],
    &[&[1]],
);
static TF_LIBRARY: Message = open(&[(1, Inner(&TF_FUNCTION)), (2, Bytes), (3, Bytes)], &[&[1, 2]]);
static TF_VERSIONS: Message = message(&[(1, Number), (2, Number), (3, Any)], &[]);
pub(super) static GRAPH: Message = message(
    &[
        (1, Inner(&TF_NODE)),
        (2, Inner(&TF_LIBRARY)),
        (3, Number),
        (4, Inner(&TF_VERSIONS)),
        (5, Bytes),
    ],
    &[&[1, 2]],
);

static TF_OP: Message = open(&[(1, Name(OF_OPS))], &[&[1]]);
static TF_OPS: Message = message(&[(1, Inner(&TF_OP))], &[]);
/// What a meta graph says of itself: its tags and the version of TensorFlow are signs.
static META_INFO: Message = open(
    &[
        (1, Text),
        (2, Inner(&TF_OPS)),
        (3, Bytes),
        (4, Title),
        (5, Title),
        (6, Title),
        (7, Number),
        (8, Bytes),
    ],
    &[],
);
static SAVER: Message = message(
    &[
        (1, Name(b"._-/\\>$: ")),
        (2, Text),
        (3, Text),
        (4, Number),
        (5, Number),
        (6, Any),
        (7, Number),
    ],
    &[],
);
static NAMED: Message = message(&[(1, Title), (2, Bytes)], &[&[1]]);
static ASSET: Message = message(&[(1, Bytes), (2, Title)], &[&[2]]);
static CHILD: Message = message(&[(1, Number), (2, Title)], &[&[2]]);
static SAVED_OBJECT: Message = open(
    &[
        (1, Inner(&CHILD)),
        (2, Bytes),
        (3, Bytes),
        (4, Bytes),
        (5, Bytes),
        (6, Bytes),
        (7, Bytes),
        (8, Bytes),
        (9, Bytes),
        (10, Bytes),
    ],
    &[],
);
static OBJECTS: Message = message(&[(1, Inner(&SAVED_OBJECT)), (2, Inner(&NAMED))], &[&[1]]);
pub(super) static META_GRAPH: Message = message(
    &[
        (1, Inner(&META_INFO)),
        (2, Inner(&GRAPH)),
        (3, Inner(&SAVER)),
        (4, Inner(&NAMED)),
        (5, Inner(&NAMED)),
        (6, Inner(&ASSET)),
        (7, Inner(&OBJECTS)),
    ],
    &[&[2, 5, 7]],
);
/// Modules of TensorFlow Hub lack the version.
pub(super) static SAVED_MODEL: Message = message(&[(1, Version), (2, Inner(&META_GRAPH))], &[&[2]]);

static DEVICE_STATS: Message = open(&[(1, Device), (2, Bytes), (3, Bytes)], &[&[1]]);
static STEP_STATS: Message = message(&[(1, Inner(&DEVICE_STATS))], &[&[1]]);
static COST_NODE: Message = open(&[(1, Name(OF_NODES)), (2, Device), (3, Number)], &[&[1]]);
static COST_GRAPH: Message = message(&[(1, Inner(&COST_NODE)), (2, Bytes)], &[]);
static FUNCTION_GRAPHS: Message = message(&[(1, Inner(&GRAPH)), (2, Inner(&GRAPH)), (3, Inner(&GRAPH))], &[]);
pub(super) static RUN: Message = message(
    &[
        (1, Inner(&STEP_STATS)),
        (2, Inner(&COST_GRAPH)),
        (3, Inner(&GRAPH)),
        (4, Inner(&FUNCTION_GRAPHS)),
        (5, Bytes),
    ],
    &[&[1, 2, 4]],
);

// ---- XLA ----

const OF_INSTRUCTIONS: &[u8] = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

static HLO_INSTRUCTION: Message = open(
    &[
        (1, Name(OF_INSTRUCTIONS)),
        (2, Name(b"-")),
        (3, Bytes),
        (7, Bytes),
        (8, Bytes),
    ],
    &[&[1], &[2]],
);
static HLO_COMPUTATION: Message = open(
    &[
        (1, Name(OF_INSTRUCTIONS)),
        (2, Inner(&HLO_INSTRUCTION)),
        (4, Bytes),
        (5, Number),
        (6, Number),
    ],
    &[&[1], &[2]],
);
pub(super) static HLO_MODULE: Message = open(
    &[
        (1, Name(OF_INSTRUCTIONS)),
        (2, Name(OF_INSTRUCTIONS)),
        (3, Inner(&HLO_COMPUTATION)),
        (4, Bytes),
        (5, Number),
        (6, Number),
        (7, Bytes),
        (8, Bytes),
    ],
    &[&[3]],
);
static HLO_VALUE: Message = open(&[(1, Number), (2, Number), (3, Bytes), (4, Number)], &[]);
static HLO_ASSIGNMENT: Message = open(&[(1, Inner(&HLO_VALUE)), (2, Bytes), (3, Bytes), (4, Bytes)], &[]);
pub(super) static HLO: Message = open(
    &[(1, Inner(&HLO_MODULE)), (2, Bytes), (3, Inner(&HLO_ASSIGNMENT))],
    &[&[1]],
);

// ---- Known, not read ----

static X_PLANE: Message = open(
    &[
        (1, Number),
        (2, Name(b"/:_-.#() ")),
        (3, Bytes),
        (4, Bytes),
        (5, Bytes),
        (6, Bytes),
    ],
    &[&[2]],
);
pub(super) static X_SPACE: Message = message(&[(1, Inner(&X_PLANE)), (2, Text), (3, Text), (4, Title)], &[&[1]]);

static CAFFE_LAYER: Message = open(
    &[(1, Title), (2, Name(b"_")), (3, Text), (4, Text), (5, Any)],
    &[&[1], &[2]],
);
/// With layers of the current form.
pub(super) static CAFFE: Message = open(
    &[
        (1, Title),
        (2, Bytes),
        (3, Text),
        (4, Number),
        (5, Number),
        (6, Any),
        (7, Number),
        (8, Bytes),
        (100, Inner(&CAFFE_LAYER)),
    ],
    &[&[100]],
);
