//! A mapper in any language: a program that reads the machine as JSON and answers with strands.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use charz_system::plugins;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, kill_process_group};

use super::list::{check_usable, first_repeated};
use super::{Mapper, Order};
use crate::error::quote;
use crate::{Error, Machine};

/// How long a program may take. Orders of 65,536 strands take a script well below a second.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The longest answer in bytes: room for over a million ids.
const ANSWER_LIMIT: usize = 8 << 20;

/// How much of the program's complaints is kept for the sake of their last line, in bytes.
const COMPLAINT_LIMIT: usize = 64 << 10;

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
        let mut child = plugins::restore(&mut Command::new(&self.words[0]))
            .args(&self.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so the program can be ended together with what it starts.
            .process_group(0)
            .spawn()
            .map_err(refused)?;
        let result = self.converse(&mut child, &question, deadline);
        if result.is_err() {
            end(&mut child);
        }
        result
    }

    /// Feeds the program, collects its answer and waits for its end, but not for the end of its pipes: a process that the
    /// program left behind may hold them open for ever.
    fn converse(&self, child: &mut Child, question: &[u8], deadline: Instant) -> Result<Vec<u8>, String> {
        let mut pipes = Pipes::of(child, question).map_err(unheard)?;
        let status = pipes.wait(child, deadline).map_err(unheard)?;
        let status = status.ok_or_else(|| format!("did not finish within {} s", self.limit.as_secs_f64()))?;
        if !pipes.finish(!status.success()).map_err(unheard)? {
            // The program has ended, but something that it started holds its output open.
            end_group(child);
            if !pipes.finish(!status.success()).map_err(unheard)? {
                return Err("left a process behind that keeps its output open".to_owned());
            }
        }
        if pipes.answer.len() > ANSWER_LIMIT {
            return Err(format!("answered with more than {} MiB", ANSWER_LIMIT >> 20));
        }
        if status.success() {
            return Ok(pipes.answer);
        }
        let complaint = String::from_utf8_lossy(&pipes.complaint);
        match complaint.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => Err(format!("failed ({status}): {}", quote(line.trim()))),
            None => Err(format!("failed ({status})")),
        }
    }
}

fn refused(error: io::Error) -> String {
    let remedy = match Errno::from_io_error(&error) {
        Some(Errno::AGAIN) => "; raise the limit on processes (ulimit -u, or pids.max of the control group)",
        _ => "",
    };
    format!("cannot be started: {error}{remedy}")
}

fn unheard(error: io::Error) -> String {
    format!("cannot be listened to: {error}")
}

/// The ends of the program's pipes, `None` once they are closed. One thread serves them all: the system may refuse another.
struct Pipes<'a> {
    input: Option<OwnedFd>,
    /// What is left of it.
    question: &'a [u8],
    out: Option<OwnedFd>,
    answer: Vec<u8>,
    err: Option<OwnedFd>,
    complaint: Vec<u8>,
}

impl<'a> Pipes<'a> {
    fn of(child: &mut Child, question: &'a [u8]) -> io::Result<Self> {
        let input = child.stdin.take().map(OwnedFd::from);
        let [out, err] = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        for end in [&input, &out, &err].into_iter().flatten() {
            ioctl_fionbio(end, true)?;
        }
        Ok(Pipes { input, question, out, answer: Vec::new(), err, complaint: Vec::new() })
    }

    /// Serves the pipes until the program has ended; `None` at the deadline.
    fn wait(&mut self, child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            match child.try_wait()? {
                None if Instant::now() >= deadline => return Ok(None),
                None => self.serve(POLL)?,
                status => return Ok(status),
            }
        }
    }

    /// Reads what a program that has ended left in its pipes. Whether its answer is whole.
    fn finish(&mut self, has_failed: bool) -> io::Result<bool> {
        self.input = None;
        let end = Instant::now() + LINGER;
        while (self.out.is_some() || (has_failed && self.err.is_some())) && Instant::now() < end {
            self.serve(end.saturating_duration_since(Instant::now()))?;
        }
        Ok(self.out.is_none())
    }

    /// Waits for a pipe that is ready, for `time` at most, and moves what can be moved without waiting.
    fn serve(&mut self, time: Duration) -> io::Result<()> {
        let ends = [(&self.input, PollFlags::OUT), (&self.out, PollFlags::IN), (&self.err, PollFlags::IN)];
        let ends = ends.into_iter().filter_map(|(end, way)| Some(PollFd::new(end.as_ref()?, way)));
        match poll(&mut ends.collect::<Vec<_>>(), Timespec::try_from(time).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(input) = &self.input {
            match rustix::io::write(input, self.question) {
                Ok(count) if count < self.question.len() => self.question = &self.question[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                // A mapper need not read the question; that the pipe is closed early is no failure.
                Ok(_) | Err(_) => self.input = None,
            }
        }
        receive(&mut self.out, &mut self.answer)?;
        receive(&mut self.err, &mut self.complaint)?;
        if self.answer.len() > ANSWER_LIMIT {
            self.out = None;
        }
        self.complaint.drain(..self.complaint.len().saturating_sub(COMPLAINT_LIMIT));
        Ok(())
    }
}

/// Reads what is there; a pipe at its end is closed.
fn receive(end: &mut Option<OwnedFd>, bytes: &mut Vec<u8>) -> io::Result<()> {
    let Some(open) = end else { return Ok(()) };
    let mut buffer = [0; 1 << 16];
    match rustix::io::read(open, &mut buffer) {
        Ok(0) => *end = None,
        Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        Err(Errno::AGAIN | Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Ends the program and everything that it started in its process group.
fn end(child: &mut Child) {
    // The program is not waited for yet, so its process id still names its group and no other.
    if let Ok(None) = child.try_wait() {
        end_group(child);
        let _ = child.kill();
        // One that waits for a device, or is frozen, ends when it can.
        let until = Instant::now() + LINGER;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(POLL);
        }
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
    fn no_pipe_has_to_hold_all_that_is_said() {
        let machine = discover(&Source::Synthetic("pack:64 core:16 pu:2".to_owned())).unwrap();
        let ask = |script: &str| {
            let words = ["sh", "-c", script].map(str::to_owned).into();
            Ask { words, limit: Duration::from_secs(60) }.order(&machine).map_err(|error| error.to_string())
        };
        assert!(serde_json::to_vec(&machine).unwrap().len() > 100_000, "more than a pipe holds");
        let echo = "words=$(cat | wc -c); yes 5 2>/dev/null | head -c 100000 >&2; test $words -gt 100000 && seq 0 2047";
        assert_eq!(ask(echo), Ok(Order::Strands((0..2048).collect())));
        let complains = ask("yes 5 2>/dev/null | head -c 200000 >&2; echo why >&2; exit 1").unwrap_err();
        assert!(complains.contains("\"why\""), "{complains}");
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
