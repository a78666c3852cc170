//! The bundled samples: real graphs inside the program, so that it always has something to show.
//!
//! `sample_traces/README.md` says where each comes from. On the command line `sample:NAME` stands for a file.

/// One bundled sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The name after `sample:`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The file's name below `sample_traces`.
    pub file: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
    /// Values that its symbolic dimensions start with.
    pub dims: &'static [(&'static str, &'static [u64])],
    /// Iterations that its schedule starts with.
    pub iterations: u32,
}

/// Every sample; the first is opened where no file is given.
pub static SAMPLES: &[Sample] = &[
    Sample {
        name: "resnet50",
        title: "ResNet-50 training and evaluation, batch 32",
        file: "resnet50_session.json.gz",
        bytes: include_bytes!("../../sample_traces/resnet50_session.json.gz"),
        dims: &[],
        iterations: 1,
    },
    Sample {
        name: "bert",
        title: "BERT base inference over several sequence lengths",
        file: "bert_base.onnx.gz",
        bytes: include_bytes!("../../sample_traces/bert_base.onnx.gz"),
        dims: &[("batch", &[8]), ("seq", &[128, 256, 384, 64, 320])],
        iterations: 1,
    },
    Sample {
        name: "mobilenet",
        title: "MobileNetV2 inference, one image",
        file: "mobilenet_v2.onnx",
        bytes: include_bytes!("../../sample_traces/mobilenet_v2.onnx"),
        dims: &[],
        iterations: 1,
    },
];

/// The sample of a name.
pub fn sample(name: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}
