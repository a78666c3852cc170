//! A column of addresses or sizes, in half the memory where all are small multiples of one unit.
//!
//! ```text
//! addresses   4096  8192  513 GiB      unit 512, 4 bytes each
//! sizes       100   4 GiB - 1          unit 1, 4 bytes each
//! ```

/// Numbers by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amounts(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Multiples of two to the power of `shift`.
    Narrow {
        shift: u32,
        values: Vec<u32>,
    },
    Wide(Vec<u64>),
}

impl Amounts {
    /// The numbers are read twice.
    pub(super) fn of(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let all = numbers.clone().fold(0, |all, number| all | number);
        let shift = all.trailing_zeros() % u64::BITS;
        if u32::try_from(all >> shift).is_err() {
            return Self(Form::Wide(numbers.collect()));
        }
        let narrow = |number: u64| u32::try_from(number >> shift).unwrap_or(u32::MAX);
        Self(Form::Narrow {
            shift,
            values: numbers.map(narrow).collect(),
        })
    }

    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Narrow { values, .. } => values.len(),
            Form::Wide(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// # Panics
    /// Beyond the end.
    #[inline]
    pub fn at(&self, position: usize) -> u64 {
        match &self.0 {
            Form::Narrow { shift, values } => u64::from(values[position]) << shift,
            Form::Wide(values) => values[position],
        }
    }

    /// `None` beyond the end.
    pub fn get(&self, position: usize) -> Option<u64> {
        (position < self.len()).then(|| self.at(position))
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.len()).map(|position| self.at(position))
    }
}

impl Default for Amounts {
    fn default() -> Self {
        Self(Form::Wide(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Amounts, Form};

    #[test]
    fn every_number_comes_back_in_either_form() {
        let narrow: [&[u64]; 5] = [
            &[],
            &[0, 0],
            &[7, 0, u64::from(u32::MAX)],
            &[512, 1 << 40, 0],
            &[1 << 63],
        ];
        let wide: [&[u64]; 2] = [&[1, 1 << 32], &[u64::MAX, 0]];
        for (numbers, is_narrow) in narrow
            .map(|one| (one, true))
            .into_iter()
            .chain(wide.map(|one| (one, false)))
        {
            let amounts = Amounts::of(numbers.iter().copied());
            assert!(amounts.iter().eq(numbers.iter().copied()), "{numbers:?}");
            assert_eq!(matches!(amounts.0, Form::Narrow { .. }), is_narrow, "{numbers:?}");
            assert_eq!(amounts.get(numbers.len()), None);
        }
    }
}
