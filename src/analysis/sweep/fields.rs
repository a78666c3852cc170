//! The space of a sweep: a base configuration and axes.
//!
//! Points are numbered from 0; the last axis varies fastest. [`Space::configuration`] computes a point on demand.
//! Invariants: no two axes vary the same thing, no axis is empty, the size is exact and fits into 64 bits.

use super::{AxisOf, SweepAxis, SweepError};
use crate::configuration::Configuration;
use highwater_model::units::Bytes;
use highwater_options::{OptionRow, TABLE, Value, find, keys, sets_a_figure};

/// Axes over a base configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    base: Configuration,
    axes: Vec<SweepAxis>,
    size: u64,
    /// The profile of all points, whatever base and axes say.
    device: Option<String>,
}

impl Space {
    /// Most points that are simulated one by one.
    pub const MAX_POINTS: u64 = 100_000;

    /// Without axes it is the base alone.
    ///
    /// # Errors
    /// [`SweepError::Twice`], [`SweepError::TooLarge`] above 2^64 - 1 points, [`SweepError::Axis`] for an axis without values.
    pub fn new(base: Configuration, axes: Vec<SweepAxis>) -> Result<Self, SweepError> {
        let mut size: Option<u64> = Some(1);
        for (position, axis) in axes.iter().enumerate() {
            if axes[..position].iter().any(|other| other.of == axis.of) {
                return Err(SweepError::Twice {
                    name: axis.name().to_owned(),
                });
            }
            if axis.values.is_empty() {
                return Err(SweepError::Axis {
                    text: axis.key(),
                    why: "it has no value".to_owned(),
                });
            }
            size = size.and_then(|size| size.checked_mul(axis.values.len() as u64));
        }
        let size = size.ok_or(SweepError::TooLarge {
            size: None,
            limit: Self::MAX_POINTS,
        })?;
        Ok(Self {
            base,
            axes,
            size,
            device: None,
        })
    }

    /// The same on a device with this memory: points fit if they run to their end on it.
    ///
    /// # Errors
    /// [`SweepError::CapacityTwice`].
    pub fn with_capacity(mut self, capacity: Bytes) -> Result<Self, SweepError> {
        if self.axis_of(keys::DEVICE_MEMORY).is_some() {
            return Err(SweepError::CapacityTwice);
        }
        let bytes = Value::Int(i64::try_from(capacity.get()).unwrap_or(i64::MAX));
        // Cannot fail: the key is a row of the table.
        drop(self.base.options.set(keys::DEVICE_MEMORY, bytes));
        Ok(self)
    }

    /// A point's configuration on its device with unlimited memory.
    pub(super) fn unbounded(&self, idx: u64) -> Configuration {
        let mut configuration = self.configuration(idx);
        // Cannot fail: the key is a row of the table.
        drop(configuration.options.set(keys::DEVICE_MEMORY, Value::Int(1 << 50)));
        configuration
    }

    /// The same with every point on a device profile, with its memory and costs.
    #[must_use]
    pub(super) fn on_device(&self, profile: &str) -> Self {
        Self {
            device: Some(profile.to_owned()),
            ..self.clone()
        }
    }

    pub const fn base(&self) -> &Configuration {
        &self.base
    }

    pub fn axes(&self) -> &[SweepAxis] {
        &self.axes
    }

    /// The exact number of points.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Refuses a space that is too large to be simulated point by point.
    ///
    /// # Errors
    /// [`SweepError::TooLarge`].
    pub const fn checked(&self) -> Result<(), SweepError> {
        if self.size > Self::MAX_POINTS {
            return Err(SweepError::TooLarge {
                size: Some(self.size),
                limit: Self::MAX_POINTS,
            });
        }
        Ok(())
    }

    /// The position of the axis over an option.
    pub fn axis_of(&self, key: &str) -> Option<usize> {
        let is_of = |axis: &SweepAxis| matches!(axis.of, AxisOf::Option(of) if of == key);
        self.axes.iter().position(is_of)
    }

    /// The position of an axis by its name or key.
    pub fn find_axis(&self, name: &str) -> Option<usize> {
        let is_named = |axis: &SweepAxis| axis.name() == name || axis.key() == name;
        self.axes.iter().position(is_named)
    }

    /// By axis: the position of a point's value.
    pub fn digits(&self, idx: u64) -> Vec<usize> {
        let mut rest = idx;
        let mut digits = vec![0; self.axes.len()];
        for (digit, axis) in digits.iter_mut().zip(&self.axes).rev() {
            let radix = axis.values.len() as u64;
            *digit = usize::try_from(rest % radix).unwrap_or(0);
            rest /= radix;
        }
        digits
    }

    /// The point of some positions, one per axis.
    pub fn idx(&self, digits: &[usize]) -> u64 {
        let axes = self.axes.iter().zip(digits);
        axes.fold(0, |idx, (axis, digit)| {
            idx * axis.values.len() as u64 + (*digit as u64).min(axis.values.len() as u64 - 1)
        })
    }

    /// By axis: a point's value.
    pub fn values(&self, idx: u64) -> Vec<&Value> {
        let digits = self.axes.iter().zip(self.digits(idx));
        digits.map(|(axis, digit)| &axis.values[digit]).collect()
    }

    /// O(options + axes).
    pub fn configuration(&self, idx: u64) -> Configuration {
        let mut configuration = self.base.clone();
        for (axis, value) in self.axes.iter().zip(self.values(idx)) {
            axis.put(value, &mut configuration);
        }
        if let Some(profile) = &self.device {
            for row in TABLE.iter().filter(|row| sets_a_figure(row.key)) {
                configuration.options.reset(row.key);
            }
            // Cannot fail: the key is a row of the table.
            drop(configuration.options.set(keys::DEVICE, Value::from(profile.as_str())));
        }
        configuration
    }

    /// `static_memory_policy 4, batch 32`.
    pub fn title(&self, idx: u64) -> String {
        let named = self.axes.iter().zip(self.values(idx));
        let parts: Vec<String> = named
            .map(|(axis, value)| format!("{} {}", axis.name(), axis.value_text(value)))
            .collect();
        if parts.is_empty() {
            "as it is".to_owned()
        } else {
            parts.join(", ")
        }
    }

    /// The number of axes on which a point differs from the base.
    pub fn n_changes(&self, idx: u64) -> usize {
        let changes = self.axes.iter().zip(self.values(idx));
        changes.filter(|(axis, value)| !self.is_base(axis, value)).count()
    }

    /// Whether the base acts as with this value: an unset option equals its default.
    pub fn is_base(&self, axis: &SweepAxis, value: &Value) -> bool {
        match &axis.of {
            AxisOf::Option(key) => {
                let default = || find(key).map_or(Value::Unset, OptionRow::default_value);
                let is_unset = *value == Value::Unset;
                self.base.options.written(key) == if is_unset { default() } else { value.clone() }
            }
            AxisOf::Dim(name) => {
                let known = self.base.plan.dims.get(name).map(Vec::as_slice);
                let mut entries = self.base.plan.entries.iter();
                entries.all(|entry| !entry.dims.contains_key(name))
                    && matches!((known, value.as_int()), (Some([one]), Some(number)) if i64::try_from(*one) == Ok(number))
            }
            AxisOf::Iterations => value.as_int() == Some(self.base.plan.iterations.into()),
        }
    }
}
