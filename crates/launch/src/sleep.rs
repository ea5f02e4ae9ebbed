//! What a crew waits for: changes of its children, their output, and their questions.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::crew::{Crew, Stream, read};
use crate::launch::Id;
use crate::program::Program;
use crate::ready::ready;

impl Crew {
    /// Sleeps until a child changes, output arrives, or the time is over; whether the descriptor that wakes is readable.
    pub(crate) fn sleep(&mut self, time: Option<Duration>, wake: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        let mut ends = vec![PollFd::new(&self.changes, PollFlags::IN)];
        let mut open = Vec::new();
        let away = self.read.elapsed();
        self.programs.values_mut().for_each(|program| program.reading.look(&program.outputs, away));
        for (number, program) in &self.programs {
            for (end, stream) in program.outputs.iter().zip([Stream::Out, Stream::Err]) {
                if let Some(end) = end {
                    ends.push(PollFd::new(end, PollFlags::IN));
                    open.push((*number, stream));
                }
            }
        }
        let mut asking = Vec::new();
        for (number, asked) in
            self.programs.iter().filter_map(|(number, program)| Some((*number, program.asked.as_ref()?)))
        {
            ends.push(PollFd::new(&asked.listener, PollFlags::IN));
            asking.push(number);
        }
        // With its last holder the program has ended, whose end need not be reported here.
        let held = self.programs.values().filter_map(Program::held_tether);
        ends.extend(held.map(|tether| PollFd::new(tether, PollFlags::empty())));
        ends.extend(wake.map(|wake| PollFd::from_borrowed_fd(wake, PollFlags::IN)));
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        match poll(&mut ends, time.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.read = Instant::now();
        let ready: Vec<bool> = ends.iter().map(|end| !end.revents().is_empty()).collect();
        if ready[0] {
            let mut buffer = [0; 512];
            while matches!((&self.changes).read(&mut buffer), Ok(count) if count == buffer.len()) {}
        }
        for (number, stream) in open.iter().zip(&ready[1..]).filter(|(_, ready)| **ready).map(|(end, _)| *end) {
            if let Some(program) = self.programs.get_mut(&number) {
                self.events.extend(read(Id(number), program, stream)?);
            }
        }
        for (number, _) in asking.iter().zip(&ready[1 + open.len()..]).filter(|(_, ready)| **ready) {
            self.answer(*number)?;
        }
        Ok(wake.is_some() && ready.last() == Some(&true))
    }

    /// Answers a program whose listener is readable. One that can ask no more has no listener any more.
    fn answer(&mut self, number: usize) -> io::Result<()> {
        let Some(program) = self.programs.get_mut(&number) else { return Ok(()) };
        let Some(asked) = &mut program.asked else { return Ok(()) };
        let state = ready(&asked.listener, PollFlags::IN);
        // All that asked have gone, and what was readable with them.
        if state.contains(PollFlags::HUP) {
            program.asked = None;
            return Ok(());
        }
        if state.contains(PollFlags::IN)
            && let Some(question) = asked.listener.ask()?
        {
            let task = |of: i32| self.tasks.get(&of).filter(|task| task.program == number);
            asked.answer(&question, |of| task(of).map(|task| &task.cpus[..]));
            program.stops += 1;
        }
        Ok(())
    }
}
