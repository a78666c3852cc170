//! What acts on a failed request of torch's caching allocator, by the figures of its sentence.
//!
//! ```text
//! refused by the limit of the program               the limit
//! workspace                                         TASK_QUEUE_ENABLE: pool settings do not act
//! more memory outside the pool than in it           other processes, or other parts of this one
//! memory is there in pieces                         fragmentation: expandable_segments, max_split_size_mb
//! else                                              less memory: pool settings cannot help
//! ```

use super::super::verdict::Verdict;
use super::advice::{Advice, other_processes, reduce};
use super::allocator_setting::{COLLECTION, EXPANDABLE, SPLIT, Setting, setting};
use super::arithmetic::{Finding, Growth, Room, finding, needed};
use super::request::FailedRequest;
use super::vendor::{Vendor, variable, vendor};
use highwater_model::units::Bytes;
use highwater_model::workload::{Library, LoggedFailure, LoggedProcess, RefusedBy};

pub(super) fn of_torch(process: &LoggedProcess, request: &FailedRequest, library: Library) -> (Verdict, Vec<Advice>) {
    let failure = &request.failure;
    let finding = finding(failure, library);
    match failure.refused {
        RefusedBy::Fraction if !matches!(finding, Finding::Limited { .. } | Finding::Larger { .. }) => {
            return (
                Verdict::unknown("the program's own limit refused it, and no text states what the device had"),
                vec![Advice::new(
                    format!("Raise {}", vendor(library).limit),
                    "the program limits its own memory; the request did not reach the device",
                )],
            );
        }
        RefusedBy::Workspace => return workspace(process),
        RefusedBy::Device | RefusedBy::Check | RefusedBy::Fraction => {}
    }
    let pool = Pool {
        process,
        request,
        vendor: vendor(library),
        finding,
    };
    (pool.verdict(), pool.advice())
}

fn workspace(process: &LoggedProcess) -> (Verdict, Vec<Advice>) {
    const SETTING: (&str, &str) = ("TASK_QUEUE_ENABLE", "1");
    let why = "workspaces are outside the pool, so expandable_segments, max_split_size_mb and garbage_collection_threshold do \
               not act on them";
    let is_on = process.settings.get(SETTING.0).is_some_and(|value| value == SETTING.1);
    let advice = if is_on {
        reduce(format!("{why}; {}={} is on already", SETTING.0, SETTING.1))
    } else {
        let reason = format!(
            "torch_npu suggests it for workspaces; {}",
            why.replacen("workspaces", "they", 1)
        );
        Advice::set(format!("{}={}", SETTING.0, SETTING.1), reason)
    };
    (Verdict::unknown(why), vec![advice])
}

struct Pool<'a> {
    process: &'a LoggedProcess,
    request: &'a FailedRequest,
    vendor: &'static Vendor,
    finding: Finding,
}

