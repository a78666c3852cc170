//! A list that is read item by item, so that it is never in memory as a whole.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

/// Calls a function with each item of a list and keeps none.
pub(super) struct Each<T, F> {
    function: F,
    item: PhantomData<T>,
}

pub(super) fn each<T, F: FnMut(T) -> Result<(), String>>(function: F) -> Each<T, F> {
    Each {
        function,
        item: PhantomData,
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de> for Each<T, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Each<T, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(item) = seq.next_element::<T>()? {
            (self.function)(item).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
