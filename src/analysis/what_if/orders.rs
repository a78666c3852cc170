//! Which settings, release and order of equal blocks reproduce a recording best.

use highwater_model::units::Bytes;
use highwater_sim::what_if::{History, NoHistory};
use highwater_torch::recording::{Check, Replayable, Stop, check, newest_by_order};
use highwater_torch::{Framework, Settings, SettingsError, Ties, Version};

/// What reproduces a recording best.
pub(super) struct Reproduced {
    pub(super) conf: String,
    pub(super) settings: Settings,
    /// What no version takes of the settings.
    pub(super) left_out: Vec<SettingsError>,
    pub(super) check: Check,
    /// The releases of the group whose order of equal blocks reproduces as many events, the oldest first.
    pub(super) versions: Vec<Version>,
    /// The position of the group.
    pub(super) group: usize,
}

/// Settings with groups of releases to try, the likeliest first.
pub(super) struct Candidates<'c> {
    pub(super) confs: Vec<&'c str>,
    pub(super) groups: Vec<Vec<Version>>,
    pub(super) device: Option<Bytes>,
    /// Whether settings that every release refuses are taken without what it refuses: the recorded process ran with them.
    pub(super) is_stated: bool,
}

impl Candidates<'_> {
    /// The first settings and group that reproduce every event, else those that reproduce most.
    ///
    /// # Errors
    /// All settings are refused, the history contradicts itself, or the work is cancelled.
    pub(super) fn best(&self, history: &History, stop: Stop<'_>) -> Result<Reproduced, NoHistory> {
        let mut best: Option<Reproduced> = None;
        let mut refused = None;
        for conf in &self.confs {
            for (group, versions) in self.groups.iter().enumerate() {
                let found = match self.of_group(history, conf, (group, versions), stop) {
                    Ok(found) => found,
                    Err(NoHistory::Impossible(why)) => {
                        refused.get_or_insert(why);
                        continue;
                    }
                    Err(cancelled) => return Err(cancelled),
                };
                // Without segments there is nothing to compare.
                let is_exact = found.check.first_difference.is_none() || !history.has_segments;
                if best
                    .as_ref()
                    .is_none_or(|known| found.check.identical > known.check.identical)
                {
                    best = Some(found);
                }
                if is_exact {
                    return best.ok_or_else(|| nothing(refused));
                }
            }
        }
        best.ok_or_else(|| nothing(refused))
    }

    /// One text of settings with every order of equal blocks that the releases of a group have.
    fn of_group(
        &self,
        history: &History,
        conf: &str,
        (group, versions): (usize, &[Version]),
        stop: Stop<'_>,
    ) -> Result<Reproduced, NoHistory> {
        let total = self.device.map(Bytes::get);
        let is_refused = |version: &Version| Settings::parse(conf, *version).is_err();
        let is_unknown = self.is_stated && self.groups.iter().flatten().all(is_refused);
        let mut replayable: Option<(Settings, Replayable<'_>)> = None;
        let mut found: Vec<(Check, Settings, Vec<SettingsError>)> = Vec::new();
        let mut refused = None;
        for version in newest_by_order(versions) {
            let parsed = if is_unknown {
                Ok(Settings::parse_known(conf, version))
            } else {
                Settings::parse(conf, version).map(|settings| (settings, Vec::new()))
            };
            let (settings, left_out) = match parsed {
                Ok(parsed) => parsed,
                Err(error) => {
                    refused.get_or_insert(error.to_string());
                    continue;
                }
            };
            let is_same = |known: &Settings| {
                let known = Settings {
                    version,
                    ..known.clone()
                };
                known == settings && version.rules().framework == Framework::Cuda
            };
            let known = match replayable.take().filter(|(known, _)| is_same(known)) {
                Some((_, known)) => known,
                None => Replayable::new(&history.recording, &settings, total, stop)?,
            };
            found.push((
                check(&known, &settings, version.rules().ties)?,
                settings.clone(),
                left_out,
            ));
            replayable = Some((settings, known));
        }
        found.sort_by_key(|(check, ..)| std::cmp::Reverse((check.identical, check.version)));
        let most = found.first().map_or(0, |(check, ..)| check.identical);
        let orders: Vec<Ties> = found
            .iter()
            .filter(|(check, ..)| check.identical == most)
            .map(|(check, ..)| check.ties)
            .collect();
        let Some((check, settings, left_out)) = found.into_iter().next() else {
            return Err(nothing(refused));
        };
        let alike = versions.iter().filter(|version| orders.contains(&version.rules().ties));
        Ok(Reproduced {
            conf: conf.to_owned(),
            settings,
            left_out,
            check,
            versions: alike.copied().collect(),
            group,
        })
    }
}

fn nothing(why: Option<String>) -> NoHistory {
    NoHistory::Impossible(why.unwrap_or_else(|| "no version of the allocator can be tried".to_owned()))
}
