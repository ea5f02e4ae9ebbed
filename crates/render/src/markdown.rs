//! Texts as Markdown of GitHub's kind (<https://github.github.com/gfm/>), for a wiki or a merge request.
//!
//! What is most worth reading comes first, and what has no room in a comment is left out, and said to be: GitHub refuses comments
//! of more than 65,536 characters.

mod words;

use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::{self, Block};
use charz_analysis::figure::{Figure, Table};
use charz_analysis::page::Page;
use charz_data::escape::{counted, one_line};
use words::{fenced, inert, markup};

/// The most characters of a comment, less what the last note takes. Counted in bytes, of which there are never fewer.
pub const COMMENT: usize = 65_536 - 512;

/// The most rows of a table, and of one that is folded: more are no help in a comment.
const MOST_ROWS: usize = 300;
const MOST_FOLDED: usize = 60;

/// The most entries of a list that are not folded.
const MOST_ITEMS: usize = 12;

/// Writes the page as a comment.
pub fn write(page: &Page, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    text(&outline::page(page), COMMENT, out)
}

/// Writes blocks as far as there is room.
pub fn text(blocks: &[Block<'_>], most: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    let mut left_out = 0_usize;
    for piece in pieces(blocks) {
        if text.len().saturating_add(piece.len()) > most {
            left_out += 1;
        } else {
            text += &piece;
        }
    }
    if left_out > 0 {
        let parts = counted(left_out, "part");
        text += &format!("\n_{parts} left out: a comment has no room for more. The report has everything._\n");
    }
    out.write_all(text.trim_start().as_bytes())
}

/// Pieces that need no neighbour. A list is one piece.
fn pieces(blocks: &[Block<'_>]) -> Vec<String> {
    let is_item = |block: &Block<'_>| matches!(block, Block::Item(..));
    blocks.chunk_by(|one, other| is_item(one) && is_item(other)).flat_map(run).collect()
}

fn run(blocks: &[Block<'_>]) -> Vec<String> {
    let foreign = |text: &str| inert(&one_line(text));
    let piece = match &blocks[0] {
        Block::Section(_, blocks) if outline::are_pictures(blocks) => return Vec::new(),
        Block::Section(heading, blocks) => {
            return [format!("\n## {}\n", foreign(heading))].into_iter().chain(pieces(blocks)).collect();
        }
        Block::Item(..) => list(blocks),
        Block::Title(title) => format!("\n# {}\n", foreign(title)),
        Block::Caption(caption) => format!("\n### {}\n", foreign(caption)),
        Block::Lead(words) | Block::Text(words) => format!("\n{}\n", foreign(words)),
        Block::Step(what, launch) => {
            let launch = launch.as_ref().map(|launch| fenced(launch)).unwrap_or_default();
            format!("\n- {}\n{launch}", foreign(what))
        }
        Block::Line(label, entries) => format!("\n**{}** {}\n", foreign(label), foreign(&entries.join(" · "))),
        Block::Legend(_) | Block::Gap => String::new(),
        Block::Code(words) => format!("\n{}", fenced(words)),
        Block::Table { heading, words, rows, .. } => table(heading, words, rows, MOST_ROWS, 0),
        Block::Data(table) => behind(table),
        Block::Figure(shown) => figure(shown).unwrap_or_default(),
        Block::Folded(summary, blocks) | Block::Long(summary, blocks) => details(summary, &pieces(blocks).concat()),
    };
    vec![piece]
}

/// A list of which the end is folded.
fn list(items: &[Block<'_>]) -> String {
    let line = |item: &Block<'_>| match item {
        Block::Item(label, words) if label.is_empty() => format!("- {}\n", inert(&one_line(words))),
        Block::Item(label, words) => format!("- **{}** {}\n", inert(&one_line(label)), inert(&one_line(words))),
        _ => String::new(),
    };
    let lines: Vec<String> = items.iter().map(line).collect();
    let (shown, rest) = lines.split_at(lines.len().min(MOST_ITEMS));
    let first = rest[..rest.len().min(MOST_FOLDED)].concat();
    let folded = match rest.len() {
        0 => String::new(),
        more if more > MOST_FOLDED => {
            details(&format!("{more} more, of which these are the first {MOST_FOLDED}"), &first)
        }
        more => details(&format!("{more} more"), &first),
    };
    format!("\n{}{folded}", shown.concat())
}

fn table(heading: &[String], words: &[usize], rows: &[Vec<String>], most: usize, left_out: usize) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| inert(&one_line(cell))).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<&str> = (0..heading.len()).map(|at| if words.contains(&at) { "---" } else { "---:" }).collect();
    let mut text = format!("\n{}| {} |\n", line(heading), rule.join(" | "));
    text.extend(rows.iter().take(most).map(|row| line(row)));
    let rest = rows.len().saturating_sub(most) + left_out;
    if rest > 0 {
        text += &format!("\n_{} left out; the report has them._\n", counted(rest, "more row"));
    }
    text
}

/// What a figure says, and the numbers behind it, folded; nothing where there are none.
fn figure(figure: &Figure) -> Option<String> {
    let data = figure.table.as_ref().filter(|table| !table.rows.is_empty())?;
    let about: String =
        figure.about.iter().map(|sentence| format!("{}.\n", inert(sentence.trim_end_matches('.')))).collect();
    Some(details(&format!("{} ({})", figure.title, counted(data.rows.len(), "number")), &(about + &behind(data))))
}

fn behind(data: &Table) -> String {
    let Block::Table { heading, words, rows, .. } = Block::table(data) else { return String::new() };
    table(&heading, &words, &rows, MOST_FOLDED, data.left_out)
}

/// Something that is folded until it is asked for. The blank line lets Markdown begin inside of HTML.
fn details(summary: &str, inside: &str) -> String {
    format!("\n<details><summary>{}</summary>\n\n{}\n\n</details>\n", markup(summary), inside.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{EVIL, golden, hostile, written};
    use charz_analysis::page::{Source, page};

    fn shown(report: &charz_data::report::Report, name: &str) -> String {
        written(|out| write(&page(&[Source { name, report }]), &TerminalStyle::PLAIN, out))
    }

    #[test]
    fn every_number_stands_in_a_table() {
        let report = golden();
        let text = shown(&report, "golden");
        let page = page(&[Source { name: "golden", report: &report }]);
        for row in page.figures().filter_map(|figure| figure.table.as_ref()).flat_map(|table| &table.rows) {
            let line = row.data.iter().map(|datum| inert(&datum.text)).collect::<Vec<_>>().join(" | ");
            assert!(text.contains(&line), "{line}");
        }
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    /// What of a line is neither code nor escaped: a run of backticks opens code, one as long closes it, and a backslash makes what
    /// follows it a word.
    fn outside_of_code(line: &str) -> String {
        let (mut outside, mut rest) = (String::new(), line);
        while let Some(start) = rest.find(['`', '\\']) {
            outside += &rest[..start];
            if rest[start..].starts_with('\\') {
                rest = rest.get(start + 2..).expect("escapes are of ASCII");
                continue;
            }
            let run = rest[start..].chars().take_while(|mark| *mark == '`').count();
            let inside = &rest[start + run..];
            let is_end = |at: &usize| {
                inside[*at..].chars().take_while(|mark| *mark == '`').count() == run && !inside[..*at].ends_with('`')
            };
            let end = inside.match_indices('`').map(|(at, _)| at).find(is_end).expect("code ends");
            rest = &inside[end + run..];
        }
        outside + rest
    }

    #[test]
    fn hostile_words_are_words() {
        let text = shown(&hostile(), EVIL);
        assert!(text.len() <= 65_536, "{}", text.len());
        for markup in ["<script", "<img", "</script", "](", "@all", "![", "\nhttp", "http://", "= x", "\n# x", "$x"] {
            // Inside of code nothing is markup.
            let mut fenced = false;
            for line in text.lines() {
                fenced ^= line.starts_with("```");
                if fenced || !line.contains(markup) {
                    continue;
                }
                // A line of HTML knows nothing of Markdown.
                let is_html = line.starts_with("<details>");
                let outside = if is_html { line.to_owned() } else { outside_of_code(line) };
                let is_inert = is_html && ["](", "!["].contains(&markup);
                assert!(is_inert || !outside.contains(markup), "{markup}: {line}");
            }
        }
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with("| "))) {
            assert_eq!(columns(pair[0]), columns(pair[1]), "{}\n{}", pair[0], pair[1]);
        }
    }

    #[test]
    fn a_long_page_fits_a_comment_and_says_so() {
        let mut report = golden();
        let cell = report.cells[0].clone();
        report.plan.kernels = (0..400).map(|at| format!("kernel-{at}-{}", "x".repeat(300))).collect();
        report.cells = report
            .plan
            .kernels
            .iter()
            .flat_map(|kernel| {
                [1, 2].map(|workers| charz_data::report::Cell { kernel: kernel.clone(), workers, ..cell.clone() })
            })
            .collect();
        let text = shown(&report, "long");
        assert!(text.len() <= 65_536 && text.contains("left out"), "{}", text.len());
    }
}
