//! The problems of one file: one for each memory that its buffers name (`mem_id`), since memories are arenas of their own
//! addresses.
//!
//! In: rows with the text of their memory. Out: a [`ProblemEntry`] for each, in the order of their first rows.

use indexmap::IndexMap;

use super::draft::Draft;
use super::faults::Places;
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::ProblemEntry;

/// Most memories of one file: each becomes a problem that is listed by name.
const MOST_BANKS: usize = 10_000;

/// The name of the column, which names the problems, too.
pub(super) const MEMORY: &str = "mem_id";

#[derive(Debug, Default)]
pub(super) struct Banks {
    pub(super) name: String,
    /// The capacity that the file states, where it has one memory.
    pub(super) capacity: Option<u64>,
    /// The planner that made the offsets, where they are a plan and fix nothing.
    pub(super) maker: Option<String>,
    /// What names of memories are called, before the name.
    noun: &'static str,
    /// By memory: its buffers, and the positions of their rows in the file.
    memories: IndexMap<Box<str>, (Draft, Vec<usize>)>,
    n_rows: usize,
}

impl Banks {
    pub(super) fn new(name: String, noun: &'static str) -> Self {
        Self {
            name,
            noun,
            ..Self::default()
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Rows so far.
    pub(super) const fn len(&self) -> usize {
        self.n_rows
    }

    /// The buffers of a memory, for the next row of the file. An empty text is the only memory of a file without names.
    pub(super) fn next(&mut self, bank: &str) -> Result<&mut Draft, String> {
        if !self.memories.contains_key(bank) && self.memories.len() == MOST_BANKS {
            return Err(format!("the buffers name more than {MOST_BANKS} memories"));
        }
        let row = self.n_rows;
        self.n_rows += 1;
        let (draft, rows) = self.memories.entry(bank.into()).or_default();
        rows.push(row);
        Ok(draft)
    }

    /// The finished problems.
    ///
    /// # Errors
    /// [`ImportError`] with the ids and places of what contradicts itself.
    pub(super) fn finish(
        self,
        places: Places<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<ProblemEntry>, ImportError> {
        let is_single = self.memories.len() == 1;
        if let (Some(_), false) = (self.capacity, is_single) {
            diagnostics.warning(
                "the file states one capacity for several memories, so it counts for none; give one with --capacity",
                "",
            );
        }
        let entries = self.memories.into_iter().map(|(bank, (draft, rows))| {
            let name = if is_single {
                self.name.clone()
            } else if bank.is_empty() {
                "no mem_id".to_owned()
            } else {
                format!("{} {bank}", self.noun)
            };
            let place = |row: usize| places(rows.get(row).copied().unwrap_or(row));
            draft.finish(
                name,
                self.maker.clone(),
                self.capacity.filter(|_| is_single),
                &place,
                diagnostics,
            )
        });
        entries.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::ImportError;
    use crate::test_help::{messages, read};
    use highwater_model::diagnostics::Diagnostics;
    use highwater_model::workload::{ProblemEntry, Source};

    fn problems(name: &str, text: &str) -> Result<(Vec<ProblemEntry>, Diagnostics), ImportError> {
        let imported = read(name, text.as_bytes())?;
        assert_eq!(imported.format, "planner_problem");
        let Source::Problems(found) = imported.source else {
            panic!("no problem: {:?}", imported.source)
        };
        Ok((found.iter().map(|one| (**one).clone()).collect(), imported.diagnostics))
    }

    /// A line for each problem: its name, its buffers with their recorded offsets.
    fn shown(found: &[ProblemEntry]) -> Vec<String> {
        let one = |entry: &ProblemEntry| {
            let offsets = entry.recorded.as_ref().map(|plan| plan.offsets.clone());
            let buffers = (0..entry.ids.len()).map(|position| {
                let buffer = &entry.problem.buffers[position];
                let fixed = if buffer.offset.is_some() { " fixed" } else { "" };
                let offset = offsets
                    .as_ref()
                    .map_or(String::new(), |offsets| format!("@{}{fixed}", offsets[position]));
                let (lower, upper) = (buffer.lower.0, buffer.upper.0);
                format!(
                    " {}:{lower}..{upper}:{}{offset}",
                    entry.ids.get(position),
                    buffer.size.get()
                )
            });
            format!("{}{}", entry.name, buffers.collect::<String>())
        };
        found.iter().map(one).collect()
    }

    #[test]
    fn each_memory_is_an_arena() {
        let csv = "id,lower,upper,size,offset,mem_id\na,0,2,8,0,1\nb,0,2,16,0,2\nc,1,3,8,8,1\na,2,3,4,,2\n";
        let (found, _) = problems("x.csv", csv).expect("it is read");
        assert_eq!(
            shown(&found),
            [
                "mem_id 1 a:0..2:8@0 fixed c:1..3:8@8 fixed",
                "mem_id 2 b:0..2:16 a:2..3:4"
            ]
        );
        let json = r#"{"name": "n", "capacity": 9, "buffers": [
            {"id": 1, "lower": 0, "upper": 2, "size": 8, "mem_id": 1},
            {"id": 1, "lower": 0, "upper": 2, "size": 8, "mem_id": "sram"}]}"#;
        let (found, told) = problems("x.json", json).expect("it is read");
        assert_eq!(shown(&found), ["mem_id 1 1:0..2:8", "mem_id sram 1:0..2:8"]);
        assert!(messages(&told).contains("one capacity"), "{}", messages(&told));
        assert!(found.iter().all(|entry| entry.capacity.is_none()));
        let (found, _) = problems("x.csv", "id,lower,upper,size,mem_id\na,0,2,8,1\n").expect("it is read");
        assert_eq!(found[0].name, "x.csv", "one memory is the file");
        // Places are those of the file, whatever memory a row is of.
        let twice = "id,lower,upper,size,mem_id\na,0,2,8,1\na,0,2,8,2\nb,0,2,8,2\na,0,2,8,2\n";
        let error = problems("x.csv", twice).expect_err("an id occurs twice").to_string();
        assert!(error.contains("line 5") && error.contains("first in line 3"), "{error}");
    }

    #[test]
    fn offsets_that_a_framework_planned_fix_nothing() {
        let json = r#"{"planned_by": "IREE", "buffers": [
            {"id": "a", "lower": 0, "upper": 2, "size": 8, "offset": 0},
            {"id": "b", "lower": 1, "upper": 2, "size": 8, "offset": 64}]}"#;
        let (found, _) = problems("x.json", json).expect("it is read");
        assert_eq!(shown(&found), ["x.json a:0..2:8@0 b:1..2:8@64"]);
        assert_eq!(found[0].recorded.as_ref().map(|plan| &*plan.maker), Some("IREE"));
    }

