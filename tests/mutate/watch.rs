//! A watch over rounds: a round that does not return ends the process with the command that repeats it, instead of
//! blocking everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Interval of the watch.
const GLANCE: Duration = Duration::from_millis(500);

/// A round hangs after so many intervals: a minute.
const MOST_GLANCES: u32 = 120;

#[derive(Debug)]
pub(crate) struct Watch {
    round: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// A watch that prints `repeat` with the round in place of ROUND.
    pub(crate) fn new(repeat: String) -> Self {
        let round = Arc::new(AtomicU64::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        let (seen, over) = (Arc::clone(&round), Arc::clone(&is_over));
        let watch = move || {
            let (mut last, mut glances) = (u64::MAX, 0);
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(GLANCE);
                let now = seen.load(Ordering::Relaxed);
                glances = if now == last { glances + 1 } else { 0 };
                last = now;
                if glances > MOST_GLANCES {
                    eprintln!("a round hangs: {}", repeat.replace("ROUND", &now.to_string()));
                    std::process::abort();
                }
            }
        };
        let thread = std::thread::Builder::new().name("watch".to_owned());
        thread.spawn(watch).expect("a thread can be had");
        Self { round, is_over }
    }

    pub(crate) fn begin(&self, round: u64) {
        self.round.store(round, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
