//! A tape in the making: names, limits and costs that both formats share.

use std::collections::BTreeMap;

use crate::ImportError;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Tape, TapeCall, TapeOp, TapeTensor};

/// The largest sum of all sizes: engines add up resident bytes, with a margin.
const MOST_BYTES: u64 = 1 << 53;

/// Most tensors, ops and inputs in sum: numbers have 32 bits.
const MOST_PARTS: usize = 50_000_000;

/// Nanoseconds to move a byte: 10^8 bytes a second, as the original estimates.
const NANOS_PER_BYTE: u64 = 10;

pub(super) const ADVICE: &str = "docs/text-formats.md describes the format; entries are in execution order";

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) tape: Tape,
    numbers: BTreeMap<String, u32>,
    bytes: u64,
    n_parts: usize,
}

impl Draft {
    pub(super) fn new(name: String) -> Self {
        Self {
            tape: Tape {
                name,
                ..Tape::default()
            },
            ..Self::default()
        }
    }

    /// The number of a tensor that was made above.
    pub(super) fn number(&self, name: &str, place: &str) -> Result<u32, ImportError> {
        self.numbers
            .get(name)
            .copied()
            .ok_or_else(|| ImportError::at(format!("nothing above makes the variable \"{name}\""), place, ADVICE))
    }

    pub(super) fn op(&mut self, name: &str, inputs: Vec<u32>, place: &str) -> Result<TapeOp, ImportError> {
        self.count(1 + inputs.len(), place)?;
        Ok(TapeOp {
            name: name.into(),
            time: Nanos(0),
            inputs,
            outputs: Vec::new(),
            is_source: false,
            is_non_recomputable: false,
        })
    }

    pub(super) fn output(
        &mut self,
        op: &mut TapeOp,
        name: &str,
        bytes: u64,
        is_external: bool,
        place: &str,
    ) -> Result<u32, ImportError> {
        self.count(1, place)?;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MOST_BYTES {
            return Err(ImportError::at(
                "the sizes add up to more than 2^53 bytes",
                place,
                "check the sizes",
            ));
        }
        let number = u32::try_from(self.tape.tensors.len()).unwrap_or(u32::MAX);
        if self.numbers.insert(name.to_owned(), number).is_some() {
            return Err(ImportError::at(
                format!("the variable \"{name}\" is made a second time"),
                place,
                "give every result a different name",
            ));
        }
        self.tape.tensors.push(TapeTensor {
            name: name.into(),
            storage: number,
            bytes: Bytes(bytes),
            op: u32::try_from(self.tape.ops.len()).unwrap_or(u32::MAX),
            is_external,
        });
        op.outputs.push(number);
        Ok(number)
    }

    /// Takes an op, with the bytes that it moves; it is called.
    pub(super) fn finish(&mut self, mut op: TapeOp, moved: u64) {
        op.time = Nanos(moved.saturating_mul(NANOS_PER_BYTE));
        let number = u32::try_from(self.tape.ops.len()).unwrap_or(u32::MAX);
        self.tape.ops.push(op);
        self.tape.calls.push(TapeCall::Call(number));
    }

    pub(super) fn bytes(&self, tensor: u32) -> u64 {
        self.tape.tensors[tensor as usize].bytes.0
    }

    fn count(&mut self, more: usize, place: &str) -> Result<(), ImportError> {
        self.n_parts = self.n_parts.saturating_add(more);
        if self.n_parts > MOST_PARTS {
            return Err(ImportError::at(
                format!("there are more than {MOST_PARTS} ops, variables and inputs"),
                place,
                "split the file",
            ));
        }
        Ok(())
    }
}
