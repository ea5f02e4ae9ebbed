//! Which files a command line starts.

use std::env;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use charz_data::Program;
use charz_data::program::{ProgramFile, ProgramIdentity};

use super::words::Words;

/// Programs that run the program or script that an argument names, without what follows the name in a version.
const RUNNERS: [&str; 43] = [
    "Rscript",
    "ash",
    "bash",
    "bun",
    "chrt",
    "dash",
    "deno",
    "dotnet",
    "env",
    "fish",
    "guile",
    "ionice",
    "java",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mksh",
    "mono",
    "mpiexec",
    "mpirun",
    "nice",
    "node",
    "nodejs",
    "nohup",
    "numactl",
    "octave",
    "perl",
    "php",
    "pypy",
    "python",
    "qemu-aarch",
    "racket",
    "ruby",
    "setarch",
    "sh",
    "srun",
    "stdbuf",
    "taskset",
    "tclsh",
    "time",
    "timeout",
    "zsh",
];

/// Which program this is now. What it opens by itself, such as libraries, is not among its files.
pub fn identity(program: &Program) -> ProgramIdentity {
    let lines = [Some(&program.command), program.setup.as_ref()];
    let words = lines.into_iter().flatten().filter_map(|line| Words::split(line).ok());
    let files = words.flat_map(|words| [words.file(), script(&words)]).flatten().filter_map(|file| about(&file));
    let folder = env::current_dir().map(|folder| folder.to_string_lossy().into_owned());
    ProgramIdentity { folder: folder.unwrap_or_default(), files: files.collect() }
}

/// The first file among the arguments of a program that runs others; of a text for a shell its first word.
fn script(words: &Words) -> Option<PathBuf> {
    let name = Path::new(&words.program).file_name()?.to_str()?;
    let name = name.trim_end_matches(|mark: char| mark.is_ascii_digit() || ['.', '-'].contains(&mark));
    let file = |text: &str| Some(PathBuf::from(text)).filter(|file| file.is_file());
    let first = |text: &str| {
        let program = Words::split(text).ok()?.program;
        file(&program).filter(|_| program.contains('/'))
    };
    let mut arguments = words.arguments.iter().filter(|_| RUNNERS.contains(&name));
    arguments.find_map(|argument| file(argument).or_else(|| first(argument)))
}

fn about(file: &Path) -> Option<ProgramFile> {
    let about = file.metadata().ok()?;
    Some(ProgramFile {
        path: file.canonicalize().unwrap_or_else(|_| file.to_owned()).to_string_lossy().into_owned(),
        device: about.dev(),
        inode: about.ino(),
        bytes: about.size(),
        modified_ns: about.mtime().saturating_mul(1_000_000_000).saturating_add(about.mtime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use charz_data::{Better, ProgramValue, ReportedUnit};

    use super::*;

    #[test]
    fn an_interpreter_is_identified_with_its_script() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("x.sh");
        fs::write(&script, "true").unwrap();
        let path = script.to_str().unwrap();
        let of = |command: String, setup: Option<String>| {
            let unit = ReportedUnit::new("s", Better::Lower).unwrap();
            identity(&Program { setup, ..Program::new(command, ProgramValue::Wall, unit) })
        };
        let is_last = |found: &ProgramIdentity| found.files.last().is_some_and(|file| file.path.ends_with("x.sh"));
        for command in [
            format!("sh {path}"),
            format!("A=1 sh -e {path} {{threads}}"),
            format!("sh -c '{path} {{threads}}'"),
            format!("env -i sh {path}"),
        ] {
            let found = of(command.clone(), None);
            assert!(found.files.len() == 2 && is_last(&found), "{command}: {found:?}");
        }
        assert!(is_last(&of("true".into(), Some(format!("sh {path}")))), "its set-up is another one too");
        // Data that a run may write.
        for command in [format!("cat {path}"), format!("sh -c 'true > {path}'"), format!("sh -c 'cat {path}'")] {
            assert_eq!(of(command.clone(), None).files.len(), 1, "{command}");
        }
        assert_eq!(of("./x-{threads}".into(), None).files, []);
        let before = of(format!("sh {path}"), None);
        fs::remove_file(&script).unwrap();
        fs::write(&script, "false").unwrap();
        assert_ne!(of(format!("sh {path}"), None), before);
    }
}
