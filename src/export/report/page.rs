//! HTML, piece by piece: every text is escaped on its way in, every element that is opened is closed.

use crate::svg::text::escaped;
use highwater_model::units::{Bytes, percents};

/// A page on its way.
#[derive(Default)]
pub(super) struct Page {
    html: String,
}

impl Page {
    /// What was written so far.
    pub(super) fn finish(self) -> String {
        self.html
    }

    /// Markup as it is.
    pub(super) fn raw(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// An element with a text.
    pub(super) fn line(&mut self, tag: &str, text: &str) {
        self.markup(tag, &escaped(text));
    }

    /// An element with markup.
    pub(super) fn markup(&mut self, tag: &str, html: &str) {
        self.html.push_str(&format!("<{tag}>{html}</{tag}>\n"));
    }

    /// A heading that can be linked to, at the beginning of its part.
    pub(super) fn part(&mut self, id: &str, title: &str) {
        self.html
            .push_str(&format!("<h2 id=\"{id}\">{}</h2>\n", escaped(title)));
    }

    /// Lines of markup as a list; nothing where there is none.
    pub(super) fn list(&mut self, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.html.push_str("<ul>\n");
        for item in items {
            self.markup("li", item);
        }
        self.html.push_str("</ul>\n");
    }

    /// A command, to be copied.
    pub(super) fn command(&mut self, text: &str) {
        self.html
            .push_str(&format!("<pre><code>{}</code></pre>\n", escaped(text)));
    }

    /// A table; nothing where it has no row.
    pub(super) fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let caption = escaped(&table.caption);
        self.html.push_str(&format!(
            "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n<caption>{caption}</caption>\n<thead><tr>"
        ));
        for (heading, is_number) in &table.headings {
            let class = if *is_number { " class=\"n\"" } else { "" };
            let heading = escaped(heading);
            self.html.push_str(&format!("<th scope=\"col\"{class}>{heading}</th>"));
        }
        self.html.push_str("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            let class = if row.is_base { " class=\"base\"" } else { "" };
            self.html.push_str(&format!("<tr{class}>"));
            for (number, cell) in row.cells.iter().enumerate() {
                let is_number = table.headings.get(number).is_some_and(|(_, is_number)| *is_number);
                self.html.push_str(&match (number, is_number) {
                    (0, false) => format!("<th scope=\"row\">{cell}</th>"),
                    (_, true) => format!("<td class=\"n\">{cell}</td>"),
                    (_, false) => format!("<td class=\"t\">{cell}</td>"),
                });
            }
            self.html.push_str("</tr>\n");
        }
        self.html.push_str("</tbody>\n</table></div>\n");
    }
}

/// A table; cells are markup.
pub(super) struct Table {
    caption: String,
    headings: Vec<(String, bool)>,
    rows: Vec<Row>,
}

struct Row {
    cells: Vec<String>,
    is_base: bool,
}

impl Table {
    /// A heading that starts with `>` stands over numbers.
    pub(super) fn new(caption: &str, headings: &[&str]) -> Self {
        let heading = |text: &&str| (text.trim_start_matches('>').to_owned(), text.starts_with('>'));
        Self {
            caption: caption.to_owned(),
            headings: headings.iter().map(heading).collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(Row { cells, is_base: false });
    }

    /// A row that others are compared with.
    pub(super) fn base_row(&mut self, cells: Vec<String>) {
        self.rows.push(Row { cells, is_base: true });
    }
}

/// Bytes that tell their exact number where a reader points at them.
pub(super) fn bytes(bytes: Bytes) -> String {
    format!("<span title=\"{}\">{bytes}</span>", escaped(&bytes.exact()))
}

/// A text on a line of its own below another.
pub(super) fn below(text: &str) -> String {
    format!("<small>{}</small>", escaped(text))
}

/// A signed percentage with one decimal, such as `+3.4 %`; what would be shown as nothing is called less than that.
fn signed_percent(share: f64) -> String {
    if share.abs() < 0.05 {
        return "less than 0.1\u{a0}%".to_owned();
    }
    let sign = if share < 0.0 { "\u{2212}" } else { "+" };
    let percent = percents(share.abs(), 1);
    // It stands in cells, and is not broken.
    format!("{sign}{}", percent.replace(' ', "\u{a0}"))
}

/// How much larger something is than what it is compared with: `+1.2 GiB (+3.4 %)`.
#[expect(clippy::cast_precision_loss, reason = "a percentage")]
pub(super) fn difference(now: Bytes, base: Bytes) -> String {
    if now == base {
        return "the same".to_owned();
    }
    let (sign, by) = if now > base {
        ("+", now.saturating_sub(base))
    } else {
        ("\u{2212}", base.saturating_sub(now))
    };
    if base == Bytes::ZERO {
        return format!("{sign}{by}");
    }
    let share = (now.get() as f64 / base.get() as f64 - 1.0) * 100.0;
    format!("{sign}{by} ({})", signed_percent(share))
}

/// The same of counts.
#[expect(clippy::cast_precision_loss, reason = "a percentage")]
pub(super) fn count_difference((now, base): (u64, u64), text: impl Fn(u64) -> String) -> String {
    if now == base {
        return "the same".to_owned();
    }
    let sign = if now > base { "+" } else { "\u{2212}" };
    let by = text(now.abs_diff(base));
    if base == 0 {
        return format!("{sign}{by}");
    }
    let share = (now as f64 / base as f64 - 1.0) * 100.0;
    format!("{sign}{by} ({})", signed_percent(share))
}

#[cfg(test)]
mod tests {
    use super::{count_difference, difference};
    use highwater_model::units::Bytes;

    #[test]
    fn differences_have_a_sign_and_a_share() {
        let cases = [
            (Bytes::mib(2), Bytes::mib(2), "the same"),
            (Bytes::mib(3), Bytes::mib(2), "+1.000 MiB (+50.0 %)"),
            (Bytes::mib(1), Bytes::mib(2), "−1.000 MiB (−50.0 %)"),
            (Bytes::mib(1), Bytes::ZERO, "+1.000 MiB"),
            (Bytes::mib(9999), Bytes::mib(10000), "−1.000 MiB (less than 0.1 %)"),
        ];
        for (now, base, text) in cases {
            assert_eq!(difference(now, base).replace('\u{a0}', " "), text);
        }
        assert_eq!(
            count_difference((5, 10), |count| count.to_string()).replace('\u{a0}', " "),
            "−5 (−50.0 %)"
        );
    }
}
