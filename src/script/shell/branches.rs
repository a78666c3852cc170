//! Conditions around the assignments of a shell script.

use std::collections::{BTreeMap, BTreeSet};

use super::word::{Command, Word};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    /// Number and branch of the innermost block with an unknown condition.
    branch: Option<(usize, usize)>,
    text: Option<String>,
}

/// An open `if`, `case`, loop or pair of braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// Number of the block, and of the branch within.
    Branches(usize, usize),
    /// The body counts as run once.
    Run,
    /// May be the body of a function.
    Braces,
}

/// The blocks around a command, and every assignment so far.
#[derive(Default)]
pub(super) struct Branches {
    open: Vec<Block>,
    n_blocks: usize,
    /// By block with an `else`: the number of its branches.
    complete: BTreeMap<usize, usize>,
    /// Whether the command depends on the success of another one.
    is_chosen: bool,
    /// The block whose first condition the command is: that is always run.
    condition_of: Option<usize>,
    places: BTreeMap<String, Vec<Place>>,
}

impl Branches {
    pub(super) fn enter(&mut self, command: &Command, is_behind_assignment: bool) {
        self.is_chosen = match command.operator {
            None => false,
            Some('&') if is_behind_assignment => self.is_chosen,
            Some(_) => true,
        };
        if self.is_chosen {
            self.n_blocks += 1;
        }
        self.condition_of = None;
        for word in command.words.iter().map_while(Word::plain) {
            match word {
                "if" | "case" => {
                    let is_known = matches!(command.words.get(1).and_then(Word::plain), Some("true" | ":"));
                    self.n_blocks += 1;
                    self.condition_of = (word == "if").then_some(self.n_blocks);
                    self.open.push(if is_known {
                        Block::Run
                    } else {
                        Block::Branches(self.n_blocks, 0)
                    });
                }
                "for" | "while" | "until" | "select" => self.open.push(Block::Run),
                "{" => self.open.push(Block::Braces),
                "fi" | "esac" | "done" | "}" => drop(self.open.pop()),
                "else" | "elif" => {
                    if let Some(Block::Branches(block, branch)) = self.open.last_mut() {
                        *branch += 1;
                        if word == "else" {
                            self.complete.insert(*block, *branch + 1);
                        }
                    }
                }
                "then" | "do" | "!" | "time" => {}
                "function" => {
                    if command.words.last().and_then(Word::plain) == Some("{") {
                        self.open.push(Block::Braces);
                    }
                    break;
                }
                _ => break,
            }
        }
    }

    /// Whether a function may be around this place.
    pub(super) fn is_in_braces(&self) -> bool {
        self.open.contains(&Block::Braces)
    }

    pub(super) fn assigned(&mut self, name: &str, line: usize, text: Option<&str>) {
        let inner = self.open.iter().rev().find_map(|block| match block {
            Block::Branches(block, branch) => (Some(*block) != self.condition_of).then_some((*block, *branch)),
            Block::Run | Block::Braces => None,
        });
        let branch = if self.is_chosen {
            Some((self.n_blocks, 0))
        } else {
            inner
        };
        let places = self.places.entry(name.to_owned()).or_default();
        if branch.is_none() {
            places.clear();
        }
        places.push(Place {
            line,
            branch,
            text: text.map(str::to_owned),
        });
    }

    pub(super) fn removed(&mut self, name: &str) {
        self.places.remove(name);
    }

    /// Names with a remark on the conditions of their assignments.
    pub(super) fn remarks(&self) -> Vec<(&str, String)> {
        self.places
            .iter()
            .filter_map(|(name, places)| Some((name.as_str(), self.remark(name, places)?)))
            .collect()
    }

    fn remark(&self, name: &str, places: &[Place]) -> Option<String> {
        let conditional: Vec<&Place> = places.iter().filter(|place| place.branch.is_some()).collect();
        let last = conditional.last()?;
        let is_same = places.iter().all(|place| place.text == last.text);
        let block = last.branch.map(|(block, _)| block)?;
        let branches: BTreeSet<usize> = conditional
            .iter()
            .filter_map(|place| place.branch.filter(|(other, _)| *other == block))
            .map(|(_, branch)| branch)
            .collect();
        let is_always = conditional.len() < places.len() || self.complete.get(&block) == Some(&branches.len());
        if is_same && is_always {
            return None;
        }
        let lines: Vec<String> = places.iter().map(|place| place.line.to_string()).collect();
        let lines = format!("line{} {}", if lines.len() == 1 { "" } else { "s" }, lines.join(", "));
        let what = if is_same {
            "is set only under a condition; it is taken as set"
        } else {
            "is set to different texts under conditions; the last one is taken"
        };
        Some(format!("{lines}: {name} {what}"))
    }
}
