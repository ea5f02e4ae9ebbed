//! Findings and tables as Markdown of GitHub's kind (<https://github.github.com/gfm/>), for a wiki or a merge request.
//!
//! What is most worth reading comes first, and what has no room in a comment is left out, and said to be: GitHub refuses comments
//! of more than 65,536 characters.

mod words;

use std::io::{self, Write};

use super::look::Look;
use charz_analysis::figure::{Figure, Table};
use charz_analysis::page::{About, Page, Verdict};
use charz_data::escape::{counted, one_line};
use charz_data::report::Severity;
use charz_data::units;
use words::{code, fenced, inert, markup};

/// The most characters of a comment, less what the last note takes. Counted in bytes, of which there are never fewer.
const MOST: usize = 65_536 - 512;

/// The most rows of a table: more are no help in a comment.
const MOST_ROWS: usize = 60;

/// The most doubts that are told one by one.
const MOST_DOUBTS: usize = 12;

/// Writes the page.
///
/// # Errors
/// Those of the output.
pub fn write(page: &Page, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    let mut left_out = 0_usize;
    for piece in pieces(page) {
        if text.len() + piece.len() > MOST {
            left_out += 1;
        } else {
            text += &piece;
        }
    }
    if left_out > 0 {
        let parts = counted(left_out, "part");
        text += &format!("\n_{parts} left out: a comment has no room for more. The report has everything._\n");
    }
    out.write_all(text.as_bytes())
}

/// What may stand alone, the weightiest first.
fn pieces(page: &Page) -> Vec<String> {
    let mut pieces = vec![format!("# {}\n", inert(&page.title))];
    pieces.extend(page.sources.iter().map(ending));
    let many = page.sources.len() > 1;
    let of = |at: usize| match page.sources.get(at).filter(|_| many) {
        Some(source) => format!(" ({})", code(&source.name)),
        None => String::new(),
    };
    let summary = page.summary.iter().map(|(at, words)| format!("- {}{}\n", inert(&one_line(words)), of(*at)));
    pieces.extend(listed("Summary", summary.collect()));
    let differences = page.differences.iter().map(|difference| {
        let named = difference.words.iter().zip(&page.sources);
        let named: Vec<String> =
            named.map(|(words, source)| format!("{} {}", code(&source.name), inert(&one_line(words)))).collect();
        format!("- {}: {}\n", inert(difference.label), named.join("; "))
    });
    pieces.extend(listed("In what the reports differ", differences.collect()));
    pieces.extend(verdicts(page));
    let findings = page.findings.iter();
    let findings = findings.map(|(at, finding)| format!("- {}{}\n", inert(&one_line(&finding.text)), of(*at)));
    pieces.extend(listed("Findings", findings.collect()));
    let doubts = page.doubts.iter().map(|(at, doubt)| {
        let weight = match doubt.severity {
            Severity::Note => "note",
            Severity::Suspect => "**?**",
            Severity::Invalid => "**invalid**",
        };
        let code_of = doubt.code.as_ref().map(|check| format!(" {}", code(check))).unwrap_or_default();
        let more = match doubt.cells.len() {
            0 | 1 => String::new(),
            all => format!(" (and {} like it)", counted(all - 1, "cell")),
        };
        format!("- {weight}{code_of} {}: {}{more}{}\n", code(&doubt.cell), inert(&one_line(&doubt.reason)), of(*at))
    });
    pieces.extend(listed("What is suspect, invalid or missing", doubts.collect()));
    for section in &page.sections {
        let tables: Vec<String> = section.figures.iter().filter_map(figure).collect();
        if !tables.is_empty() {
            pieces.push(format!("\n## {}\n\n", inert(section.title)));
            pieces.extend(tables);
        }
    }
    let left_out = page.left_out.iter().map(|sentence| format!("- {}\n", inert(&one_line(sentence))));
    pieces.extend(listed("Left out", left_out.collect()));
    pieces.push("\n## Environment\n\n".to_owned());
    pieces.extend(page.sources.iter().map(environment));
    pieces
}