    #[test]
    fn the_plan_that_tflite_micro_prints_is_read() {
        let text = "I (312) main: 0 (id=0): size=9216, offset=0, first_used=0 last_used=1\r\n\
                    1 (id=1): size=64, offset=9216, first_used=1 last_used=2\n\
                    0 0000...: (9k)\n\
                    1 (id=1): size=64, offset=9216, first_used=1 last_used=2\n\
                    * (id=70): size=0, offset=0, first_used=1 last_used=2\n\
                    0 (id=0): size=32, offset=0, first_used=0 last_used=0\n";
        let (found, told) = problems("plan.txt", text).expect("it is read");
        assert_eq!(
            shown(&found),
            ["plan 1 0:0..2:9216@0 1:1..3:64@9216", "plan 2 0:0..1:32@0"]
        );
        assert_eq!(found[0].problem.buffers[0].alignment, 16);
        assert_eq!(
            found[0].recorded.as_ref().map(|plan| &*plan.maker),
            Some("TFLite Micro")
        );
        assert!(messages(&told).contains("without bytes"), "{}", messages(&told));
        for (text, expected) in [
            (
                "0 (id=0): size=0, offset=0, first_used=0 last_used=1\n",
                "AllocateTensors",
            ),
            (
                "0 (id=0): size=18446744073709551615, offset=9, first_used=0 last_used=1\n",
                "2^62",
            ),
        ] {
            let error = problems("plan.txt", text).expect_err("it is refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(read("plan.txt", b"0 (id=0): size=9216, offset=0, first_used=0 last_used=x\n").is_err());
    }
}
