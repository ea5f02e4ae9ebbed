//! What a booted machine printed: a frame per command that it ran, among whatever else appears on a console.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use xtask::json::Json;

/// A command that was run in the machine.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) code: i32,
    /// Seconds, by the machine's own clock.
    pub(super) seconds: f64,
    pub(super) out: String,
    pub(super) err: String,
}

#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) steps: Vec<Step>,
    /// The step that began and did not end.
    pub(super) unfinished: Option<String>,
    /// Whether the script came to its end.
    pub(super) ended: bool,
}

impl Transcript {
    /// Frames are `@@step NAME`, then `@@done NAME CODE SECONDS OUT ERR`, whose last two words are compressed and in base64, or `-`.
    pub(super) fn read(console: &str) -> Self {
        let mut transcript = Transcript::default();
        for line in console.lines() {
            // Firmware may have left its escape sequences on the line.
            let words: Vec<&str> = line.find("@@").map_or("", |at| &line[at..]).split_whitespace().collect();
            match words[..] {
                ["@@step", name] => transcript.unfinished = Some(name.to_owned()),
                ["@@done", name, code, seconds, out, err] => {
                    transcript.unfinished = None;
                    transcript.steps.push(Step {
                        name: name.to_owned(),
                        code: code.parse().unwrap_or(i32::MAX),
                        seconds: seconds.parse().unwrap_or(f64::INFINITY),
                        out: unpacked(out),
                        err: unpacked(err),
                    });
                }
                ["@@end"] => transcript.ended = true,
                _ => {}
            }
        }
        transcript
    }

    pub(super) fn step(&self, name: &str) -> Result<&Step, String> {
        self.steps.iter().find(|step| step.name == name).ok_or_else(|| format!("{name}: was not run"))
    }

    /// The output of a step that succeeded.
    pub(super) fn out(&self, name: &str) -> Result<&str, String> {
        self.step(name)?.succeeded()
    }

    pub(super) fn json(&self, name: &str) -> Result<Json, String> {
        Json::parse(self.out(name)?).map_err(|error| format!("{name}: {error}"))
    }
}

impl Step {
    pub(super) fn succeeded(&self) -> Result<&str, String> {
        match self.code {
            // A sweep has its report without a number, too, which an emulated machine may not give.
            0 | 5 => Ok(&self.out),
            code => {
                // A probe prints beside the program, which says on its standard error why it ended.
                let said = self.out.lines().chain(self.err.lines()).last().unwrap_or_default();
                Err(format!("{}: ended with {code}: {said}", self.name))
            }
        }
    }
}

fn unpacked(word: &str) -> String {
    if word == "-" {
        return String::new();
    }
    let mut pipe = Command::new("sh");
    pipe.args(["-c", "base64 -d | gzip -dc"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = pipe.spawn() else { return String::new() };
    let input = child.stdin.take();
    // More than a pipe holds may come out before all is in.
    let output = thread::scope(|scope| {
        scope.spawn(move || input.map(|mut input| input.write_all(word.as_bytes())));
        child.wait_with_output()
    });
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a console shows it: firmware, a line of the kernel, carriage returns.
    const CONSOLE: &str = "\x1bc\x1b[?7lSeaBIOS (version 1.16.2)\r\nBooting from ROM...\r\n\x1bc@@step seats\r\n\
        [    4.2] a line of the kernel\r\n\
        @@done seats 0 0.57 H4sIAAAAAAAAA6tWKk5NLClWsoo20DHUMdIxjq3lAgBSBSUDFAAAAA== -\r\n\
        @@step failing\r\n@@done failing 3 1.20 - H4sIAAAAAAAAA8vPVkhLzMxJTeECAHX8YoUKAAAA\r\n@@step hanging\r\n";

    #[test]
    fn frames_are_found_among_other_lines() {
        let read = Transcript::read(CONSOLE);
        assert_eq!(read.steps.len(), 2);
        assert_eq!(read.steps[0].seconds, 0.57);
        assert_eq!(read.json("seats").unwrap()["seats"].ids(), [0, 1, 2, 3]);
        assert_eq!((read.unfinished.as_deref(), read.ended), (Some("hanging"), false));
        assert_eq!(read.out("failing"), Err("failing: ended with 3: ok failed".to_owned()));
        assert_eq!(read.out("other"), Err("other: was not run".to_owned()));
        assert!(Transcript::read("@@end\r\n").ended);
    }
}
