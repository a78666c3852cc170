//! Pins: configurations that are kept to compare with, each edit of them one step that can be undone.

use std::sync::Arc;

use super::super::commands::Command;
use super::super::document::Document;
use super::super::history::Settings;
use super::{Notice, Session};
use highwater_analysis::{Comparison, Configuration, LaneId, MAX_PINS, Pin};
use highwater_model::workload::Workload;

impl Session {
    /// What is set, and the values that were assumed for dimensions: what pinning it keeps, so that it stays as it is.
    pub fn configuration(&self) -> Configuration {
        self.document.configuration()
    }

    /// What would be set if nobody had set anything: the defaults, and what samples among the sources suggest.
    pub fn usual_configuration(&self) -> Configuration {
        Document::new(self.document.sources.clone()).configuration()
    }

    /// A name for a configuration that no pin has: it says what is not as usual.
    pub fn name_for_pin(&self, configuration: &Configuration) -> String {
        let mut chosen = configuration.clone();
        let known = &self.document.plan.dims;
        let is_assumed =
            |name: &String, values: &Vec<u64>| self.assumed.contains(name) && known.get(name) == Some(values);
        chosen.plan.dims.retain(|name, values| !is_assumed(name, values));
        Pin::free_name(&chosen.short_name(&self.usual_configuration()), &self.names_of_pins())
    }

    /// The names of the pins, in their order.
    pub fn names_of_pins(&self) -> impl Iterator<Item = &str> + Clone {
        self.document.pins.iter().map(|pin| pin.name.as_str())
    }

    /// The answer on the screen, where the document differs from that of it in its pins alone.
    pub(super) fn known_but_for_pins(&self, workload: &Arc<Workload>) -> Option<Arc<Comparison>> {
        let (answered, (comparison, _)) = self.answered.as_ref().zip(self.answer.as_ref())?;
        let is_of_it = self.answered_of.as_ref().is_some_and(|of| Arc::ptr_eq(of, workload));
        let pins = self.document.pins.clone();
        let is_other = answered.pins != pins;
        let same = Document {
            pins,
            baseline: self.document.baseline,
            ..answered.clone()
        };
        let is_known = is_of_it && is_other && !self.is_preview && same == self.document;
        is_known.then(|| Arc::clone(comparison))
    }

    /// Commands about pins and about lanes that are compared.
    pub(super) fn apply_compared(&mut self, command: Command) {
        match command {
            Command::SetBaseline(lane) => self.set_baseline(lane),
            Command::SetDifference(lanes) => self.set_difference(lanes),
            Command::CompareLanes(first, second) => self.compare_lanes((first, second)),
            edit => self.edit_pins(edit),
        }
    }

    /// Edits of pins; what cannot be done is said.
    fn edit_pins(&mut self, command: Command) {
        let before = self.document.clone();
        let settings = Settings::of(&before, &self.assumed);
        let typing = match &command {
            Command::RenamePin { position, .. } => Some(format!("name of pin {position}")),
            _ => None,
        };
        let told = self.change_pins(command);
        if self.document != before {
            self.history.record(settings, typing);
            self.settle_edit(before);
        }
        self.notice = match told {
            Ok(done) => done.map(Notice::Done),
            Err(why) => Some(Notice::Failed(why)),
        };
    }

    fn change_pins(&mut self, command: Command) -> Result<Option<String>, String> {
        let n_pins = self.document.pins.len();
        match command {
            Command::PinConfiguration { name, configuration } => {
                return self.pin(&name, *configuration).map(Some);
            }
            Command::RenamePin { position, name } => {
                let others = self.document.pins.iter().enumerate();
                let others = others.filter(|(other, _)| *other != position);
                let name = Pin::checked_name(&name, others.map(|(_, pin)| pin.name.as_str()))?.to_owned();
                if let Some(pin) = self.document.pins.get_mut(position) {
                    pin.name = name;
                }
            }
            Command::MovePin { position, to } if position < n_pins => {
                let pin = self.document.pins.remove(position);
                let to = to.min(n_pins - 1);
                self.document.pins.insert(to, pin);
                self.baseline_moved(|other| Some(position_after(other, position, to)));
            }
            Command::RemovePin(position) if position < n_pins => {
                let pin = self.document.pins.remove(position);
                self.baseline_moved(|other| (other != position).then(|| other - usize::from(other > position)));
                return Ok(Some(format!("removed the pin \"{}\"", pin.name)));
            }
            Command::DuplicatePin(position) if position < n_pins => {
                let pin = self.document.pins[position].clone();
                let name = Pin::free_name(&pin.name, &self.names_of_pins());
                self.pin(&name, pin.configuration)?;
                // Beside the one that it is a copy of.
                if let Some(mut copy) = self.document.pins.pop() {
                    copy.follows_schedule = pin.follows_schedule;
                    self.document.pins.insert(position + 1, copy);
                    self.baseline_moved(|other| Some(other + usize::from(other > position)));
                }
                return Ok(Some(format!("pinned it again as \"{name}\"")));
            }
            Command::UsePin(position) if position < n_pins => return Ok(Some(self.use_pin(position))),
            _ => {}
        }
        Ok(None)
    }

    /// A baseline that is a pin stays that pin where others move; it is none where the pin is gone.
    fn baseline_moved(&mut self, now_at: impl Fn(usize) -> Option<usize>) {
        if let Some(LaneId::Pinned(position)) = self.document.baseline {
            let now = now_at(position.into()).and_then(|now| u8::try_from(now).ok());
            self.document.baseline = now.map(LaneId::Pinned);
        }
    }

    fn pin(&mut self, name: &str, configuration: Configuration) -> Result<String, String> {
        if self.document.pins.len() >= MAX_PINS {
            return Err(format!(
                "{MAX_PINS} pins are kept at most; remove one in the pane Compare first"
            ));
        }
        let name = Pin::checked_name(name, self.names_of_pins())?.to_owned();
        let told = format!("pinned \"{name}\": its lane stands below the others");
        self.document.pins.push(Pin::new(name, configuration));
        Ok(told)
    }

    /// Sets what a pin holds; it stays pinned.
    fn use_pin(&mut self, position: usize) -> String {
        let Pin {
            name, configuration, ..
        } = self.document.pins[position].with_schedule(&self.document.plan);
        // Values that were only assumed must not turn into the user's.
        self.assumed.clear();
        self.document.options = configuration.options;
        self.document.environment = configuration.environment;
        self.document.plan = configuration.plan;
        format!("the options are those of the pin \"{name}\" now")
    }
}

/// Where what stood at a place stands after another was taken from one place and put at a second one.
const fn position_after(position: usize, from: usize, to: usize) -> usize {
    if position == from {
        to
    } else if from < position && position <= to {
        position - 1
    } else if to <= position && position < from {
        position + 1
    } else {
        position
    }
}

#[cfg(test)]
mod tests {
    use super::position_after;

    #[test]
    fn places_follow_what_moves() {
        for from in 0..5_usize {
            for to in 0..5 {
                let mut list: Vec<usize> = (0..5).collect();
                let moved = list.remove(from);
                list.insert(to, moved);
                for position in 0..5 {
                    assert_eq!(list[position_after(position, from, to)], position, "{from} to {to}");
                }
            }
        }
    }
}
