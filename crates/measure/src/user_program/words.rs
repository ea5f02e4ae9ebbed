//! The words of a command line, and what takes the place of the names in braces.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use charz_data::program::assignment;
use charz_data::{Program, quote};
use rustix::fs::{Access, access};

/// A command line as a shell would split it, without what a shell would do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The assignments before the program.
    pub environment: Vec<(String, String)>,
    pub program: String,
    pub arguments: Vec<String>,
}

/// What a run is given: the values of the names in braces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) threads: usize,
    pub(super) cpus: &'a [u32],
    pub(super) mapping: &'a str,
    /// The number of a copy, from 0; `None` for one program with all threads.
    pub(super) rank: Option<usize>,
}

impl Given<'_> {
    /// A text with what takes the place of the names in braces.
    pub(super) fn fill(&self, text: &str) -> String {
        let filled = Program::fill(text, self.threads, self.cpus, self.mapping);
        let rank = self.rank.map(|rank| rank.to_string());
        rank.map_or(filled.clone(), |rank| filled.replace("{rank}", &rank))
    }
}

impl Words {
    /// # Errors
    /// Why it is no command line, as a clause.
    pub fn split(text: &str) -> Result<Self, String> {
        let words =
            shlex::split(text).ok_or("it ends within a quotation or after a backslash; close it, or take it out")?;
        let assignments = words.iter().take_while(|word| assignment(word).is_some()).count();
        let environment = words[..assignments].iter().filter_map(|word| assignment(word));
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut words = words.into_iter().skip(assignments);
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or("it names no program; example: './bench --threads {threads}'")?;
        Ok(Words { environment, program, arguments: words.collect() })
    }

    /// The words of one run.
    pub(super) fn fill(&self, given: Given<'_>) -> Self {
        let fill = |text: &String| given.fill(text);
        Words {
            environment: self.environment.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
            program: fill(&self.program),
            arguments: self.arguments.iter().map(fill).collect(),
        }
    }

    /// Whether there is such a program and it may be executed, unless its name depends on the run.
    ///
    /// # Errors
    /// What is wrong, as a clause.
    pub fn check(&self) -> Result<(), String> {
        if self.program.contains('{') {
            return Ok(());
        }
        let name = quote(&self.program);
        if self.program.contains('/') {
            let path = Path::new(&self.program);
            return match path.metadata() {
                Err(error) => Err(format!("{name} cannot be run: {error}")),
                Ok(about) if about.is_dir() => Err(format!("{name} is a folder; name a program in it")),
                Ok(_) if !may_execute(path) => {
                    Err(format!("{name} is not executable; make it so with chmod +x, or name its interpreter"))
                }
                Ok(_) => Ok(()),
            };
        }
        match self.file() {
            Some(_) => Ok(()),
            None if Path::new(&self.program).is_file() => {
                Err(format!("there is no program {name} in PATH; for the file in this folder write ./{}", self.program))
            }
            None => Err(format!("there is no program {name} in PATH; write its path, or install it")),
        }
    }

    /// The file of the program, as a start looks for it; `None` where there is none, or its name depends on the run.
    pub(super) fn file(&self) -> Option<PathBuf> {
        if self.program.contains('{') {
            return None;
        }
        if self.program.contains('/') {
            return Some(PathBuf::from(&self.program)).filter(|file| file.is_file());
        }
        let own = self.environment.iter().rev().find(|(variable, _)| variable == "PATH").map(|(_, value)| value.into());
        let path = own.or_else(|| env::var_os("PATH")).unwrap_or_default();
        let found =
            |folder: PathBuf| Some(folder.join(&self.program)).filter(|file| file.is_file() && may_execute(file));
        env::split_paths(&path).find_map(found)
    }
}

fn may_execute(path: &Path) -> bool {
    access(OsStr::from_bytes(path.as_os_str().as_bytes()), Access::EXEC_OK).is_ok()
}

