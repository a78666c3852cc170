//! Threads within one call: how many there may be, and who does what. Results depend neither on their number nor on timing.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use super::progress::Progress;

/// The processor cores that the program may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs a function for each item on the threads of the work; results in the order of the items.
pub fn on_threads<T: Send, R: Send>(items: Vec<T>, progress: &Progress<'_>, run: impl Fn(T) -> R + Sync) -> Vec<R> {
    let n_threads = progress.n_threads().min(items.len());
    if n_threads <= 1 {
        return items.into_iter().map(run).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((position, item)) = next() {
            done.push((position, run(item)));
        }
        done
    };
    // This thread works too, so one thread fewer is started, and its results reuse memory that it holds already.
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        done.extend(others.into_iter().flat_map(joined));
        done
    });
    done.sort_unstable_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs both functions, the second one on another thread where the work may use two.
pub fn both<A, B: Send>(
    progress: &Progress<'_>,
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if progress.n_threads() <= 1 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        (first(), joined(second))
    })
}

/// The result of a thread; its panic goes on here.
pub fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
