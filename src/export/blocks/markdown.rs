//! The tree as Markdown: an empty line between blocks, and no sign of a file's text is markup.

use super::{Block, Line, Span, Table};
use highwater_model::units::percent_text;

pub(crate) fn markdown(blocks: &[Block]) -> String {
    let blocks: Vec<String> = blocks.iter().map(block).collect();
    blocks.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, words) => format!("{} {}\n", "#".repeat(usize::from(*level)), line(words)),
        Block::Paragraph(words) | Block::Note(words) => format!("{}\n", line(words)),
        Block::Table(rows) => table(rows),
        Block::List(items) | Block::Lines(items) => {
            let item = |(depth, item): &(usize, Line)| format!("{}- {}\n", "  ".repeat(*depth), line(item));
            items.iter().map(item).collect()
        }
        Block::Details(summary, content) => {
            let (summary, content) = (line(summary), markdown(content));
            format!("<details><summary>{summary}</summary>\n\n{content}\n</details>\n")
        }
        Block::Characters(text) => format!("```text\n{text}```\n"),
        Block::Command(command) => format!("    {command}\n"),
        Block::Figure { caption, .. } => format!("{}\n", plain(caption)),
    }
}

fn table(table: &Table) -> String {
    let headings = table
        .headings
        .iter()
        .map(|heading| (heading.text.is_empty(), heading.text.clone()));
    let alignments = table
        .headings
        .iter()
        .map(|heading| if heading.is_figure { "---:|" } else { "---|" });
    let mut out = format!("{}|{}\n", row(headings), alignments.collect::<String>());
    for cells in &table.rows {
        out.push_str(&row(cells.cells.iter().map(|words| (words.is_empty(), cell(words)))));
    }
    out
}

/// Cells that are empty or not, each with its text; an empty text in a cell keeps both spaces.
fn row(cells: impl Iterator<Item = (bool, String)>) -> String {
    let cells = cells.map(|(is_empty, text)| {
        if is_empty {
            " |".to_owned()
        } else {
            format!(" {text} |")
        }
    });
    format!("|{}\n", cells.collect::<String>())
}

fn line(words: &Line) -> String {
    words.0.iter().map(span).collect()
}

/// A line in a table, where bars end cells.
fn cell(words: &Line) -> String {
    let cell = |one: &Span| match one {
        Span::Prose(text) => prose(text).replace('|', "\\|"),
        other => span(other),
    };
    words.0.iter().map(cell).collect()
}

fn span(span: &Span) -> String {
    match span {
        Span::Text(text) | Span::Good(text) | Span::Weak(text) | Span::Hinted { text, .. } => plain(text),
        Span::Below(text) => format!(" {}", plain(text)),
        Span::Prose(text) => prose(text),
        Span::Code(text) => code(text),
        Span::Figure(text) => text.clone(),
        Span::Strong(text) | Span::Bad(text) => format!("**{}**", plain(text)),
        Span::Sign { emoji, .. } => (*emoji).to_owned(),
        Span::Bytes(bytes) => bytes.to_string(),
        Span::Step(step) => step.to_string(),
        Span::Op { step, name } => format!("{step} {}", plain(name)),
        Span::Share(percent) => percent_text(*percent),
    }
}

/// A text whose signs mean themselves, on one line.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '@' => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// A text whose signs mean themselves, but for backticks.
fn prose(text: &str) -> String {
    let letters = text.chars();
    let escaped = letters.flat_map(|letter| "*~<[]".contains(letter).then_some('\\').into_iter().chain([letter]));
    escaped.collect()
}

/// A name as code; a name with a sign that would end the code is plain text.
fn code(text: &str) -> String {
    if text.is_empty() || text.contains(['`', '|', '\n', '\r', '<']) {
        plain(text)
    } else {
        format!("`{text}`")
    }
}

#[cfg(test)]
mod tests {
    use super::{code, plain};

    #[test]
    fn names_of_files_are_no_markup() {
        assert_eq!(
            plain("a|b <img src=x> *c* @d\ne"),
            "a\\|b &lt;img src=x&gt; \\*c\\* \\@d e"
        );
        assert_eq!(
            [code("conv_1/out:0"), code("a|b"), code("`x`")],
            ["`conv_1/out:0`", "a\\|b", "\\`x\\`"]
        );
    }
}
