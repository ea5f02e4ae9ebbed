//! A mapper in any language: a program that reads the machine as JSON and answers with strands.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::list::{check_usable, first_repeated};
use super::{Mapper, Order};
use crate::error::quote;
use crate::{Error, Machine};

/// How long a program may take. Orders of 65,536 strands take a script well below a second.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The longest answer in bytes: room for over a million ids.
const ANSWER_LIMIT: u64 = 8 << 20;

/// How much of the program's complaints is read for the sake of their last line, in bytes.
const COMPLAINT_LIMIT: u64 = 64 << 10;

/// How long a pipe may take to run dry once the program has ended.
const LINGER: Duration = Duration::from_millis(200);

/// How often a program is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

struct Ask {
    words: Vec<String>,
    limit: Duration,
}

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let text = text.trim();
    // No shell is involved: quotation marks and backslashes work as in one, variables and pipes do not.
    let words = shlex::split(text).ok_or("a quotation mark is not closed, or the text ends in a backslash")?;
    if words.first().is_none_or(String::is_empty) {
        return Err("it names no program; write command:PROGRAM [ARGS]".to_owned());
    }
    if text.contains('\0') {
        return Err("it contains a NUL character, which no program name or argument can have".to_owned());
    }
    Ok((Box::new(Ask { words, limit: TIME_LIMIT }), text.to_owned()))
}

impl Mapper for Ask {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let failed = |reason| Error::Command { program: quote(&self.words[0]), reason };
        let question = serde_json::to_vec(machine).map_err(|error| failed(format!("cannot be asked: {error}")))?;
        let answer = self.ask(question).map_err(failed)?;
        let ids = ids(&answer).map_err(failed)?;
        if let Some(id) = first_repeated(&ids) {
            return Err(failed(format!("answered with CPU {id} twice; it must name each CPU at most once")));
        }
        check_usable(&ids, machine).map_err(|reason| failed(format!("answered with a wrong CPU: {reason}")))?;
        Ok(Order::Strands(ids))
    }
}

impl Ask {
    /// Runs the program once and returns what it wrote to its standard output.
    fn ask(&self, question: Vec<u8>) -> Result<Vec<u8>, String> {
        let deadline = Instant::now() + self.limit;
        let mut child = Command::new(&self.words[0])
            .args(&self.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so the program can be ended together with what it starts.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))?;
        let result = self.converse(&mut child, question, deadline);
        if result.is_err() {
            end(&mut child);
        }
        result
    }

    /// Feeds the program, collects its answer and waits for its end, on threads that need not be waited for: a process
    /// that the program left behind may hold the pipes open for ever.
    fn converse(&self, child: &mut Child, question: Vec<u8>, deadline: Instant) -> Result<Vec<u8>, String> {
        if let Some(mut input) = child.stdin.take() {
            // A mapper need not read the question; that the pipe is closed early is no failure.
            thread::spawn(move || input.write_all(&question));
        }
        let answer = collect(child.stdout.take(), ANSWER_LIMIT + 1);
        let complaint = collect(child.stderr.take(), COMPLAINT_LIMIT);
        let late = || format!("did not finish within {} s", self.limit.as_secs_f64());

        let status = wait(child, deadline).ok_or_else(late)?;
        let answer = answer.recv_timeout(LINGER).or_else(|_| {
            // The program has ended, but something that it started holds its output open.
            end_group(child);
            answer.recv_timeout(LINGER)
        });
        let answer = answer.map_err(|_| "left a process behind that keeps its output open".to_owned())?;
        let answer = answer.map_err(|error| format!("cannot be listened to: {error}"))?;
        if answer.len() as u64 > ANSWER_LIMIT {
            return Err(format!("answered with more than {} MiB", ANSWER_LIMIT >> 20));
        }
        if status.success() {
            return Ok(answer);
        }
        // The complaint is complete as soon as the program has ended, unless something it left behind holds the pipe.
        let complaint = complaint.recv_timeout(LINGER).ok().and_then(Result::ok).unwrap_or_default();
        let complaint = String::from_utf8_lossy(&complaint);
        match complaint.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => Err(format!("failed ({status}): {}", quote(line.trim()))),
            None => Err(format!("failed ({status})")),
        }
    }
}

/// Reads a pipe on a thread of its own, up to a number of bytes.
fn collect(pipe: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let result = pipe.map_or(Ok(0), |pipe| pipe.take(limit).read_to_end(&mut bytes));
        // After the time limit there is no receiver.
        let _ = sender.send(result.map(|_| bytes));
    });
    receiver
}

/// Waits for the program's end; `None` at the deadline.
fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(POLL);
    }
}

