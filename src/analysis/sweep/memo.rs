//! A small cache: a value per key, computed once.
//!
//! Other threads wait for a value that one thread computes; the least recently used value is evicted. Failed
//! computations are not cached. The cache changes how long an answer takes, never the answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A value that is known or being computed.
type Slot<V> = Arc<Mutex<Option<V>>>;

/// Look-ups are linear in the number of values.
#[derive(Debug)]
pub(super) struct Memo<K, V> {
    entries: Mutex<VecDeque<(K, Slot<V>)>>,
    capacity: usize,
}

impl<K: PartialEq + Clone, V: Clone> Memo<K, V> {
    /// Holds this many values, at least 1.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: Mutex::new(VecDeque::new()),
            capacity: capacity.max(1),
        }
    }

    /// The value of a key, computed where it is not cached.
    pub(super) fn get<E>(&self, key: &K, create: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let slot = self.slot(key);
        let mut value = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*value {
            return Ok(value.clone());
        }
        let made = create()?;
        *value = Some(made.clone());
        Ok(made)
    }

    fn slot(&self, key: &K) -> Slot<V> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.iter().position(|(known, _)| known == key);
        let entry = known.and_then(|position| entries.remove(position));
        let (key, slot) = entry.unwrap_or_else(|| (key.clone(), Arc::default()));
        entries.push_front((key, Arc::clone(&slot)));
        entries.truncate(self.capacity);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::Memo;

    #[test]
    fn the_least_recently_used_value_is_computed_again() {
        let memo = Memo::new(2);
        let mut made = Vec::new();
        for key in [1, 2, 1, 3, 1, 2] {
            let value = memo.get(&key, || {
                made.push(key);
                Ok::<i32, ()>(key * 10)
            });
            assert_eq!(value, Ok(key * 10));
        }
        assert_eq!(made, [1, 2, 3, 2]);
        assert_eq!(memo.get(&7, || Err("stopped")), Err("stopped"));
        assert_eq!(
            memo.get(&7, || Ok::<i32, ()>(70)),
            Ok(70),
            "what could not be made is tried again"
        );
    }
}
