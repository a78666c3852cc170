//! Files that people take for models or recordings and that no importer reads: what they are, and how to get one that opens.
//!
//! In: the name and the head of a file. Out: a sentence. Content decides; a name decides only where the content has no
//! mark.

mod compiled;
mod memory;

use super::Input;
use super::json_key::has_key;
use super::proto_kind::{self, ProtoKind};

/// First bytes, what the file is, and what to do.
const STARTS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "it is a picture (PNG)"),
    (b"\xff\xd8\xff", "it is a picture (JPEG)"),
    (b"%PDF", "it is a document (PDF)"),
    (
        b"\x89HDF",
        "it is HDF5, in which Keras keeps weights; write the graph with assets/exporters/tf_export.py",
    ),
    (
        b"version https://git-lfs.github.com/spec/",
        "it is a pointer of Git LFS, not the file itself; fetch the file with `git lfs pull`",
    ),
    (b"7z\xbc\xaf", "it is a 7z archive; unpack it and open what is in it"),
    (
        b"\xfd7zXZ",
        "it is compressed with xz; unpack it and open what is in it",
    ),
    (b"BZh", "it is compressed with bzip2; unpack it and open what is in it"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed with zstd; unpack it and open what is in it",
    ),
    (b"\x1f\x8b", "it is gzip within gzip; unpack it once and open that"),
    (b"\x7fELF", "it is a program (ELF)"),
    (TORCH_MAGIC, TORCH_WEIGHTS),
    (
        b"SQLite format 3\0",
        "it is an SQLite database without the tables of a PyTorch snapshot, of the Ascend profilers or of msmemscope",
    ),
    (b"IMOD", compiled::OFFLINE_MODEL),
    (
        b"GGUF",
        "it holds weights of a language model for llama.cpp (GGUF), no graph; export the original model as ONNX, for example \
         with `optimum-cli export onnx --model NAME FOLDER`",
    ),
    (
        b"ML\xefR",
        "it is MLIR bytecode; write the module as HLO instead: run with \
         XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_proto\" and open the .hlo.pb",
    ),
];

/// The first object of a checkpoint that `torch.save` wrote before its archives: a number as a pickle.
pub(super) const TORCH_MAGIC: &[u8] = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";

const TORCH_WEIGHTS: &str = "it is a checkpoint of PyTorch (.pt, .pth): weights, no graph; load it in Python and export the model with \
                             `torch.onnx.export(model, inputs, \"model.onnx\")` or assets/exporters/torch_export.py";
const TORCH_ARCHIVE: &str = "it is an archive of PyTorch (.pt, .pth): weights or a script, no graph that can be read; load it in \
                             Python and export it with `torch.onnx.export(model, inputs, \"model.onnx\")` or \
                             assets/exporters/torch_export.py";
const KERAS_ARCHIVE: &str = "it is an archive of Keras (.keras); load it in Python, and write a SavedModel with \
                             `model.export(\"FOLDER\")` or the graph with assets/exporters/tf_export.py";
const ZIP_ARCHIVE: &str = "it is a ZIP archive, as .pt, .pth and .keras files of weights are; unpack it and open what is in \
                           it, or write the graph with a script of assets/exporters";
const CHECKPOINT: &str = "it is a part of a checkpoint of TensorFlow: values of variables, no graph; open the saved_model.pb in \
                          the folder above it, or the .meta file of the same checkpoint";
const CAFFE: &str = "it is a network of Caffe; convert it to ONNX, or compile it with `atc --framework=0` with \
                     DUMP_GE_GRAPH=2 in the environment and open the ge_proto_*.txt that it writes";

pub use memory::is_genai_config;

