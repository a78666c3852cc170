//! Some places of a memo, in small pages: pages without a value take no room.

use super::value::{ShortValue, Value};

const PAGE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct SomePlaces {
    pages: Vec<Option<Box<[ShortValue; PAGE]>>>,
    /// Places that were used, kept or not.
    pub(super) len: usize,
}

impl SomePlaces {
    /// `None` where the value was not kept.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<ShortValue> {
        let value = self.pages.get(index / PAGE)?.as_deref()?[index % PAGE];
        (value.expanded() != Ok(Value::HOLE)).then_some(value)
    }

    pub(super) fn put(&mut self, index: usize, value: ShortValue) {
        let page = index / PAGE;
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let empty = || Box::new([ShortValue::EMPTY; PAGE]);
        self.pages[page].get_or_insert_with(empty)[index % PAGE] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_without_a_value_take_no_room() {
        let mut places = SomePlaces::default();
        let value = Value::list(7);
        places.put(1_000_000, value.shortened().expect("a position"));
        assert_eq!(places.get(1_000_000).map(ShortValue::expanded), Some(Ok(value)));
        for index in [0, 999_999, 1_000_001, 2_000_000] {
            assert!(places.get(index).is_none());
        }
        assert_eq!(places.pages.iter().flatten().count(), 1);
    }
}
