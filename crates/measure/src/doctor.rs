//! What on this machine will disturb or limit a measurement, what it does to which numbers, and how to fix it.
//!
//! A [`Look`] gathers what is needed, most of it text out of a [`Root`]; the items judge it and measure nothing. What cannot
//! be read is [`State::Unavailable`] with the reason, never an assumed value.

mod devices;
mod load;
mod memory;
mod processors;
pub mod quiet;
mod root;
mod system;
#[cfg(test)]
mod tests;
mod timed;

use std::time::Duration;

use serde::Serialize;

use crate::harness::counters::of_processor;
use crate::limits::Limits;

pub use load::busiest;
pub use root::{Root, chosen};
pub use system::under_hypervisor;
pub use timed::Timed;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Disturbs,
    Limits,
    Unavailable,
    Ok,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    /// The same in a word.
    pub key: &'static str,
    pub state: State,
    /// What was read in a word, where there is one.
    pub value: String,
    pub read: String,
    /// What it does to which numbers; empty where all is well.
    pub effect: &'static str,
    /// The checks that it raises or that it takes the evidence from.
    pub checks: &'static [&'static str],
    /// What fixes it, commands between backquotes; empty where there is nothing to fix.
    pub fix: String,
}

impl Finding {
    /// The command that fixes it, where the fix is one command.
    pub fn command(&self) -> Option<&str> {
        self.fix.strip_prefix('`')?.strip_suffix('`').filter(|command| !command.contains('`'))
    }
}

pub struct Look {
    pub root: Root,
    pub limits: Limits,
    /// Whether the processor says that a hypervisor runs below; `None` where it cannot be asked.
    pub hypervisor: Option<bool>,
    pub optimised: bool,
    /// Whether the processor's counters can be opened, or why not.
    pub counters: Result<(), String>,
    /// What was measured over a while; `None` if the machine was not watched.
    pub timed: Option<Timed>,
}

impl Look {
    pub fn at_once() -> Self {
        Look {
            root: Root::system(),
            limits: Limits::read(),
            hypervisor: under_hypervisor(),
            optimised: !cfg!(debug_assertions),
            counters: of_processor(),
            timed: None,
        }
    }

    /// At this machine, watching it for a while. Takes little longer than the window; 1 s is the least in which steal says
    /// anything.
    pub fn over(window: Duration) -> Self {
        let look = Look::at_once();
        let timed = Some(Timed::watch(&look.root, window));
        Look { timed, ..look }
    }
}

struct Item {
    name: &'static str,
    key: &'static str,
    effect: &'static str,
    checks: &'static [&'static str],
    look: fn(&Look) -> Result<Seen, String>,
}

struct Seen {
    state: State,
    read: String,
    value: Option<String>,
    fix: String,
}

impl Seen {
    fn new(state: State, read: impl Into<String>, fix: impl Into<String>) -> Self {
        Seen { state, read: read.into(), value: None, fix: fix.into() }
    }

    fn ok(read: impl Into<String>) -> Self {
        Seen::new(State::Ok, read, "")
    }

    fn limits(read: impl Into<String>, fix: impl Into<String>) -> Self {
        Seen::new(State::Limits, read, fix)
    }

    fn disturbs(read: impl Into<String>, fix: impl Into<String>) -> Self {
        Seen::new(State::Disturbs, read, fix)
    }

    fn valued(self, value: impl Into<String>) -> Self {
        Seen { value: Some(value.into()), ..self }
    }

    fn switched(self, on: bool) -> Self {
        self.valued(if on { "on" } else { "off" })
    }
}

const NOTHING_IN_A_GUEST: &str = "Nothing in a guest; measure on the host or on bare metal.";

fn items() -> impl Iterator<Item = &'static Item> {
    [processors::ITEMS, load::ITEMS, memory::ITEMS, devices::ITEMS, system::ITEMS].into_iter().flatten()
}

pub fn examine(look: &Look) -> Vec<Finding> {
    let judge = |item: &Item| {
        let seen = (item.look)(look).unwrap_or_else(|reason| Seen::new(State::Unavailable, reason, ""));
        let Seen { state, read, value, fix } = seen;
        let effect = if state == State::Ok { "" } else { item.effect };
        let value = value.unwrap_or_else(|| read.clone());
        Finding { name: item.name, key: item.key, state, value, read, effect, checks: item.checks, fix }
    };
    items().map(judge).collect()
}

/// What will disturb a sweep that starts now. Returns at once: the machine is not watched, so the timer is left out, and
/// steal and load are those that the kernel counts anyway.
pub fn disturbances() -> Vec<Finding> {
    let mut findings = examine(&Look::at_once());
    findings.retain(|finding| finding.state == State::Disturbs);
    findings
}