/// Ends the program and everything that it started in its process group.
fn end(child: &mut Child) {
    // The program is not waited for yet, so its process id still names its group and no other.
    if let Ok(None) = child.try_wait() {
        end_group(child);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Ends what is left of the program's process group. The system does not reuse the group's number as long as there is
/// something left.
fn end_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Reads an answer: a JSON list of numbers, or numbers apart by blanks, line ends and commas.
pub fn ids(answer: &[u8]) -> Result<Vec<u32>, String> {
    let text = str::from_utf8(answer).map_err(|_| "answered with bytes that are not UTF-8 text".to_owned())?;
    let ids = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
            .map_err(|error| format!("answered with JSON that is no list of ids: {}", quote(&error.to_string())))?
    } else {
        text.split(|mark: char| mark.is_whitespace() || mark == ',')
            .filter(|word| !word.is_empty())
            .map(id)
            .collect::<Result<Vec<u32>, _>>()?
    };
    if ids.is_empty() { Err("answered with no CPU at all".to_owned()) } else { Ok(ids) }
}

fn id(word: &str) -> Result<u32, String> {
    let number = word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten();
    number.ok_or_else(|| format!("answered {}, which is not a CPU id", quote(word)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Ask, Mapper, Order};
    use crate::{Machine, Source, discover};

    fn machine() -> Machine {
        let mut machine = discover(&Source::Synthetic("pack:2 core:2 pu:2".to_owned())).unwrap();
        machine.strands[7].usable = false;
        machine.absent = vec![8];
        machine
    }

    /// What a shell script says to the machine above, within a second.
    fn ask(script: &str) -> Result<Vec<u32>, String> {
        let words = ["sh", "-c", script].map(str::to_owned).into();
        let order =
            Ask { words, limit: Duration::from_secs(1) }.order(&machine()).map_err(|error| error.to_string())?;
        let Order::Strands(strands) = order else { panic!("a program cannot leave workers floating") };
        Ok(strands)
    }

    #[track_caller]
    fn refuses(script: &str, part: &str) {
        let error = ask(script).expect_err(script);
        assert!(error.contains(part), "{error:?} does not say {part:?}");
        assert!(error.len() < 400 && !error.contains(['\u{1b}', '\n']), "{error:?}");
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended() {
        // The second program would hold the pipe for ten seconds, and this one may take one.
        assert_eq!(ask("sleep 10 & echo 3 1"), Ok(vec![3, 1]));
    }

    #[test]
    fn answers_in_json_and_in_plain_numbers() {
        assert_eq!(ask("echo '[3, 1]'"), Ok(vec![3, 1]));
        assert_eq!(ask("echo 3,1; echo 0 2"), Ok(vec![3, 1, 0, 2]));
        assert_eq!(ask("cat >/dev/null; echo 6"), Ok(vec![6]));
    }

    #[test]
    fn the_question_is_the_machine() {
        // The program counts the strands and answers with the one of that number, less two: there are eight.
        assert_eq!(ask("echo $(($(grep -o '\"slot\":' | wc -l) - 2))"), Ok(vec![6]));
    }

    #[test]
    fn failures_and_nonsense_are_one_sentence() {
        refuses("echo first >&2; printf 'last \\033[2J\\n\\n' >&2; exit 3", "exit status: 3");
        refuses("echo why >&2; exit 1", "\"why\"");
        refuses("kill -9 $$", "signal: 9");
        refuses("true", "no CPU at all");
        refuses("echo '[]'", "no CPU at all");
        refuses("echo '[1,'", "JSON that is no list of ids");
        refuses("echo '[-1]'", "JSON that is no list of ids");
        refuses("echo 1 x", "\"x\", which is not a CPU id");
        refuses("echo 99999999999", "not a CPU id");
        refuses("echo 1 2 1", "CPU 1 twice");
        refuses("echo 7", "CPU 7 is not allowed");
        refuses("echo 8", "CPU 8 is offline");
        refuses("echo 9", "has no CPU 9");
        refuses("printf '\\377'", "not UTF-8");
        refuses("yes 1", "more than 8 MiB");
    }

    #[test]
    fn a_program_that_does_not_exist_cannot_be_started() {
        let words = vec!["/nonexistent/mapper".to_owned()];
        let error = Ask { words, limit: Duration::from_secs(1) }.order(&machine()).unwrap_err();
        assert!(error.to_string().contains("cannot be started"), "{error}");
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        // The child of the program would write the file a second after the limit.
        refuses(&format!("(sleep 2; touch {}) & sleep 60", alive.display()), "did not finish within 1 s");
        refuses("exec >&-; sleep 60", "did not finish within 1 s");
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!alive.exists());
    }
}
