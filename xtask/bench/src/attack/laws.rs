//! What holds for every run of charz, whatever its arguments and files are.

use std::collections::BTreeMap;
use std::str::Utf8Error;

/// The files of a folder and of those in it by their paths. As `ls -F` has it, a path ends in `/` of a folder, in `@` of a link, which
/// has where it leads for bytes, and in `|` of anything else.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A run of charz that has ended, with the folder before and after it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub words: Vec<String>,
    /// Names of files that it may write; a `*` at the end stands for any rest.
    pub outputs: Vec<String>,
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The signal that it was sent.
    pub sent: Option<i32>,
    pub is_slow: bool,
    /// Whether the system may end it for want of memory, as the page of exit codes has it.
    pub is_short: bool,
    /// Processes that outlived it.
    pub left: usize,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub before: Files,
    pub after: Files,
}

/// The law, and whether it holds, given the exit codes that are documented.
type Law = (&'static str, fn(&Run, &[i32]) -> bool);

const LAWS: [Law; 10] = [
    ("it ends in time", |run, _| !run.is_slow),
    ("nothing but a signal that it was sent ends it", |run, _| {
        run.signal.is_none() || run.signal == run.sent || (run.is_short && [Some(6), Some(9)].contains(&run.signal))
    }),
    ("its exit code is documented, and that of a signal is of the signal that was sent", |run, codes| {
        run.code.is_none_or(|code| codes.contains(&code) && (code <= 128 || run.sent == Some(code - 128)))
    }),
    ("it does not panic", |run, _| {
        let said = [text(&run.err), text(&run.out)].concat();
        let signs = ["panicked at", "RUST_BACKTRACE", "has overflowed its stack", OUT_OF_MEMORY];
        !signs.iter().any(|sign| said.contains(sign) && !(run.is_short && *sign == OUT_OF_MEMORY))
    }),
    ("each line of its errors is its own, and short", |run, _| {
        // What exec says at the end of its program has lines that go on.
        let goes_on = |line: &str| line.starts_with("  ") && run.words.first().is_some_and(|verb| verb == "exec");
        let is_own = |line: &str| line.starts_with("charz: ") || (run.is_short && line.starts_with(OUT_OF_MEMORY));
        text(&run.err).lines().all(|line| (is_own(line) || goes_on(line)) && line.chars().count() < 2000)
    }),
    ("a refusal is one line behind the notes, and prints and writes nothing", |run, _| {
        let notes = ["charz: note: ", "charz: warning: "];
        // A journal that lost lines is reported first, and so is a machine of one node.
        let said = ["damaged and ignored", "nothing is remote"];
        let is_note = |line: &&str| {
            notes.iter().any(|note| line.starts_with(note)) || said.iter().any(|said| line.contains(said))
        };
        let errors = text(&run.err).lines().filter(|line| !is_note(line)).count();
        let is_whole = run.out.is_empty() && run.before == run.after;
        run.code != Some(2) || is_check(run) || (errors == 1 && (is_whole || adds_the_rest(run)))
    }),
    ("a failure has a reason on standard error", |run, _| {
        let failed = [3, 126, 127].iter().any(|code| run.code == Some(*code));
        !failed || is_check(run) || !run.err.is_empty()
    }),
    ("what it prints cannot steer a terminal, nor become part of a page", |run, _| {
        is_harmless(run) && is_no_markup(run)
    }),
    ("it writes nothing but what it was asked for", |run, _| {
        let kept = run.before.iter().all(|(name, bytes)| is_output(run, name) || run.after.get(name) == Some(bytes));
        kept && run.after.keys().all(|name| run.before.contains_key(name) || is_output(run, name))
    }),
    ("no process outlives it", |run, _| run.left == 0),
];

/// The first law that a run breaks.
pub fn broken(run: &Run, codes: &[i32]) -> Option<&'static str> {
    LAWS.iter().find(|(_, holds)| !holds(run, codes)).map(|(law, _)| *law)
}

/// Whether none of the hostile texts is part of a page.
fn is_no_markup(run: &Run) -> bool {
    let is_page = ["html", "svg", "markdown"].iter().any(|format| run.words.iter().any(|word| word == format));
    let mut is_fenced = false;
    !is_page
        || text(&run.out).lines().all(|line| {
            // Between the fences of Markdown every text is itself.
            is_fenced ^= line.starts_with("```");
            is_fenced || !["<script>alert", "<img src=x", "</style></svg>"].iter().any(|markup| line.contains(markup))
        })
}

