//! `call-*`: what a system call costs, and a process that is made and waited for.

use std::io;
use std::path::Path;
use std::process::Command;

use charz_data::params::SPAN;
use charz_data::{Card, Family, Metric};

use crate::plain::{PlainKernel, kernels};
use crate::sys::child;
use crate::turns::{Turn, turning};

/// The program that does nothing.
const TRUE: &str = "/bin/true";

const CARD: Card = Card::new("", Family::Sync, "", Metric::op_time("one call, whose answer is checked"))
    .params(&[&SPAN])
    .source("B. Smaalders, P. Harman: libMicro (Sun Microsystems, 2005): getpid, fork, posix_spawn");

const MAKES: Card = CARD.metric(Metric::op_time("one process made, ended and waited for")).blocks_in_kernel(true);

kernels! {
    turning::<Id> => CARD
        .named("call-getpid", "asks the system for the number of the process, by a bare system call, again and again");
    turning::<Fork> => MAKES
        .named("call-fork", "forks a process that ends at once, and waits for its end, again and again")
        .uncounted_traffic("the system copies the page tables of charz, which the kernel keeps small, and blocks and \
            restores the signals of the thread; the new process asks for its parent and closes its files. It begins on \
            the strand of its maker");
    spawning => MAKES
        .named("call-spawn", "starts /bin/true by posix_spawn, and waits for its end, again and again")
        .uncounted_traffic("the loading of the program and of its libraries, which is most of it");
}

const fn spawning(card: &'static Card) -> PlainKernel {
    turning::<Spawn>(card).check(|kernel| match Path::new(TRUE).exists() {
        true => Ok(()),
        false => Err(kernel.unavailable(format_args!("needs {TRUE}, which this system lacks"))),
    })
}

/// The number of this process, which the C library says without asking the system where it remembers it.
struct Id(u32);

impl Turn for Id {
    const STRETCH: usize = 256;
    const VARIANT: &'static str = "syscall";
    const REFUSED: &'static str = "the system does not tell the number of a process";
    const WRONG: &'static str = "the system told the number of another process";

    fn new() -> io::Result<Self> {
        Ok(Id(std::process::id()))
    }

    #[inline]
    fn turn(&mut self) -> io::Result<bool> {
        Ok(child::asked_id() == self.0)
    }
}

const REFUSED: &str = "the system makes no more processes";
const WRONG: &str = "a process did not end by itself, and well";

struct Fork;

impl Turn for Fork {
    const STRETCH: usize = 1;
    const VARIANT: &'static str = "fork, waitpid";
    const REFUSED: &'static str = REFUSED;
    const WRONG: &'static str = WRONG;

    fn new() -> io::Result<Self> {
        Ok(Fork)
    }

    fn turn(&mut self) -> io::Result<bool> {
        child::fork_and_wait()
    }
}

struct Spawn(Command);

impl Turn for Spawn {
    const STRETCH: usize = 1;
    const VARIANT: &'static str = "posix_spawn, waitpid";
    const REFUSED: &'static str = REFUSED;
    const WRONG: &'static str = WRONG;

    fn new() -> io::Result<Self> {
        Ok(Spawn(Command::new(TRUE)))
    }

    fn turn(&mut self) -> io::Result<bool> {
        Ok(self.0.status()?.success())
    }
}
