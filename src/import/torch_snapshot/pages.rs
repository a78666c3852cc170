//! A list in pages: it grows without ever standing in memory twice.

/// Items of a page.
const PAGE: usize = 1 << 14;

/// See the module's header.
#[derive(Debug)]
pub(super) struct Pages<T> {
    pages: Vec<Vec<T>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<T> Pages<T> {
    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        match self.pages.last() {
            Some(last) => (self.pages.len() - 1) * PAGE + last.len(),
            None => 0,
        }
    }

    /// One more item.
    pub(super) fn push(&mut self, item: T) {
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push(item),
            _ => {
                // The first page grows, so that a small file costs little.
                let capacity = if self.pages.is_empty() { 0 } else { PAGE };
                let mut page = Vec::with_capacity(capacity);
                page.push(item);
                self.pages.push(page);
            }
        }
    }

    /// The item at a position.
    #[inline]
    pub(super) fn get(&self, position: usize) -> Option<&T> {
        self.pages.get(position / PAGE)?.get(position % PAGE)
    }

    /// The item at a position, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        self.pages.get_mut(position / PAGE)?.get_mut(position % PAGE)
    }
}