fn is_harmless(run: &Run) -> bool {
    let is_picture = run.out.starts_with(b"\x89PNG");
    let is_coloured = run.words.iter().any(|word| word.ends_with("always"));
    let steers = |mark: char| {
        (mark.is_control() && !matches!(mark, '\n' | '\t') && !(is_coloured && mark == '\u{1b}'))
            || matches!(mark, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    // What there was no room for may end within a character.
    let is_cut = |error: &Utf8Error| error.error_len().is_none() && run.code == Some(3);
    let plain = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Err(error) if !is_cut(&error) => false,
        _ => !text(bytes).contains(steers),
    };
    plain(&run.err) && (is_picture || plain(&run.out))
}

/// What the system's library prints before it ends a program.
const OUT_OF_MEMORY: &str = "memory allocation of";

/// Whether it has the codes of Nagios, and its answer on standard output.
fn is_check(run: &Run) -> bool {
    run.words.starts_with(&["fleet".to_owned(), "check".to_owned()])
}

/// Whether it added the files that it could read, as the page of exit codes has it.
fn adds_the_rest(run: &Run) -> bool {
    run.words.starts_with(&["fleet".to_owned(), "add".to_owned()]) && text(&run.err).contains("the others were added")
}

fn is_output(run: &Run, name: &str) -> bool {
    // A link may be replaced by what its name was asked for.
    let name = name.trim_end_matches(['@', '|']);
    let name = name.strip_suffix(".journal").unwrap_or(name);
    run.outputs.iter().any(|output| match output.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        // A folder is made for what is to lie in it.
        None => output == name || (name.ends_with('/') && output.starts_with(name)),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    /// A run that breaks no law.
    fn refused() -> Run {
        let before = files(&[("r.json", "{}")]);
        let err = b"charz: note: a note\ncharz: \"r.json\" is no report\n".to_vec();
        Run { code: Some(2), err, after: before.clone(), before, ..Run::default() }
    }

    fn done(out: &str) -> Run {
        Run { code: Some(0), out: out.into(), err: Vec::new(), ..refused() }
    }

    #[test]
    fn each_law_is_broken_by_what_it_forbids() {
        let with =
            |words: &[&str], run: Run| Run { words: words.iter().map(|word| (*word).to_owned()).collect(), ..run };
        let left = |name: &str| Run { after: files(&[("r.json", "{}"), (name, "")]), ..done("") };
        let broken_runs: [Vec<Run>; LAWS.len()] = [
            vec![Run { is_slow: true, ..done("") }],
            vec![Run { code: None, signal: Some(11), sent: Some(15), ..done("") }],
            vec![Run { code: Some(101), ..done("") }, Run { code: Some(130), sent: Some(15), ..done("") }],
            vec![Run { err: b"thread 'main' panicked at a.rs".to_vec(), ..done("") }],
            vec![Run { err: b"hwloc: bad\n".to_vec(), ..done("") }],
            vec![
                Run { out: b"a table".to_vec(), ..refused() },
                Run { err: Vec::new(), ..refused() },
                Run { after: Files::new(), ..refused() },
                with(&["fleet", "add"], Run { after: Files::new(), ..refused() }),
            ],
            vec![Run { code: Some(3), err: Vec::new(), ..done("a table") }],
            vec![
                done("\u{1b}[2J"),
                done("\u{202e}"),
                with(&["--color", "always"], done("\u{9b}")),
                with(&["html"], done("<script>alert(1)</script>")),
                Run { err: "charz: \u{7}\n".into(), ..done("") },
                Run { out: vec![0xff], ..done("") },
            ],
            vec![
                left("pwned"),
                left("r.jsonAbC.tmp"),
                Run { after: files(&[("r.json", "[]")]), ..done("") },
                Run { after: Files::new(), ..done("") },
            ],
            vec![Run { left: 1, ..done("") }],
        ];
        for ((law, _), runs) in LAWS.iter().zip(broken_runs) {
            for run in runs {
                assert_eq!(broken(&run, &[0, 2, 3, 130]), Some(*law), "{run:?}");
            }
        }
        let asked =
            |outputs: &[&str], run: Run| Run { outputs: outputs.iter().map(|&name| name.to_owned()).collect(), ..run };
        let stopped = Run { code: Some(130), sent: Some(2), ..done("") };
        let fine = [
            refused(),
            stopped,
            Run { code: None, signal: Some(9), sent: Some(9), ..done("") },
            done("<script>alert(1)</script>"),
            with(&["--color=always"], done("\u{1b}[1m")),
            with(&["markdown"], done("```sh\n<script>alert(1)</script>\n```\n")),
            Run { out: b"\x89PNG\r\n\x1a\n".to_vec(), ..done("") },
            asked(&["x.json"], left("x.json.journal")),
            asked(&["charz-*"], left("charz-20260102-030405.json")),
            asked(&["new/h.db"], left("new/")),
            with(
                &["fleet", "add"],
                Run {
                    code: Some(2),
                    err: b"charz: warning: left out a\ncharz: the others were added\n".to_vec(),
                    ..done("")
                },
            ),
            Run { code: Some(3), out: b"a table \xe2\x80".to_vec(), err: b"charz: no room\n".to_vec(), ..done("") },
            with(&["fleet", "check"], Run { code: Some(2), out: b"CHARZ CRITICAL".to_vec(), ..done("") }),
            Run {
                code: None,
                signal: Some(6),
                is_short: true,
                err: b"memory allocation of 9 bytes failed\n".to_vec(),
                ..done("")
            },
        ];
        for run in fine {
            assert_eq!(broken(&run, &[0, 2, 3, 130]), None, "{run:?}");
        }
    }
}
