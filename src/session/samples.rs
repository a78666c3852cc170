//! The bundled samples: real graphs inside the program, so that it always has something to show.
//!
//! `sample_traces/README.md` states their origins. The command line names them `sample:NAME`.

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The name after `sample:`.
    pub name: &'static str,
    pub title: &'static str,
    /// Several files are the graphs of one session, in this order.
    pub files: &'static [SampleFile],
    /// Initial values of symbolic dimensions.
    pub dims: &'static [(&'static str, &'static [u64])],
    /// Initial iterations of the schedule.
    pub iterations: u32,
}

impl PartialEq for Sample {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[derive(Clone, Copy, Debug)]
pub struct SampleFile {
    /// Below `sample_traces`.
    pub name: &'static str,
    pub bytes: &'static [u8],
}

const RESNET50: SampleFile = SampleFile {
    name: "resnet50_session.json.gz",
    bytes: include_bytes!("../../sample_traces/resnet50_session.json.gz"),
};
const BERT: SampleFile = SampleFile {
    name: "bert_base.onnx.gz",
    bytes: include_bytes!("../../sample_traces/bert_base.onnx.gz"),
};
const MOBILENET: SampleFile = SampleFile {
    name: "mobilenet_v2.onnx",
    bytes: include_bytes!("../../sample_traces/mobilenet_v2.onnx"),
};

const LENET: SampleFile = SampleFile {
    name: "lenet_training.pb",
    bytes: include_bytes!("../../sample_traces/lenet_training.pb"),
};
const LENET_RUN: SampleFile = SampleFile {
    name: "lenet_training.runmeta.pb.gz",
    bytes: include_bytes!("../../sample_traces/lenet_training.runmeta.pb.gz"),
};
const LSTM: SampleFile = SampleFile {
    name: "lstm_tiny.tflite",
    bytes: include_bytes!("../../sample_traces/lstm_tiny.tflite"),
};
const CNN: SampleFile = SampleFile {
    name: "cnn_step.hlo.pb.gz",
    bytes: include_bytes!("../../sample_traces/cnn_step.hlo.pb.gz"),
};
const RESNET18_RUN: SampleFile = SampleFile {
    name: "resnet18_step.trace.json.gz",
    bytes: include_bytes!("../../sample_traces/resnet18_step.trace.json.gz"),
};

/// The first is opened where no file is given.
pub static SAMPLES: &[Sample] = &[
    Sample {
        name: "resnet50",
        title: "ResNet-50 training and evaluation, batch 32",
        files: &[RESNET50],
        dims: &[],
        iterations: 1,
    },
    Sample {
        name: "mixed",
        title: "Training and evaluation with BERT at several sequence lengths",
        files: &[RESNET50, BERT],
        dims: &[("batch", &[8]), ("seq", &[128, 256, 384, 64, 320])],
        iterations: 2,
    },
    Sample {
        name: "bert",
        title: "BERT base inference over several sequence lengths",
        files: &[BERT],
        dims: &[("batch", &[8]), ("seq", &[128, 256, 384, 64, 320])],
        iterations: 1,
    },
    Sample {
        name: "mobilenet",
        title: "MobileNetV2 inference, one image",
        files: &[MOBILENET],
        dims: &[],
        iterations: 1,
    },
    Sample {
        name: "lenet",
        title: "LeNet training in TensorFlow, simulated and measured",
        files: &[LENET, LENET_RUN],
        dims: &[],
        iterations: 1,
    },
    Sample {
        name: "measured",
        title: "ResNet-18 training step, measured by the PyTorch profiler",
        files: &[RESNET18_RUN],
        dims: &[],
        iterations: 1,
    },
    Sample {
        name: "cnn",
        title: "CNN training step compiled by XLA, with XLA's plan",
        files: &[CNN],
        dims: &[],
        iterations: 1,
    },
    Sample {
        name: "lstm",
        title: "LSTM inference in TensorFlow Lite",
        files: &[LSTM],
        dims: &[],
        iterations: 1,
    },
];

pub fn sample(name: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}