/// The first word of a command line, quotations included, in which a shell would see more than letters: an operator, a variable, a pattern of file
/// names, or a home. What is quoted, or behind a backslash, is meant for the program.
fn for_a_shell(line: &str) -> Option<&str> {
    let (mut begin, mut quote, mut found, mut marks) = (0, None, false, line.char_indices().peekable());
    while let Some((at, mark)) = marks.next() {
        let next = marks.peek().map(|(_, next)| *next);
        let is_name = next.is_some_and(|next| next.is_ascii_alphabetic() || ['_', '{', '('].contains(&next));
        match (quote, mark) {
            (None, ' ' | '\t' | '\n') if found => return Some(&line[begin..at]),
            (None, ' ' | '\t' | '\n') => begin = at + 1,
            (None, '\'' | '"') => quote = Some(mark),
            (Some(open), _) if open == mark => quote = None,
            (None | Some('"'), '\\') => _ = marks.next(),
            (None | Some('"'), '$') => found |= is_name,
            (None | Some('"'), '`') => found = true,
            (None, '~') => found |= at == begin && next.is_none_or(|next| ['/', ' '].contains(&next)),
            (None, '|' | '&' | ';' | '<' | '>' | '*') => found = true,
            _ => {}
        }
    }
    found.then(|| &line[begin..])
}

/// What the user should know about how a program is run; `None` where there is nothing.
pub fn note(program: &Program) -> Option<String> {
    if let Some(word) = for_a_shell(&program.command) {
        return Some(format!(
            "--command: no shell runs, so {word:?} is an argument as it stands; for a shell write sh -c '…'"
        ));
    }
    program.in_copies().then(|| {
        "--command has no {threads}: N threads are N copies of the program, one per CPU; if it takes a number of threads, write \
         {threads} in its place, e.g. 'OMP_NUM_THREADS={threads} PROGRAM'"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: Given<'_> = Given { threads: 3, cpus: &[0, 1, 2, 8], mapping: "round-robin", rank: None };

    fn words(text: &str) -> Words {
        Words::split(text).unwrap()
    }

    #[test]
    fn assignments_stand_before_the_program_only() {
        let found = words("A=1 _b='2 3' ./x C=4 -n{threads} \"a b\"");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.environment, [pair("A", "1"), pair("_b", "2 3")]);
        assert_eq!(
            (found.program.as_str(), found.arguments.as_slice()),
            ("./x", ["C=4", "-n{threads}", "a b"].map(String::from).as_slice())
        );
        assert_eq!(words("1A=2").program, "1A=2", "no shell takes this for an assignment");
        for wrong in ["", "  ", "A=1", "'x", "x \\", "''"] {
            assert!(Words::split(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn names_in_braces_are_filled_wherever_they_stand() {
        let found = words("N={n} ./x-{threads} {cpus} {mapping} {rank} {other}").fill(GIVEN);
        assert_eq!(found.environment[0].1, "3");
        assert_eq!(found.program, "./x-3");
        assert_eq!(found.arguments, ["0-2,8", "round-robin", "{rank}", "{other}"]);
        assert_eq!(words("x {rank}").fill(Given { rank: Some(7), ..GIVEN }).arguments, ["7"]);
    }

    #[test]
    fn what_a_shell_would_do_is_told_from_words() {
        for word in [
            "<in",
            ">/dev/null",
            "2>&1",
            "&>log",
            "a|b",
            "$HOME",
            "${HOME}/x",
            "$(nproc)",
            "~/x",
            "~",
            "*.txt",
            "d/*",
            "|",
            "&&",
            ";",
            "\"$HOME\"",
            "`id`",
        ] {
            for line in [format!("./x {word} b"), format!("./x -a {word}")] {
                assert_eq!(for_a_shell(&line), Some(word), "{line}");
            }
        }
        for word in [
            "a",
            "-x=1",
            "'a|b'",
            "5$",
            "$1",
            "x~",
            "'--glob=*'",
            "\\*",
            "\"a;b\"",
            "'$HOME'",
            "\\$HOME",
            "{threads}",
            "sh -c 'a | b; $c'",
        ] {
            assert_eq!(for_a_shell(&format!("./x {word} b")), None, "{word}");
        }
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_what_to_do() {
        for (command, word) in [
            ("/nonexistent/x", "No such file"),
            ("/", "folder"),
            ("no-such-program-anywhere", "PATH"),
            ("PATH=/nonexistent sh", "PATH"),
        ] {
            let why = words(command).check().unwrap_err();
            assert!(why.contains(word), "{command}: {why}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let why = words(file.path().to_str().unwrap()).check().unwrap_err();
        assert!(why.contains("chmod"), "{why}");
        assert_eq!(words("sh -c true").check(), Ok(()));
        assert_eq!(words("./x-{threads}").check(), Ok(()), "its name is not known before the run");
    }
}
