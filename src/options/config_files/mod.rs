//! Files that options name: what is read from them.

mod mix_list;

pub use mix_list::{MixList, mix_list};
