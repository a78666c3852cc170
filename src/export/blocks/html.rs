//! The tree as HTML: every text is escaped, and every element that is opened is closed.

use super::{Block, Line, Span, Table};
use crate::svg::text::escaped;
use highwater_model::units::{grouped, percent_text};

/// The blocks in order; tables and lists without rows are left out.
pub(crate) fn html(blocks: &[Block]) -> String {
    blocks.iter().map(block).collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, words) => format!("<h{level}>{}</h{level}>\n", line(words)),
        Block::Paragraph(words) | Block::Note(words) => format!("<p>{}</p>\n", line(words)),
        Block::Table(rows) => table(rows),
        _ if block.is_empty() => String::new(),
        Block::List(items) | Block::Lines(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|(_, item)| format!("<li>{}</li>\n", line(item)))
                .collect();
            let items = items.concat();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Details(summary, content) => {
            let (summary, content) = (line(summary), html(content));
            format!("<details><summary>{summary}</summary>\n{content}</details>\n")
        }
        Block::Characters(text) => format!("<pre>{}</pre>\n", escaped(text)),
        Block::Command(command) => format!("<pre><code>{}</code></pre>\n", escaped(command)),
        Block::Figure { position, svg, caption } => format!(
            "<figure data-lane=\"{position}\">\n<div class=\"scroll\">\n{svg}</div>\n<output></output>\n\
             <figcaption>{}</figcaption>\n</figure>\n",
            escaped(caption)
        ),
    }
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let caption = escaped(&table.caption);
    let mut out = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n<caption>{caption}</caption>\n<thead><tr>"
    );
    for heading in &table.headings {
        let class = if heading.is_figure { " class=\"n\"" } else { "" };
        out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escaped(&heading.text)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str(if row.is_base { "<tr class=\"base\">" } else { "<tr>" });
        for (position, cell) in row.cells.iter().enumerate() {
            let is_figure = table.headings.get(position).is_some_and(|heading| heading.is_figure);
            let cell = line(cell);
            out.push_str(&match (position, is_figure) {
                (0, false) => format!("<th scope=\"row\">{cell}</th>"),
                (_, true) => format!("<td class=\"n\">{cell}</td>"),
                (_, false) => format!("<td class=\"t\">{cell}</td>"),
            });
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

pub(crate) fn line(words: &Line) -> String {
    words.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    match span {
        Span::Text(text) | Span::Prose(text) | Span::Figure(text) => escaped(text),
        Span::Code(text) => format!("<code>{}</code>", escaped(text)),
        Span::Strong(text) => format!("<strong>{}</strong>", escaped(text)),
        Span::Sign { word, .. } => escaped(word),
        Span::Good(text) => format!("<span class=\"good\">{}</span>", escaped(text)),
        Span::Bad(text) => format!("<span class=\"bad\">{}</span>", escaped(text)),
        Span::Weak(text) => format!("<span class=\"weak\">{}</span>", escaped(text)),
        Span::Below(text) => format!("<small>{}</small>", escaped(text)),
        Span::Bytes(bytes) => format!("<span title=\"{}\">{bytes}</span>", escaped(&bytes.exact())),
        Span::Hinted { text, hint } => format!("<span title=\"{}\">{}</span>", escaped(hint), escaped(text)),
        Span::Step(step) => grouped(u64::from(*step)),
        Span::Op { step, name } => format!("step {}, {}", grouped(u64::from(*step)), escaped(name)),
        Span::Share(percent) => format!(
            "{}<span class=\"bar\" aria-hidden=\"true\" style=\"width:{:.1}%\"></span>",
            escaped(&percent_text(*percent)),
            percent.clamp(0.0, 100.0)
        ),
    }
}
