//! The kernels: an honest one, and the same with a fault each.

use std::env;
use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::{self, Write};
use std::process;
use std::sync::Once;
use std::thread;
use std::time::Duration;

use charz_kernels::params::STEPS;
use charz_kernels::{Bytes, Card, Error, Family, Kernel, Metric, Params, Stage, Watch, Work, Worker};
use rustix::process::{Signal, getpid, kill_process};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    PanicsWhileBuilt,
    Panics,
    Overflows,
    Raises(Signal),
    DiesThirdTime,
    Spins,
    Sleeps,
    Stops,
    Eats,
    Lies,
    Shirks,
    Leaves,
    Complains,
    Chatters,
}

struct Faulty {
    card: &'static Card,
    fault: Fault,
}

const fn card(name: &'static str, about: &'static str) -> Card {
    Card::new(name, Family::Compute, about, Metric::ops("a multiplication")).params(&[&STEPS]).source("the tests")
}

/// What is added to the catalog.
#[rustfmt::skip]
pub static KERNELS: &[&dyn Kernel] = &[
    &Faulty { card: &card("honest", "multiplies"), fault: Fault::Nothing },
    &Faulty { card: &card("panics-while-built", "panics before it runs"), fault: Fault::PanicsWhileBuilt },
    &Faulty { card: &card("panics", "panics while it runs"), fault: Fault::Panics },
    &Faulty { card: &card("overflows", "needs more stack than there is"), fault: Fault::Overflows },
    &Faulty { card: &card("segfaults", "dies as if by a bad pointer"), fault: Fault::Raises(Signal::SEGV) },
    &Faulty { card: &card("illegal", "dies as if by an unknown instruction"), fault: Fault::Raises(Signal::ILL) },
    &Faulty { card: &card("dies-once", "dies in the third process that counts itself in $FAULTY_COUNT"), fault: Fault::DiesThirdTime },
    &Faulty { card: &card("spins", "never looks at its watch"), fault: Fault::Spins },
    &Faulty { card: &card("fights", "never looks at its watch, and is said to contend")
        .contends(true), fault: Fault::Spins },
    &Faulty { card: &card("sleeps", "never wakes up"), fault: Fault::Sleeps },
    &Faulty { card: &card("stops", "stops its whole process, the supervisor included"), fault: Fault::Stops },
    &Faulty { card: &card("eats", "takes memory for ever"), fault: Fault::Eats },
    &Faulty { card: &card("lies", "gives a wrong answer"), fault: Fault::Lies },
    &Faulty { card: &card("shirks", "does less than was agreed"), fault: Fault::Shirks },
    &Faulty { card: &card("leaves", "ends its process as if all were well"), fault: Fault::Leaves },
    &Faulty { card: &card("complains", "fills standard error"), fault: Fault::Complains },
    &Faulty { card: &card("chatters", "writes to standard output"), fault: Fault::Chatters },
];

impl Kernel for Faulty {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    fn stage(&self, params: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        Ok(Box::new(Bench { fault: self.fault, steps: params.iterations }))
    }
}

struct Bench {
    fault: Fault,
    steps: u64,
}

impl Stage for Bench {
    fn variant(&self) -> &'static str {
        "faulty"
    }

    fn work(&self) -> Work {
        Work::ops(self.steps)
    }

    fn worker(&self, _: usize) -> Result<Box<dyn Worker>, Error> {
        assert!(self.fault != Fault::PanicsWhileBuilt, "built to panic");
        Ok(Box::new(Hand { fault: self.fault, steps: self.steps }))
    }
}

struct Hand {
    fault: Fault,
    steps: u64,
}

impl Worker for Hand {
    fn run(&mut self, watch: &Watch) -> Work {
        match self.fault {
            Fault::Nothing | Fault::PanicsWhileBuilt | Fault::Lies => {}
            Fault::Panics => panic!("run to panic"),
            Fault::Overflows => _ = black_box(sink(0)),
            Fault::Raises(signal) => raise(signal),
            Fault::DiesThirdTime => count_to_three(),
            Fault::Spins => loop {
                black_box(());
            },
            Fault::Sleeps => loop {
                thread::sleep(Duration::from_secs(3600));
            },
            Fault::Stops => raise(Signal::STOP),
            Fault::Eats => eat(),
            Fault::Shirks => return Work::ops(self.steps / 2),
            Fault::Leaves => process::exit(0),
            Fault::Complains => complain(),
            Fault::Chatters => chatter(),
        }
        multiply(self.steps, watch)
    }

    fn verify(&mut self) -> Result<(), Error> {
        if self.fault == Fault::Lies {
            return Err(Error::Wrong("2 times 2 came to 5".into()));
        }
        Ok(())
    }
}

/// The honest work: a few nanoseconds a step, with a look at the watch every 20 to 100 µs.
fn multiply(steps: u64, watch: &Watch) -> Work {
    const LOOK_EVERY: u64 = 8192;
    let (mut done, mut product) = (0, 1_u64);
    while done < steps {
        let block = LOOK_EVERY.min(steps - done);
        // Not a range, whose steps are calls where nothing is optimised.
        let mut left = block;
        while left > 0 {
            product = product.wrapping_mul(6_364_136_223_846_793_005);
            left -= 1;
        }
        black_box(product);
        done += block;
        if watch.should_stop() {
            break;
        }
    }
    Work::ops(done)
}

fn sink(depth: u64) -> u64 {
    // The array keeps the call from becoming a loop.
    let array = black_box([depth; 64]);
    if depth == u64::MAX { 0 } else { sink(depth + 1) + array[0] }
}

/// For ever: the standard library's handler takes the first SIGSEGV for a stack overflow that was none, and returns.
fn raise(signal: Signal) {
    loop {
        kill_process(getpid(), signal).expect("a process may signal itself");
    }
}

/// Each process adds a byte to the file on its first run.
fn count_to_three() {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        let path = env::var_os("FAULTY_COUNT").expect("the test sets it");
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("the test made the folder");
        file.write_all(b"x").expect("a byte fits");
        if file.metadata().expect("an open file has a length").len() == 3 {
            raise(Signal::SEGV);
        }
    });
}

fn eat() {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(black_box(vec![1; 1 << 20]));
    }
}

/// More than a pipe holds, and more than anybody keeps.
fn complain() {
    for _ in 0..1000 {
        let _ = io::stderr().write_all(&[b'?'; 4096]);
    }
}

/// Past the lock that the process has on its standard output.
fn chatter() {
    let stdout = OpenOptions::new().append(true).open("/proc/self/fd/1");
    let _ = stdout.and_then(|mut stdout| stdout.write_all(b"this is no answer"));
}
