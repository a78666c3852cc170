//! Models that a compiler or converter made of others, and containers of mobile runtimes: what they are, by their first
//! bytes or by their names, and the model to open instead.

/// First bytes, what the file is, and what to do.
pub(super) const STARTS: &[(&[u8], &str)] = &[
    (b"ftrt", ENGINE),
    (b"ptrt", ENGINE),
    (
        b"RKNN",
        "it is a model of RKNN, already compiled; open the ONNX, TensorFlow Lite or PyTorch model that it was converted from",
    ),
    (b"7767517\n", NCNN),
    (b"7767517\r", NCNN),
];

/// Endings of names, what such files are, and what to do.
pub(super) const NAMES: &[(&str, &str)] = &[
    (".pte", super::memory::EXECUTORCH),
    (".vmfb", super::memory::IREE_MODULE),
    (".engine", ENGINE),
    (".plan", ENGINE),
    (".trt", ENGINE),
    (".mlmodel", CORE_ML),
    (".mlpackage", CORE_ML),
    (
        ".mnn",
        "it is a model of MNN; open the ONNX, TensorFlow Lite or Caffe model that MNNConvert was given",
    ),
    (".param", NCNN),
    (
        ".rknn",
        "it is a model of RKNN, already compiled; open the ONNX, TensorFlow Lite or PyTorch model that it was converted from",
    ),
    (".om", OFFLINE_MODEL),
    (
        ".dlc",
        "it is a container of Qualcomm's neural processing SDK (.dlc); open the ONNX or TensorFlow Lite model that it was \
         converted from",
    ),
    (
        ".hef",
        "it is a program of Hailo (.hef), already compiled; open the ONNX or TensorFlow Lite model that it was compiled from",
    ),
    (
        ".nb",
        "it is a model of Paddle Lite (.nb), already optimized; convert the original with \
         `paddle2onnx --model_dir FOLDER --model_filename NAME.pdmodel --save_file model.onnx`",
    ),
    (
        ".tmfile",
        "it is a model of Tengine; open the ONNX or Caffe model that it was converted from",
    ),
    (
        ".ms",
        "it is a model of MindSpore Lite (.ms); open the ONNX, TensorFlow Lite or Caffe model that it was converted from",
    ),
];

pub(super) const OFFLINE_MODEL: &str = "it is an offline model of Ascend's compiler (.om), already compiled; write its graph with \
    `atc --mode=1 --om=FILE.om --json=FILE.json` and open FILE.json, or open the model that it was made of";
const ENGINE: &str = "it is an engine of TensorRT, already compiled; open the ONNX model that it was made of";
const CORE_ML: &str = "it is a model of Core ML; open the ONNX or TensorFlow model that it was converted from";
const NCNN: &str =
    "it is the network of ncnn (.param); open the ONNX or TorchScript model that pnnx or onnx2ncnn was given";
