//! Reads the files of a folder with a few threads, and keeps of many recordings those with the highest peaks.
//!
//! In: groups of files that are read as one. Out: their contents in the order of the groups, whatever the threads did. With
//! [`Keep::Shown`] no more recordings are in memory as a whole than lanes show, and one per thread; the others are summaries.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::files::FileError;
use highwater_analysis::MOST_RECORDED_LANES;
use highwater_import::Imported;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{Recording, Source};

/// What is kept of the recordings of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Everything.
    All,
    /// Recordings that get lanes, and summaries of the others.
    Shown,
}

/// More threads read no faster from one disk, and each holds a file in memory.
const MOST_THREADS: usize = 4;

/// The content of a group; `None` within where its files do not belong together.
pub(super) type Content = Result<Option<Imported>, FileError>;

/// The contents of groups; `None` for a group that was not read because the work was cancelled.
pub(super) fn read_ahead(
    groups: &[Vec<usize>],
    keep: Keep,
    read: impl Fn(&[usize], &Progress<'_>) -> Content + Sync,
    progress: &Progress<'_>,
) -> Vec<Option<Content>> {
    let n_threads = progress.n_threads().min(MOST_THREADS).min(groups.len());
    let mut found: Vec<Option<Content>> = groups.iter().map(|_| None).collect();
    let mut kept = Kept::default();
    let (next, cancel) = (AtomicUsize::new(0), progress.cancel_flag());
    let work = || {
        let position = next.fetch_add(1, Ordering::Relaxed);
        let silent = Progress::silent(cancel);
        let group = groups.get(position).filter(|_| silent.check().is_ok())?;
        let content = read(group, &silent);
        let peaks = match keep {
            Keep::All => Vec::new(),
            Keep::Shown => peaks(&content),
        };
        Some((position, content, peaks))
    };
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..n_threads {
            let (send, work) = (send.clone(), &work);
            scope.spawn(move || while work().is_some_and(|done| send.send(done).is_ok()) {});
        }
        drop(send);
        for (n_read, (position, content, peaks)) in (1..).zip(receive) {
            // The threads end where the work is cancelled.
            let _is_cancelled = progress.set("reading the folder", n_read, groups.len() as u64);
            found[position] = Some(content);
            kept.add(&mut found, position, peaks);
        }
    });
    found
}

/// The peak of every recording that lanes may show.
fn peaks(content: &Content) -> Vec<Option<Bytes>> {
    let Ok(Some(Imported {
        source: Source::Recordings(recordings),
        ..
    })) = content
    else {
        return Vec::new();
    };
    let peak = |one: &Arc<Recording>| one.has_content().then(|| one.highest_peak());
    recordings.iter().map(peak).collect()
}

/// Recordings in memory as a whole: peak, group, and position in it. Of equal peaks the first recording stays.
#[derive(Default)]
struct Kept(BTreeSet<(Bytes, Reverse<(usize, usize)>)>);

impl Kept {
    fn add(&mut self, found: &mut [Option<Content>], group: usize, peaks: Vec<Option<Bytes>>) {
        for (position, peak) in peaks.into_iter().enumerate() {
            self.0.extend(peak.map(|peak| (peak, Reverse((group, position)))));
            if self.0.len() <= MOST_RECORDED_LANES {
                continue;
            }
            let Some((_, Reverse((group, position)))) = self.0.pop_first() else {
                continue;
            };
            if let Some(Ok(Some(imported))) = &mut found[group]
                && let Source::Recordings(recordings) = &mut imported.source
                && let Some(recording) = recordings.get_mut(position)
            {
                *recording = Arc::new(recording.summary());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::diagnostics::Diagnostics;
    use highwater_model::progress::Cancel;
    use highwater_model::units::Step;
    use highwater_model::workload::{RecordedBlock, RecordedName};

    #[test]
    fn recordings_with_the_highest_peaks_stay_whole_in_any_order() {
        let read = |group: &[usize], _: &Progress<'_>| {
            // Of equal peaks, which come in pairs, the first counts.
            let bytes = Bytes((group[0] as u64 * 7 % 60) / 2);
            let blocks = vec![
                RecordedBlock::new(RecordedName(0), Step(0), Step(1), bytes),
                RecordedBlock::new(RecordedName(0), Step(1), Step(2), Bytes(0)),
            ];
            let recording = Recording {
                name: group[0].to_string(),
                n_steps: 2,
                blocks,
                names: ["x"].into_iter().collect(),
                ..Recording::default()
            };
            Ok(Some(Imported {
                format: "made up",
                source: Source::Recordings(vec![Arc::new(recording)]),
                measured: Vec::new(),
                diagnostics: Diagnostics::new(),
            }))
        };
        let groups: Vec<Vec<usize>> = (0..60).map(|file| vec![file]).collect();
        let cancel = Cancel::new();
        let found = |keep: Keep| {
            let all = read_ahead(&groups, keep, read, &Progress::silent(&cancel)).into_iter();
            let all = all.flatten().filter_map(|content| match content.ok()??.source {
                Source::Recordings(recordings) => recordings.first().cloned(),
                _ => None,
            });
            all.collect::<Vec<_>>()
        };
        let all = found(Keep::All);
        assert!(all.iter().all(|one| !one.is_summary()));
        let mut ranked: Vec<usize> = (0..60).collect();
        ranked.sort_by_key(|file| (Reverse(all[*file].highest_peak()), *file));
        for (file, one) in found(Keep::Shown).iter().enumerate() {
            let is_shown = ranked[..MOST_RECORDED_LANES].contains(&file);
            assert_eq!((one.name.as_str(), one.is_summary()), (&*file.to_string(), !is_shown));
            assert_eq!(one.peaks(), all[file].peaks());
        }
        cancel.cancel();
        assert!(found(Keep::All).is_empty());
    }
}
