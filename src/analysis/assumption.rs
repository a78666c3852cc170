//! An assumption of a comparison that moves its answer.

use highwater_model::units::Bytes;
use highwater_options::Value;

/// An assumption that moves the peak of the active policy, and the setting that states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// What is assumed, in a clause.
    pub text: &'static str,
    /// In a few words.
    pub short: &'static str,
    pub key: &'static str,
    pub value: Value,
    /// The peak as it is assumed.
    pub peak: Bytes,
    /// The peak under the setting.
    pub changed: Bytes,
}

impl Assumption {
    /// `precision_mode=allow_fp32_to_fp16 would make 2.400 GiB of 3.119 GiB: the data types of the file are simulated`.
    pub fn sentence(&self) -> String {
        format!(
            "{}={} makes {} of {}: {}",
            self.key, self.value, self.changed, self.peak, self.text
        )
    }

    /// The bytes by which it moves the peak.
    pub fn moves(&self) -> Bytes {
        Bytes(self.peak.get().abs_diff(self.changed.get()))
    }
}
