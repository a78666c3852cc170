//! Limits of texts that are read in lines or records, by reader: far above real files, so that a small packed file cannot
//! take all memory.

use super::ImportError;

/// The limits of one reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextLimits {
    /// Bytes of a line, or of a record with line breaks in quotes.
    pub(super) line_bytes: u64,
    /// Fields of a record.
    pub(super) fields: usize,
}

/// Traces, logs and lists: a line with a hundred thousand items fits.
pub(super) const LINES: TextLimits = TextLimits {
    line_bytes: 4 << 20,
    fields: usize::MAX,
};

/// Placement problems as CSV; a buffer with a hundred thousand gaps fits.
pub(super) const PROBLEM: TextLimits = TextLimits {
    line_bytes: 4 << 20,
    fields: 4096,
};

/// Tables of profilers; a call stack of thousands of lines fits.
pub(super) const PROFILER: TextLimits = TextLimits {
    line_bytes: 16 << 20,
    fields: 4096,
};

/// Modules of XLA: operands of an instruction, elements of a tuple. Constants make long lines.
pub(super) const MODULE: TextLimits = TextLimits {
    line_bytes: u64::MAX,
    fields: 1 << 20,
};

/// Dimensions of a shape in text.
pub(super) const RANK: usize = 64;

/// Steps of a schedule in text: every step of a lane costs memory, whatever happens on it.
pub(super) const STEPS: u64 = 4_000_000;

/// Gaps of all buffers of a placement problem.
pub(super) const GAPS: usize = 4 << 20;

impl TextLimits {
    /// What is wrong with a line of that length; `None` within the limit.
    pub(super) fn long_line(&self, bytes: u64) -> Option<String> {
        (bytes > self.line_bytes).then(|| format!("the line is longer than {} MiB, the limit", self.line_bytes >> 20))
    }

    /// What is wrong with a record of that many fields.
    pub(super) fn many_fields(&self, fields: usize) -> Option<String> {
        (fields > self.fields).then(|| format!("the line has more than {} fields, the limit", self.fields))
    }

    /// # Errors
    /// The line is too long, or has too many fields.
    pub(super) fn check(
        &self,
        bytes: u64,
        fields: usize,
        place: impl Into<String>,
        advice: &'static str,
    ) -> Result<(), ImportError> {
        match self.long_line(bytes).or_else(|| self.many_fields(fields)) {
            None => Ok(()),
            Some(what) => Err(ImportError::at(what, place, advice)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Input, import_as, importer};
    use highwater_model::progress::{Cancel, Progress};

    #[test]
    fn every_text_reader_has_limits() {
        const LONG: usize = 6 << 20;
        const MANY: usize = (1 << 20) + 9;
        let profiler = "Name,Size(KB),Allocation Time(us),Release Time(us)";
        let module = "HloModule m, is_scheduled=true\n\nENTRY e {\n ";
        let problem = "id,lower,upper,size";
        for (format, before, piece, count, after) in [
            ("planner_problem", problem.to_owned(), ",", LONG, "\na,0,1,4\n"),
            ("planner_problem", format!("{problem}\na,0,1,4"), ",", LONG, "\n"),
            ("planner_problem", format!("{problem}\n\"a\",0,1,4"), ",", LONG, "\n"),
            (
                "planner_problem",
                format!("{problem}\n\"a\",0,1,4"),
                ",\"\"",
                LONG,
                "\n",
            ),
            ("planner_problem", format!("{problem}\n\""), "\n", LONG, "\",0,1,4\n"),
            ("planner_problem", format!("{problem}\n\""), "a\"\"", LONG, "\",0,1,4\n"),
            ("ascend_profiler", profiler.to_owned(), ",", LONG, "\na,1,2,3\n"),
            ("ascend_profiler", format!("{profiler}\na,1,2,3"), ",", LONG, "\n"),
            (
                "ascend_profiler",
                format!("{profiler}\n\""),
                "xxxxx",
                LONG,
                "\",1,2,3\n",
            ),
            (
                "planner_problem",
                "{\"buffers\":[{\"id\":\"a\",\"lower\":0,\"upper\":9,\"size\":1,\"gaps\":[[1,2]".to_owned(),
                ",[1,2]",
                LONG,
                "]}]}",
            ),
            ("xla", format!("{module}p = f32[1"), ",1", MANY, "] parameter(0)\n}\n"),
            (
                "xla",
                format!("{module}p = f32[1] parameter(0)\n ROOT q = f32[1] add(p"),
                ",p",
                MANY,
                ")\n}\n",
            ),
            (
                "xla",
                format!("{module}p = (f32[1]"),
                ",u8[1]",
                MANY,
                ") parameter(0)\n}\n",
            ),
            ("allocation_trace", "device 1G\na x ".to_owned(), "1 ", LONG, "\n"),
            (
                "dtr_log",
                "{\"INSTRUCTION\": \"CONSTANT\", \"NAME\": \"".to_owned(),
                "x",
                LONG,
                "\"}\n",
            ),
        ] {
            let text = [before.as_bytes(), &piece.repeat(count).into_bytes(), after.as_bytes()].concat();
            let mut input = Input::from_bytes("hostile", text).expect("memory");
            let cancel = Cancel::new();
            let row = importer(format).expect("a format");
            let read = import_as(&mut input, Some(row), &Progress::silent(&cancel));
            let error = read.map(|_| ()).expect_err(format).to_string();
            assert!(error.contains("the limit"), "{format} {piece:?}: {error}");
        }
    }
}
