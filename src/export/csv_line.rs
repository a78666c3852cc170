//! Lines of CSV: fields with a comma, a quote or a line break are quoted.

#[derive(Default)]
pub(super) struct CsvLine {
    text: String,
    n_fields: usize,
}

impl CsvLine {
    pub(super) fn push(&mut self, field: &str) {
        if self.n_fields > 0 {
            self.text.push(',');
        }
        self.n_fields += 1;
        if field.contains([',', '"', '\n', '\r']) {
            self.text.push('"');
            self.text.push_str(&field.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(field);
        }
    }

    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.text.push('\n');
        out.extend_from_slice(self.text.as_bytes());
        self.text.clear();
        self.n_fields = 0;
    }
}
