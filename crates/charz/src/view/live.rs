//! A screen that is drawn anew in its place until `q` is pressed: the terminal's alternate one, so the other is as it was before.

use std::io::{self, IsTerminal, Read, Stdin, Write, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::panic;
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};
use signal_hook::SigId;
use signal_hook::consts::SIGWINCH;
use signal_hook::low_level::{pipe, unregister};

use super::look;

/// To the alternate screen, without a cursor, and with long lines cut; and back (xterm's control sequences: DECSET 1049, 25 and 7).
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// How the terminal was, while a screen is live: whatever ends that puts it back.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

pub struct Live {
    keys: Stdin,
    /// Readable after the terminal got another size.
    resized: UnixStream,
    handler: SigId,
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    Nothing,
    Resized,
    /// `q` was pressed, or the terminal went away.
    Quit,
}

impl Live {
    /// Takes the terminal over; `None` where there is none, it only prints, or another process has it.
    ///
    /// # Errors
    /// The terminal or the system refused.
    pub fn begin() -> io::Result<Option<Live>> {
        if !look::is_terminal() || !stdin().is_terminal() || look::only_prints() || look::screen().is_none() {
            return Ok(None);
        }
        // In the background it would be stopped.
        if tcgetpgrp(stdin()).ok() != Some(getpgrp()) {
            return Ok(None);
        }
        let before = tcgetattr(stdin())?;
        let mut keys = before.clone();
        keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        // A read takes what was typed. ^C stays a signal; the others would leave the screen as it is.
        for (code, value) in [
            (SpecialCodeIndex::VMIN, 0),
            (SpecialCodeIndex::VTIME, 0),
            (SpecialCodeIndex::VSUSP, 0),
            (SpecialCodeIndex::VQUIT, 0),
        ] {
            keys.special_codes[code] = value;
        }
        let (resized, waker) = UnixStream::pair()?;
        resized.set_nonblocking(true)?;
        let handler = pipe::register(SIGWINCH, waker)?;
        let live = Live { keys: stdin(), resized, handler };
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(stdin(), OptionalActions::Now, &keys)?;
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            // First of all: the alternate screen would take the report away.
            restore();
            report(panicked);
        }));
        print(ENTER)?;
        Ok(Some(live))
    }

    /// What becomes readable when there is something to hear.
    pub fn ends(&self) -> [PollFd<'_>; 2] {
        [PollFd::new(&self.keys, PollFlags::IN), PollFd::new(&self.resized, PollFlags::IN)]
    }

    /// What was heard since the last time; does not wait.
    pub fn heard(&self) -> Heard {
        let mut keys = [0; 64];
        match rustix::io::read(&self.keys, &mut keys) {
            Ok(count) if keys[..count].iter().any(|key| b"qQ".contains(key)) => return Heard::Quit,
            // A terminal that went away has no error but this, and no size.
            Ok(0) if tcgetwinsize(&self.keys).is_err() => return Heard::Quit,
            Err(rustix::io::Errno::IO) => return Heard::Quit,
            _ => {}
        }
        match (&self.resized).read(&mut keys) {
            Ok(1..) => Heard::Resized,
            _ => Heard::Nothing,
        }
    }

    /// Draws lines from the top on, as many as there is room for, and a last line about the screen.
    pub fn draw(&self, text: &str, about: &str) -> io::Result<()> {
        let (high, _) = look::screen().unwrap_or((24, 80));
        let room = high.saturating_sub(1);
        let lines: Vec<&str> = text.lines().collect();
        let more = lines.len().saturating_sub(room);
        let more = if more > 0 { format!(" · {more} more lines in a taller terminal") } else { String::new() };
        // ECMA-48: to the first place, the rest of a line erased, the rest of the screen erased.
        let shown = lines.iter().take(room).map(|line| format!("{line}\x1b[K\r\n"));
        let blank = room.saturating_sub(lines.len());
        let blank = "\x1b[K\r\n".repeat(blank);
        print(&format!("\x1b[H{}{blank}{about}{more} · q quits\x1b[K\x1b[J", shown.collect::<String>()))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        unregister(self.handler);
        restore();
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Puts the terminal back as it was, once.
fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        let _ = print(LEAVE);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use charz_data::escape::quoted;

    /// In a terminal of its own, which script(1) makes.
    #[test]
    fn a_panic_is_reported_on_the_screen_that_was_there_before() {
        const NAME: &str = "view::live::tests::a_panic_is_reported_on_the_screen_that_was_there_before";
        const VARIABLE: &str = "TEST_CASE";
        if std::env::var_os(VARIABLE).is_some() {
            let _live = Live::begin().unwrap().expect("there is a terminal");
            panic!("as planned");
        }
        let own = std::env::current_exe().unwrap();
        let line = format!("stty rows 24 cols 80; {} --exact {NAME} --nocapture", quoted(own.to_str().unwrap()));
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env(VARIABLE, "1").env("TERM", "xterm").stdin(Stdio::null());
        // Not every system has it.
        let Ok(ran) = script.output() else { return };
        let text = String::from_utf8_lossy(&ran.stdout);
        let (live, after) = text.split_once(LEAVE).unwrap_or_else(|| panic!("{text}"));
        assert!(live.contains(ENTER) && !live.contains("as planned") && after.contains("as planned"), "{text}");
    }
}
