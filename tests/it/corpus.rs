//! Importers against the shared corpus.

mod ascend;
mod cann_log;
mod explain_log;
mod ge;
mod logged_plans;
mod tflite;
mod torch;
mod xla;
mod xla_together;
