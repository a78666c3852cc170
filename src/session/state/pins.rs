//! Pinned configurations. Each edit is a step of undo.

use super::super::document::Document;
use super::super::task::Failure;
use super::Session;
use highwater_analysis::{Configuration, LaneId, MAX_PINS, Pin};

impl Session {
    /// The configuration with assumed values of dimensions, as a pin keeps it.
    pub fn configuration(&self) -> Configuration {
        self.schedule.complete(&self.document).configuration()
    }

    /// The defaults, with the values of samples among the sources.
    pub fn usual_configuration(&self) -> Configuration {
        Document::new(self.document.sources.clone()).configuration()
    }

    /// An unused name that tells how a configuration differs from the usual one.
    pub fn name_for_pin(&self, configuration: &Configuration) -> String {
        let mut chosen = configuration.clone();
        chosen
            .plan
            .dims
            .retain(|name, values| !self.schedule.is_assumed(name, values));
        Pin::free_name(&chosen.short_name(&self.usual_configuration()), &self.names_of_pins())
    }

    pub fn names_of_pins(&self) -> impl Iterator<Item = &str> + Clone {
        self.document.pins.iter().map(|pin| pin.name.as_str())
    }

    pub(super) fn rename_pin(&mut self, position: usize, name: &str) -> Result<Option<String>, Failure> {
        let others = self.document.pins.iter().enumerate();
        let others = others.filter(|(other, _)| *other != position);
        let name = Pin::checked_name(name, others.map(|(_, pin)| pin.name.as_str()))?.to_owned();
        if let Some(pin) = self.document.pins.get_mut(position) {
            pin.name = name;
        }
        Ok(None)
    }

    pub(super) fn move_pin(&mut self, position: usize, to: usize) {
        let n_pins = self.document.pins.len();
        if position < n_pins {
            let pin = self.document.pins.remove(position);
            let to = to.min(n_pins - 1);
            self.document.pins.insert(to, pin);
            self.baseline_moved(|other| Some(position_after(other, position, to)));
        }
    }

    pub(super) fn remove_pin(&mut self, position: usize) -> Option<String> {
        self.document.pins.get(position)?;
        let pin = self.document.pins.remove(position);
        self.baseline_moved(|other| (other != position).then(|| other - usize::from(other > position)));
        Some(format!("removed the pin \"{}\"", pin.name))
    }

    /// Pins the same configuration again, directly behind the first.
    pub(super) fn duplicate_pin(&mut self, position: usize) -> Result<Option<String>, Failure> {
        let Some(pin) = self.document.pins.get(position).cloned() else {
            return Ok(None);
        };
        let name = Pin::free_name(&pin.name, &self.names_of_pins());
        self.pin(&name, pin.configuration)?;
        if let Some(mut copy) = self.document.pins.pop() {
            copy.follows_schedule = pin.follows_schedule;
            self.document.pins.insert(position + 1, copy);
            self.baseline_moved(|other| Some(other + usize::from(other > position)));
        }
        Ok(Some(format!("restored the pin \"{name}\"")))
    }

    /// Keeps the baseline on its pin where others move; a removed pin is no baseline.
    fn baseline_moved(&mut self, now_at: impl Fn(usize) -> Option<usize>) {
        if let Some(LaneId::Pinned(position)) = self.document.baseline {
            let now = now_at(position.into()).and_then(|now| u8::try_from(now).ok());
            self.document.baseline = now.map(LaneId::Pinned);
        }
    }

    pub(super) fn pin(&mut self, name: &str, configuration: Configuration) -> Result<Option<String>, Failure> {
        if self.document.pins.len() >= MAX_PINS {
            let why = format!("at most {MAX_PINS} pins; remove one in the pane Compare");
            return Err(Failure(why));
        }
        let name = Pin::checked_name(name, self.names_of_pins())?.to_owned();
        let told = format!("pinned \"{name}\" as a lane");
        self.document.pins.push(Pin::new(name, configuration));
        Ok(Some(told))
    }

    pub(super) fn use_pin(&mut self, position: usize) -> Option<String> {
        let Pin {
            name, configuration, ..
        } = self.document.pins.get(position)?.with_schedule(&self.document.plan);
        self.document.options = configuration.options;
        self.document.environment = configuration.environment;
        self.document.plan = configuration.plan;
        Some(format!("applied the pin \"{name}\""))
    }
}

/// The new position of an item after another one moved from `from` to `to`.
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