/// The best mapping of each kernel, and what the system makes of it.
fn verdicts(page: &Page) -> Option<String> {
    let heading = ["kernel", "best mapping", "workers", "number", "saturates at", "auto"];
    let row = |(at, verdict): &(usize, Verdict)| {
        let alike =
            if verdict.alike.is_empty() { String::new() } else { format!(" (as {})", verdict.alike.join(", ")) };
        let mapping = format!("{}{}{alike}", verdict.mapping, units::doubt(verdict.doubtful));
        let saturates = verdict.saturates.as_deref().unwrap_or("-");
        let workers = verdict.workers.to_string();
        let words: [&str; 6] = [&verdict.kernel, &mapping, &workers, &verdict.best, saturates, &verdict.auto];
        let words = words.map(|words| inert(&one_line(words)));
        let report = inert(&page.sources.get(*at).map(|source| source.name.clone()).unwrap_or_default());
        (report, words)
    };
    let many = page.sources.len() > 1;
    let mut text = String::new();
    for (report, words) in page.verdicts.iter().take(MOST_ROWS).map(row) {
        let report = if many { format!("{report} | ") } else { String::new() };
        text += &format!("| {report}{} |\n", words.join(" | "));
    }
    let columns = if many { [&["report"], heading.as_slice()].concat() } else { heading.to_vec() };
    let head = format!("| {} |\n| {} |\n", columns.join(" | "), vec!["---"; columns.len()].join(" | "));
    (!text.is_empty()).then(|| format!("\n## Verdicts\n\n{head}{text}"))
}

/// A heading with its list in one piece, of which the end is folded; nothing for an empty list.
fn listed(heading: &str, lines: Vec<String>) -> Option<String> {
    let first = lines.first()?;
    let shown: String = lines.iter().take(MOST_DOUBTS).map(String::as_str).collect();
    let rest: String = lines.iter().skip(MOST_DOUBTS).take(MOST_ROWS).map(String::as_str).collect();
    debug_assert!(first.ends_with('\n'));
    let folded = match lines.len().saturating_sub(MOST_DOUBTS) {
        0 => String::new(),
        more if more > MOST_ROWS => details(&format!("{more} more, of which these are the first {MOST_ROWS}"), &rest),
        more => details(&format!("{more} more"), &rest),
    };
    Some(format!("\n## {heading}\n\n{shown}\n{folded}"))
}

/// How a sweep ended, in a line.
fn ending(about: &About) -> String {
    let counts: Vec<String> = about.counts.iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
    let counts = if counts.is_empty() { "no cells".to_owned() } else { format!("cells: {}", counts.join(", ")) };
    let incomplete = about.incomplete.as_ref().map(|why| format!("; **not complete**: {}", inert(&one_line(why))));
    let started = inert(&one_line(&about.started));
    format!("\n{}, started {started}; {counts}{}\n", code(&about.name), incomplete.unwrap_or_default())
}

/// What a figure says, and the numbers behind it, folded; nothing where there are none.
fn figure(figure: &Figure) -> Option<String> {
    let table = figure.table.as_ref().filter(|table| !table.rows.is_empty())?;
    let about: String =
        figure.about.iter().map(|sentence| format!("{}.\n", inert(sentence.trim_end_matches('.')))).collect();
    Some(details(
        &format!("{} ({})", figure.title, counted(table.rows.len(), "number")),
        &(about + "\n" + &rows(table)),
    ))
}

fn rows(table: &Table) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = line(&mut table.heading.iter().map(|name| inert(name)));
    text += &line(&mut table.heading.iter().map(|_| "---".to_owned()));
    for row in table.rows.iter().take(MOST_ROWS) {
        text += &line(&mut row.data.iter().map(|datum| inert(&one_line(&datum.text))));
    }
    let rest = table.rows.len().saturating_sub(MOST_ROWS) + table.left_out;
    if rest > 0 {
        text += &format!("\n_{} more; the report has them._\n", counted(rest, "row"));
    }
    text
}

fn environment(about: &About) -> String {
    let facts = about.environment.iter().chain(&about.plan);
    let mut text = String::from("| | |\n| --- | --- |\n");
    text.extend(facts.map(|fact| format!("| {} | {} |\n", inert(fact.label), inert(&one_line(&fact.words)))));
    let disturbances: Vec<String> =
        about.disturbances.iter().map(|sentence| format!("- {}\n", inert(&one_line(sentence)))).collect();
    if !disturbances.is_empty() {
        text += &format!("\nDisturbing when it began:\n\n{}", disturbances.concat());
    }
    text += &format!("\nAnother report like it:\n\n{}", fenced(&about.command));
    details(&format!("{}: machine, system, plan", about.name), &text)
}

/// Something that is folded until it is asked for. The blank line lets Markdown begin inside of HTML.
fn details(summary: &str, inside: &str) -> String {
    format!("<details><summary>{}</summary>\n\n{}\n\n</details>\n\n", markup(summary), inside.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{EVIL, golden, hostile};
    use charz_analysis::page::{Source, page};

    fn shown(report: &charz_data::report::Report, name: &str) -> String {
        let mut out = Vec::new();
        write(&page(&[Source { name, report }]), &Look::PLAIN, &mut out).unwrap();
        String::from_utf8(out).unwrap()
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
