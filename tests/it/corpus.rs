//! Importers against the shared corpus.

mod ascend;
mod ge;
mod tflite;
mod torch;
mod xla;
mod xla_together;
