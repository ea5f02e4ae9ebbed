//! The lines that put a program's threads on the seats of a placement, for the tools with which people launch programs: one tool per entry
//! of [`TOOLS`].
//!
//! Lines are for a shell of POSIX, and quoted for it. What a tool cannot express is in [`Launch::notes`], which are printed as shell
//! comments above the line. Where it has no word for the memory, numactl, before the program, has it.

mod tools;

use std::collections::HashSet;

use charz_data::escape::quoted;
use charz_data::machine::Machine;
use charz_data::report::MemoryHome;

pub use tools::TOOLS;

/// Stands for the user's program in a line to paste.
pub const PROGRAM: &str = "PROGRAM";

/// A placement: what is to be launched where.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    pub machine: &'a Machine,
    /// OS id of the CPU of each thread; `None` where the operating system places it.
    pub seats: &'a [Option<u32>],
    /// Where the threads' memory is to be.
    pub memory: MemoryHome,
}

/// A tool that launches programs.
pub struct Tool {
    /// The word for `charz map --format`, and the key in JSON.
    pub name: &'static str,
    /// One sentence: what it is for.
    pub about: &'static str,
    launch: fn(&Placed<'_>) -> Launch,
}

/// How a tool puts threads on their seats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// What the tool cannot express, or what it needs: a sentence each.
    pub notes: Vec<String>,
    pub form: Form,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The tool binds nothing here: the program starts without it.
    #[default]
    Without,
    /// Variables of the program's environment with their values; `None` removes one.
    Variables(Vec<(&'static str, Option<String>)>),
    /// The words of a command line before the program's.
    Command(Vec<String>),
    /// A text for a file: it launches nothing.
    Text(String),
}

impl Launch {
    /// The notes as comments, then what a shell runs, or reads, before the program's own words: `taskset -c 0-3`, or lines of exports.
    pub fn script(&self) -> String {
        let mut text: String = self.notes.iter().map(|note| format!("# {note}\n")).collect();
        match &self.form {
            Form::Without => {}
            Form::Variables(variables) => {
                for (name, value) in variables {
                    text += &match value {
                        Some(value) => format!("export {name}={}\n", quoted(value)),
                        None => format!("unset {name}\n"),
                    };
                }
            }
            Form::Command(words) => text += &format!("{}\n", line(words)),
            Form::Text(own) => text += &format!("{own}\n"),
        }
        text
    }

    /// The line that launches a program, without notes: `taskset -c 0-3 PROGRAM`. `None` where the tool binds nothing.
    pub fn line(&self, program: &str) -> Option<String> {
        match &self.form {
            Form::Without => None,
            Form::Text(text) => Some(text.clone()),
            Form::Command(words) => Some(format!("{} {program}", line(words))),
            Form::Variables(variables) => {
                let removed = variables.iter().filter(|(_, value)| value.is_none());
                let removed = removed.flat_map(|(name, _)| ["-u".to_owned(), (*name).to_owned()]);
                let set =
                    variables.iter().filter_map(|(name, value)| Some(format!("{name}={}", quoted(value.as_ref()?))));
                // Only env can remove a variable for one command.
                let words: Vec<String> = removed.collect();
                let env = if words.is_empty() { None } else { Some(format!("env {}", line(&words))) };
                Some(env.into_iter().chain(set).chain([program.to_owned()]).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// The words of env that set variables, and remove others.
fn env(variables: &[(&str, Option<String>)]) -> Vec<String> {
    let (set, removed): (Vec<_>, Vec<_>) = variables.iter().partition(|(_, value)| value.is_some());
    let removed = removed.iter().flat_map(|(name, _)| ["-u".to_owned(), (*name).to_owned()]);
    let set = set.iter().map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or_default()));
    ["env".to_owned()].into_iter().chain(removed).chain(set).collect()
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

impl Placed<'_> {
    /// How a tool launches a program so.
    pub fn launch(&self, tool: &Tool) -> Launch {
        use MemoryHome::{First, Interleaved, Local, Node};
        let mut launch = (tool.launch)(self);
        match (tool.name, self.memory) {
            (_, Local) | ("exec", _) | ("numactl", Interleaved | First | Node(_)) => return launch,
            // All memory is on the nodes that they allow.
            ("systemd" | "docker", First | Node(_)) if launch.form != Form::Without => return launch,
            _ => {}
        }
        let Some(word) = tools::memory_word(self) else {
            launch.notes.push(match self.has_several_remotes() {
                true => tools::ONE_POLICY.to_owned(),
                false => format!("Memory is local: only charz exec has a word for {} memory.", self.memory),
            });
            return launch;
        };
        let own = match &launch.form {
            Form::Without => Vec::new(),
            Form::Variables(variables) => env(variables),
            Form::Command(words) => words.clone(),
            Form::Text(_) => {
                launch.notes.push(format!("This does not place memory: put numactl {word} before the program."));
                return launch;
            }
        };
        launch.form = Form::Command([own, vec!["numactl".to_owned(), word]].concat());
        launch
    }

    /// Whether the memory is to be remote, and not the same is so to all threads.
    pub fn has_several_remotes(&self) -> bool {
        let nodes = self.machine.node_of_strands();
        let remote = |seat: &Option<u32>| self.machine.farthest_node(*nodes.get(&(*seat)?)?);
        let remotes: HashSet<Option<u32>> = self.seats.iter().map(remote).collect();
        self.memory == MemoryHome::Remote && remotes.len() > 1
    }

    /// The seats of all threads in order; `None` where the system places one.
    fn bound(&self) -> Option<Vec<u32>> {
        let seats: Option<Vec<u32>> = self.seats.iter().copied().collect();
        seats.filter(|seats| !seats.is_empty())
    }

    /// Each CPU once, ascending; none where the system places threads.
    fn cpus(&self) -> Option<Vec<u32>> {
        let mut cpus = self.bound()?;
        cpus.sort_unstable();
        cpus.dedup();
        Some(cpus)
    }

    /// The fewest seats that give all when they are started over, as tools do with their lists. A CPU may repeat within them.
    fn round(&self) -> Option<Vec<u32>> {
        let mut seats = self.bound()?;
        let is_round = |length: &usize| seats.iter().zip(&seats[*length..]).all(|(one, next)| one == next);
        let length = (1..seats.len()).find(is_round).unwrap_or(seats.len());
        seats.truncate(length);
        Some(seats)
    }

    /// OS ids of the NUMA nodes that the memory is to be on, ascending; none where they are not known, or one has all.
    fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = match self.memory {
            MemoryHome::Node(node) => vec![node],
            MemoryHome::Interleaved => self.machine.nodes_for_memory(),
            MemoryHome::First => {
                self.machine.nodes_of(&self.seats[..self.seats.len().min(1)]).into_iter().flatten().collect()
            }
            // Also those of another kind of memory, which are as near.
            MemoryHome::Local | MemoryHome::Remote => {
                let seats = self.machine.strands.iter().filter(|strand| self.seats.contains(&Some(strand.os_id)));
                let local: HashSet<u32> = seats.flat_map(|strand| strand.numa_nodes.iter().copied()).collect();
                self.machine
                    .memory_nodes()
                    .filter(|(index, _)| self.machine.numa_nodes.len() > 1 && local.contains(&(*index as u32)))
                    .map(|(_, id)| id)
                    .collect()
            }
        };
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

#[cfg(test)]
mod tests;