impl Pool<'_> {
    fn failure(&self) -> &LoggedFailure {
        &self.request.failure
    }

    fn requested(&self) -> u64 {
        self.failure().requested.unwrap_or(0)
    }

    fn setting(&self, pair: (&'static str, &str)) -> Setting {
        setting(self.process, self.vendor.library, pair)
    }

    fn verdict(&self) -> Verdict {
        let pool = self.vendor.pool;
        match self.finding {
            Finding::Unknown => Verdict::unknown("no text states allocated and reserved bytes, which tell it"),
            Finding::Larger { total } => Verdict::no(format!(
                "{} are more than the whole device, {}",
                Bytes(self.requested()),
                Bytes(total)
            )),
            Finding::Limited { left } => self.limited(left),
            Finding::NothingReserved => Verdict::no(format!("nothing is reserved, so {pool} has nothing to join")),
            Finding::NothingUnused => Verdict::no(format!(
                "all that {pool} has reserved is allocated, so it has nothing to join"
            )),
            Finding::Pieces(room) => self.in_pieces(room),
            Finding::Open(room) => Verdict::unknown(self.open(room)),
            Finding::Short { room, missing, is_sure } => {
                let missing = Bytes(missing);
                let why = format!("{} are about {missing} less than the request", room.words());
                if is_sure {
                    Verdict::no(why)
                } else {
                    Verdict::unknown(format!("{why}, which the rounding of the figures may explain"))
                }
            }
        }
    }

    fn limited(&self, left: u64) -> Verdict {
        let failure = self.failure();
        let segment = needed(self.requested(), self.vendor.library);
        let takes = if segment > self.requested().saturating_add(2 << 20) {
            format!("; a request of this size takes a segment of {}", Bytes(segment))
        } else {
            String::new()
        };
        let limit = failure
            .allowed
            .map_or_else(String::new, |allowed| format!(" of {}", Bytes(allowed)));
        let why = format!("the program's own limit{limit} leaves about {}{takes}", Bytes(left));
        match failure.free {
            Some(free) => Verdict::yes(format!(
                "{why}, while {} were free on the device: a higher limit serves it",
                Bytes(free)
            )),
            None => Verdict::unknown(format!("{why}; no text states what the device has beyond it")),
        }
    }

    /// Why free bytes that no text states decide.
    fn open(&self, room: Room) -> String {
        let requested = Bytes(self.requested());
        match room.growth {
            Growth::AtMost(rest) => {
                let unused = Bytes(room.unused.unwrap_or(0));
                let rest = Bytes(rest);
                format!(
                    "{requested} are requested, and about {unused} are reserved, unused; no text states what was free, at most \
                     {rest} could be"
                )
            }
            _ => format!(
                "{requested} are requested, {} are there, and no text states what was free",
                room.words()
            ),
        }
    }

    fn in_pieces(&self, room: Room) -> Verdict {
        let why = format!("{} suffice, but not in one piece", room.words());
        match self.setting(EXPANDABLE) {
            Setting::Advised(..) => Verdict::yes(why),
            Setting::IsOn => Verdict::unknown(format!("{why}, although expandable_segments:True is on already")),
            Setting::Lacks { .. } | Setting::Missing | Setting::Unsupported => match self.setting(SPLIT) {
                Setting::Advised(..) => Verdict::yes(why),
                _ => Verdict::unknown(format!(
                    "{why}; no setting of this version of the allocator is known that joins them"
                )),
            },
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let failure = self.failure();
        let mut all: Vec<Advice> = self.outside().into_iter().collect();
        match self.finding {
            Finding::Unknown => return self.without_figures(),
            Finding::Larger { .. } => all.insert(0, reduce("no setting makes the device larger")),
            Finding::Limited { .. } => all.insert(0, self.raise_limit()),
            Finding::NothingReserved | Finding::NothingUnused => {
                let is_of_others = self.finding == Finding::NothingReserved && !all.is_empty();
                let enough = failure
                    .free
                    .filter(|free| *free >= needed(self.requested(), self.vendor.library));
                if let Some(free) = enough.filter(|_| !is_of_others) {
                    all.push(Advice::new(
                        "Add the driver's messages",
                        format!(
                            "{} were free, yet the device refused; the figures do not tell why",
                            Bytes(free)
                        ),
                    ));
                } else if all.is_empty() || self.finding == Finding::NothingUnused {
                    all.push(reduce("allocator settings cannot help"));
                }
            }
            Finding::Pieces(room) => {
                all.extend(self.against_fragmentation(room));
                all.extend(self.limit_too());
            }
            Finding::Open(room) => {
                all.push(reduce(self.open(room)));
                all.extend(other_processes(self.vendor.tool));
            }
            Finding::Short { is_sure, .. } => {
                all.extend(self.limit_too());
                if all.is_empty() {
                    let verdict = if is_sure { "cannot help" } else { "may not suffice" };
                    all.push(reduce(format!("allocator settings {verdict}")));
                }
            }
        }
        all
    }

    fn without_figures(&self) -> Vec<Advice> {
        let is_stated = self.failure().total > Some(0);
        if let Some(free) = self.failure().free.filter(|_| is_stated) {
            let reason = format!(
                "the device had {} free; no text states what the pool has unused",
                Bytes(free)
            );
            return std::iter::once(reduce(reason))
                .chain(other_processes(self.vendor.tool))
                .collect();
        }
        let whose = if self.vendor.library == Library::TorchNpu {
            "torch_npu"
        } else {
            "torch"
        };
        let mut all = vec![Advice::new(
            format!("Add {whose}'s whole sentence"),
            "the lines state no allocated and reserved bytes, which tell whether allocator settings help",
        )];
        all.extend(other_processes(self.vendor.tool));
        all
    }

    /// Who else has the device, where that is more than the pool, or the pool has nothing to give.
    fn outside(&self) -> Option<Advice> {
        let failure = self.failure();
        let outside = self.request.outside_pool?;
        let is_empty = matches!(self.finding, Finding::NothingReserved | Finding::NothingUnused);
        let is_most = Some(outside) > failure.reserved && failure.free < Some(self.requested());
        let tool = self.vendor.tool.filter(|_| outside > 0 && (is_empty || is_most))?;
        let more = match self.finding {
            Finding::NothingReserved => ", and nothing is in it",
            _ if is_most => ", more than in it",
            _ => "",
        };
        Some(Advice::new(
            format!("Run {tool}"),
            format!(
                "about {} of the device are outside {}{more}: of other processes, or of {} in this one",
                Bytes(outside),
                self.vendor.pool,
                self.vendor.others
            ),
        ))
    }

    fn raise_limit(&self) -> Advice {
        let reason = if self.vendor.library == Library::TorchMps {
            "torch refuses what passes this limit; 0.0 removes it, and the system may then run out of memory"
        } else {
            "the program limits its own memory"
        };
        let set = self.process.settings.get(self.vendor.limit);
        let set = set.map_or_else(String::new, |value| format!(" (the text sets {value})"));
        Advice::new(format!("Raise {}", self.vendor.limit), format!("{reason}{set}"))
    }

    /// The limit, where it leaves too little as well.
    fn limit_too(&self) -> Option<Advice> {
        let failure = self.failure();
        let left = failure.allowed?.checked_sub(failure.reserved?)?;
        (left < self.requested()).then(|| {
            let reason = format!("the limit leaves about {} to {}", Bytes(left), self.vendor.pool);
            Advice::new(format!("Raise {}", self.vendor.limit), reason)
        })
    }

    fn against_fragmentation(&self, room: Room) -> Vec<Advice> {
        let figures = match room.unused {
            Some(unused) if unused >= self.requested() => format!(
                "fragmentation: about {} of the pool are reserved, unused, more than the request",
                Bytes(unused)
            ),
            _ => format!("{} together suffice", room.words()),
        };
        let expandable = self.setting(EXPANDABLE);
        if expandable == Setting::IsOn {
            let variable = variable(self.process, self.vendor.library, None);
            let variable = variable.map_or_else(String::new, |name| format!(" ({name})"));
            return vec![reduce(format!(
                "expandable_segments:True is on already{variable}; what is unused is in parts of pages, or of other streams and pools"
            ))];
        }
        let split = match &expandable {
            Setting::Advised(..) => {
                "where expandable segments are not available: larger blocks stay whole; try several sizes".to_owned()
            }
            Setting::Lacks { since } => format!(
                "{figures}; larger blocks stay whole; try several sizes (expandable_segments comes with torch {since})"
            ),
            Setting::Unsupported => format!(
                "{figures}; larger blocks stay whole; try several sizes (the text says that expandable_segments is not supported \
                 here)"
            ),
            Setting::IsOn | Setting::Missing => format!("{figures}; larger blocks stay whole; try several sizes"),
        };
        let reason = match room.unused {
            Some(unused) if unused >= self.requested() => format!("{figures}; expandable segments can use them"),
            _ => format!("{figures}; expandable segments can join them"),
        };
        let collection = "the program has a limit, near which the pool then releases unused blocks";
        let collection = self
            .failure()
            .allowed
            .and_then(|_| self.setting(COLLECTION).advice(collection));
        let all = [expandable.advice(reason), self.setting(SPLIT).advice(split), collection];
        let mut all: Vec<Advice> = all.into_iter().flatten().collect();
        if all.is_empty() {
            let pool = self.vendor.pool;
            all.push(Advice::new(
                "Release cached memory (empty_cache) before this request",
                format!(
                    "{} are in {pool} or free, in pieces; no setting is known that joins them here",
                    room.words()
                ),
            ));
        }
        all
    }
}
