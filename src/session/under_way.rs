//! Writes that are under way, so that a signal that ends the program leaves no temporary file and no half copy.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The writes of the process.
pub(super) static WRITES: Writes = Writes {
    temporary: Mutex::new(BTreeSet::new()),
    in_place: Mutex::new(()),
};

pub(super) struct Writes {
    temporary: Mutex<BTreeSet<PathBuf>>,
    /// Held while a file is overwritten in place.
    in_place: Mutex<()>,
}

/// A temporary file, until this is dropped.
pub(super) struct UnderWay {
    writes: &'static Writes,
    path: PathBuf,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        locked(&self.writes.temporary).remove(&self.path);
    }
}

/// Holds back all writes.
pub struct Ended {
    _in_place: MutexGuard<'static, ()>,
    _temporary: MutexGuard<'static, BTreeSet<PathBuf>>,
}

fn locked<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writes {
    /// Notes a temporary file; call it before the file exists.
    pub(super) fn begin(&'static self, path: &Path) -> UnderWay {
        locked(&self.temporary).insert(path.to_owned());
        UnderWay {
            writes: self,
            path: path.to_owned(),
        }
    }

    /// Delays [`Self::end`] until the guard is dropped.
    pub(super) fn in_place(&'static self) -> MutexGuard<'static, ()> {
        locked(&self.in_place)
    }

    fn end(&'static self) -> Ended {
        let in_place = locked(&self.in_place);
        let temporary = locked(&self.temporary);
        for path in temporary.iter() {
            // It may not exist yet, or have taken the place of its target.
            drop(std::fs::remove_file(path));
        }
        Ended {
            _in_place: in_place,
            _temporary: temporary,
        }
    }
}

/// Waits until no file is overwritten in place, and removes the temporary files of other writes. No write begins or ends
/// before the guard is dropped; drop it with the process.
#[must_use]
pub fn end_writes() -> Ended {
    WRITES.end()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn an_end_removes_temporary_files_and_holds_back_others() {
        static OWN: Writes = Writes {
            temporary: Mutex::new(BTreeSet::new()),
            in_place: Mutex::new(()),
        };
        static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let make = |name: &str| std::fs::write(at(name), "x").expect("a file");
        let finished = OWN.begin(&at("finished"));
        make("finished");
        drop(finished);
        let under_way = OWN.begin(&at("under way"));
        make("under way");
        let missing = OWN.begin(&at("missing"));
        let ended = OWN.end();
        assert!(at("finished").exists() && !at("under way").exists());
        let next = at("next");
        let thread = std::thread::Builder::new().name("next".to_owned()).spawn(move || {
            let next = OWN.begin(&next);
            HAS_BEGUN.store(true, Ordering::SeqCst);
            next
        });
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!HAS_BEGUN.load(Ordering::SeqCst));
        drop(ended);
        let thread = thread.expect("a thread");
        drop(thread.join().expect("it begins"));
        drop((under_way, missing));
        assert!(locked(&OWN.temporary).is_empty());
    }
}