type Test = fn(&Input<'_>) -> bool;

/// Marks further inside, what the file is, and what to do.
const CONTENTS: &[(Test, &str)] = &[
    (|input| is_archive_of(input, is_torch_member), TORCH_ARCHIVE),
    (|input| is_archive_of(input, is_keras_member), KERAS_ARCHIVE),
    (|input| input.head().starts_with(b"PK\x03\x04"), ZIP_ARCHIVE),
    (
        |input| input.head().get(4..8) == Some(b"ORTM"),
        "it is a model in onnxruntime's own form (.ort), made of an ONNX model; open that .onnx file",
    ),
    (
        is_safetensors,
        "it holds weights alone (safetensors), no graph; load the model in Python and export it with \
         `torch.onnx.export(model, inputs, \"model.onnx\")` or assets/exporters/torch_export.py",
    ),
    (is_checkpoint_index, CHECKPOINT),
    (|input| input.name().contains(".data-0"), CHECKPOINT),
    (
        |input| proto_kind::kind(input.head()) == Some(ProtoKind::OnnxTensor),
        "it is a tensor of ONNX (TensorProto), as the files input_0.pb and output_0.pb of a test set are, not a model; open \
         the model.onnx that the test set belongs to",
    ),
    (
        |input| proto_kind::kind(input.head()) == Some(ProtoKind::XSpace),
        "it is a profile of TensorFlow or JAX (.xplane.pb): times and counters, no graph; run with \
         XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_proto\" and open the .hlo.pb",
    ),
    (|input| proto_kind::kind(input.head()) == Some(ProtoKind::Caffe), CAFFE),
    (is_caffe_text, CAFFE),
    (
        is_tfjs,
        "it is a model of TensorFlow.js (model.json); open the SavedModel that it was converted from, or convert it back \
         with `tfjs_graph_converter model.json FOLDER --output_format tf_saved_model`",
    ),
    (
        |input| has(input, b"brain.Event:"),
        "it is an events file of TensorBoard; write the graph itself with \
         `tf.io.write_graph(graph, \"FOLDER\", \"graph.pb\", as_text=False)`",
    ),
    (
        |input| has(input, b"<net name=") && has(input, b"<layers>"),
        "it is a model of OpenVINO; open the ONNX or TensorFlow model that it was converted from",
    ),
    (
        |input| input.head().get(257..262) == Some(b"ustar"),
        "it is a tar archive; unpack it and open what is in it, or the folder",
    ),
    (
        |input| begins_with(input, b"<!doctype html") || begins_with(input, b"<html"),
        "it is a web page (HTML), as where a link leads to the page about a file; download the file itself",
    ),
];

/// Endings of names, what such files are, and what to do.
const NAMES: &[(&str, &str)] = &[
    (
        ".pdmodel",
        "it is a program of Paddle in binary form; convert it with \
         `paddle2onnx --model_dir FOLDER --model_filename NAME.pdmodel --save_file model.onnx`",
    ),
    (
        ".mindir",
        "it is named like a model of MindSpore (.mindir), perhaps an encrypted one; export it again with \
         `mindspore.export(net, inputs, file_name=\"model\", file_format=\"MINDIR\")`, or as ONNX with \
         `mindspore.onnx.export(net, inputs, file_name=\"model\")`",
    ),
    (".caffemodel", CAFFE),
    (".pth", TORCH_WEIGHTS),
    (".pt", TORCH_WEIGHTS),
];

/// What a file is and how to get one that opens; `None` where that is not known.
pub(super) fn advice(input: &Input<'_>) -> Option<&'static str> {
    let by_start = STARTS
        .iter()
        .chain(compiled::STARTS)
        .find(|(start, _)| input.head().starts_with(start));
    if let Some((_, advice)) = by_start {
        return Some(advice);
    }
    let by_content = memory::CONTENTS
        .iter()
        .chain(CONTENTS)
        .find(|(is_such, _)| is_such(input));
    if let Some((_, advice)) = by_content {
        return Some(advice);
    }
    advice_by_name(input)
}

/// The advice by the name alone.
pub(super) fn advice_by_name(input: &Input<'_>) -> Option<&'static str> {
    let name = input.name().to_ascii_lowercase();
    let by_name = NAMES
        .iter()
        .chain(compiled::NAMES)
        .find(|(ending, _)| name.ends_with(ending));
    by_name.map(|(_, advice)| *advice)
}

fn has(input: &Input<'_>, part: &[u8]) -> bool {
    input.head().windows(part.len()).any(|window| window == part)
}

fn begins_with(input: &Input<'_>, start: &[u8]) -> bool {
    let text = input.head().trim_ascii_start();
    text.get(..start.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

fn begins_with_word(input: &Input<'_>, word: &[u8]) -> bool {
    let behind = input.head().trim_ascii_start().strip_prefix(word);
    behind.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
}

/// Whether a ZIP archive has a member with such a name, as far as the head goes.
fn is_archive_of(input: &Input<'_>, is_member: fn(&[u8]) -> bool) -> bool {
    const SIGNATURE: &[u8] = b"PK\x03\x04";
    const NAME_AT: usize = 30;
    let head = input.head();
    head.starts_with(SIGNATURE)
        && head
            .windows(4)
            .enumerate()
            .filter(|(_, window)| *window == SIGNATURE)
            .any(|(at, _)| {
                let header = &head[at..];
                let length = header
                    .get(26..28)
                    .map_or(0, |length| usize::from(length[0]) | usize::from(length[1]) << 8);
                header.get(NAME_AT..NAME_AT + length).is_some_and(is_member)
            })
}

fn is_torch_member(name: &[u8]) -> bool {
    let marks: [&[u8]; 5] = [
        b"/data.pkl",
        b"/constants.pkl",
        b"/byteorder",
        b"/.format_version",
        b"/archive_format",
    ];
    marks.into_iter().any(|mark| name.ends_with(mark))
}

fn is_keras_member(name: &[u8]) -> bool {
    name == b"config.json" || name == b"model.weights.h5"
}

/// A length of 8 bytes, then as much JSON.
fn is_safetensors(input: &Input<'_>) -> bool {
    let Some((length, json)) = input.head().split_first_chunk::<8>() else {
        return false;
    };
    let length = u64::from_le_bytes(*length);
    json.starts_with(b"{\"") && length >= 2 && length <= input.len().saturating_sub(8)
}

/// A table whose first entry, without a name, states the number of shards and a version.
fn is_checkpoint_index(input: &Input<'_>) -> bool {
    let head = input.head();
    head.starts_with(&[0, 0])
        && head.get(3) == Some(&8)
        && head[..head.len().min(32)].windows(3).any(|part| part == [0x1a, 2, 8])
}

fn is_caffe_text(input: &Input<'_>) -> bool {
    let is_text = !input.head().contains(&0);
    let has_layer =
        has(input, b"layer {") || has(input, b"layers {") || has(input, b"layer{") || has(input, b"layers{");
    is_text && has_layer && has(input, b"type:") && (has(input, b"top:") || has(input, b"bottom:"))
}

fn is_tfjs(input: &Input<'_>) -> bool {
    has_key(input.head(), "modelTopology") || has_key(input.head(), "weightsManifest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_importer_are_named_with_a_way_to_one_that_opens() {
        let member = |name: &str| {
            let mut header = b"PK\x03\x04".to_vec();
            header.resize(26, 0);
            header.extend([u8::try_from(name.len()).expect("a short name"), 0, 0, 0]);
            [&header[..], name.as_bytes(), b"content"].concat()
        };
        let safetensors = [&21_u64.to_le_bytes()[..], b"{\"a\":{\"dtype\":\"F32\"}}", &[0; 8]].concat();
        let plane = b"\x0a\x0d\x08\x01\x12\x09/host:CPU".to_vec();
        let events = [
            &[24, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 9][..],
            b"\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2",
        ]
        .concat();
        let caffe =
            b"# net\nname: \"lenet\"\nlayer {\n  name: \"data\"\n  type: \"Input\"\n  top: \"data\"\n}\n".to_vec();
        for (name, bytes, expected) in [
            (
                "a.om",
                b"IMOD\0\x01".to_vec(),
                "`atc --mode=1 --om=FILE.om --json=FILE.json`",
            ),
            (
                "model.json",
                b"{\"format\": \"layers-model\", \"modelTopology\": {}}".to_vec(),
                "TensorFlow.js",
            ),
            ("a.xplane.pb", plane, "xplane"),
            ("a.ort", b"\x18\0\0\0ORTM\0\0".to_vec(), "onnxruntime"),
            ("a.safetensors", safetensors, "safetensors"),
            (
                "variables.index",
                b"\0\0\x06\x08\x01\x1a\x02\x08\x01\0".to_vec(),
                "saved_model.pb",
            ),
            (
                "variables.data-00000-of-00001",
                b"\x01\x02\xff\xfe".to_vec(),
                "saved_model.pb",
            ),
            ("a.pt", member("archive/data.pkl"), "torch.onnx.export"),
            (
                "a.pt2",
                [member("a/x"), member("a/archive_format")].concat(),
                "torch.onnx.export",
            ),
            (
                "a.keras",
                [member("metadata.json"), member("config.json")].concat(),
                "model.export",
            ),
            (
                "a.pth",
                b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.".to_vec(),
                "torch.onnx.export",
            ),
            ("tiny.pth", b"\x01\x02\xfe".to_vec(), "torch.onnx.export"),
            (
                "net.caffemodel",
                b"\x0a\x03net\x12\x02\x01\x02".to_vec(),
                "atc --framework=0",
            ),
            ("a.zip", member("a.onnx"), "unpack"),
            ("deploy.prototxt", caffe, "atc --framework=0"),
            ("events.out", events, "TensorBoard"),
            (
                "input_0.pb",
                b"\x08\x08\x08\x04\x10\x01\x42\x01x\x4a\x04\0\0\0\0".to_vec(),
                "tensor of ONNX",
            ),
            (
                "output_0.pb",
                b"\x0a\x01s\x10\x01\x1a\x0a\x08\x01\x10\x01\x4a\x04\0\0\0\0".to_vec(),
                "tensor of ONNX",
            ),
            ("a.gguf", b"GGUF\x03\0\0\0".to_vec(), "llama.cpp"),
            ("a.mlir", b"module @jit_f {\n  func.func public @main".to_vec(), "HLO"),
        ] {
            let input = Input::from_bytes(name, bytes).expect("memory can be read");
            let advice = advice(&input).unwrap_or_else(|| panic!("{name} is known"));
            assert!(advice.contains(expected), "{name}: {advice}");
        }
        for (name, bytes) in [
            ("a.bin", &b"\0\0\0\0"[..]),
            ("a.txt", b"hello"),
            ("a.json", b"{\"a\": 1}"),
        ] {
            assert_eq!(
                advice(&Input::from_bytes(name, bytes).expect("memory can be read")),
                None,
                "{name}"
            );
        }
    }
}
