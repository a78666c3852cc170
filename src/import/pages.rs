//! A list in pages: it grows without ever standing in memory twice, and shrinks from its front.

/// Items of a page.
pub(super) const PAGE: usize = 1 << 14;

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
    /// The number of items, those of freed pages included.
    #[inline]
    pub(super) fn len(&self) -> usize {
        match self.pages.last() {
            Some(last) => (self.pages.len() - 1) * PAGE + last.len(),
            None => 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push(item),
            _ => self.push_page(item),
        }
    }

    #[cold]
    fn push_page(&mut self, item: T) {
        // The first page grows, so that a small file costs little.
        let capacity = if self.pages.is_empty() { 0 } else { PAGE };
        let mut page = Vec::with_capacity(capacity);
        page.push(item);
        self.pages.push(page);
    }

    /// The item at a position; `None` also where its page was freed.
    #[inline]
    pub(super) fn get(&self, position: usize) -> Option<&T> {
        self.pages.get(position / PAGE)?.get(position % PAGE)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        self.pages.get_mut(position / PAGE)?.get_mut(position % PAGE)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let last = self.pages.last_mut()?;
        let item = last.pop();
        if last.is_empty() {
            self.pages.pop();
        }
        item
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flatten()
    }

    /// Frees whole pages before a position; the last page stays.
    pub(super) fn free_before(&mut self, position: usize) {
        let n_whole = (position / PAGE).min(self.pages.len().saturating_sub(1));
        // Freed pages come first.
        for page in self.pages[..n_whole]
            .iter_mut()
            .rev()
            .take_while(|page| page.capacity() > 0)
        {
            *page = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_before_a_position_are_given_back() {
        let mut pages = Pages::default();
        for number in 0..3 * PAGE {
            pages.push(number);
        }
        pages.free_before(2 * PAGE - 1);
        assert_eq!(pages.get(PAGE - 1), None);
        assert_eq!(pages.get(PAGE), Some(&PAGE));
        pages.free_before(9 * PAGE);
        assert_eq!(pages.get(2 * PAGE - 1), None);
        assert_eq!(pages.get(3 * PAGE - 1), Some(&(3 * PAGE - 1)));
        assert_eq!(pages.len(), 3 * PAGE);
        assert_eq!(pages.get_mut(3 * PAGE), None);
    }
}
