//! Mappers: in which order workers fill a machine.
//!
//! A mapper is an order and nothing more; [`place`](crate::place) deals workers along it. A new mapper is a type that implements
//! [`Mapper`] and a line in [`MAPPERS`]: the command line, its help, the generated page and the tests follow from it. A program
//! that links the crate can bring mappers of its own, by [`add`]; a program in any language can be one, by `command:`.

mod command;
mod likwid;
mod list;
mod occupancy;
mod pair;
mod round_robin;
mod simple;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

pub use command::ids as answer;
pub use pair::pair_mappings;

use crate::error::quote;
use crate::{Error, Machine, cpulist};

/// The order in which workers fill a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Operating-system ids of strands, each at most once unless [`Mapping::repeated`] says otherwise.
    Strands(Vec<u32>),
    /// No order: the operating system moves the workers as it likes.
    Floating,
}

/// Gives an order for each machine.
pub trait Mapper: Send + Sync {
    /// The order in which workers fill the usable strands of this machine. An error where the mapping does not fit the machine.
    fn order(&self, machine: &Machine) -> Result<Order, Error>;

    /// The same, where it follows from the ascending ids of the usable strands alone; `None` where the machine has to be known, also
    /// to say why the mapping does not fit.
    fn order_of_ids(&self, usable: &[u32]) -> Option<Order> {
        let _ = usable;
        None
    }

    /// A strand that the order names more than once because its author wrote so, if there is one.
    fn repeated(&self) -> Option<u32> {
        None
    }
}

/// A mapper with its parameter, and the canonical text of the parameter.
pub type ReadMapper = fn(&str) -> Result<(Box<dyn Mapper>, String), String>;

/// A line of the list of mappers.
pub struct MapperCard {
    /// The word on the command line: lower-case letters and hyphens.
    pub name: &'static str,
    /// The syntax of the parameter after the name and a colon; `None` if it takes none.
    pub parameter: Option<&'static str>,
    /// One sentence: what it does and what for.
    pub about: &'static str,
    /// Reads the parameter, which is empty where there is none; an error is a clause that says what is wrong.
    pub read: ReadMapper,
}

/// The built-in mappers.
#[rustfmt::skip]
pub static MAPPERS: &[MapperCard] = &[
    MapperCard { name: "round-robin", parameter: None, about: "Every core gets a thread before any gets a second, faster cores first; within that, threads spread over sockets, then NUMA nodes, then dies and caches.", read: |_| plain(round_robin::by_package) },
    MapperCard { name: "dumb", parameter: None, about: "Thread i on the CPU with the i-th smallest operating-system id, whatever that means on the machine.", read: |_| by_id(simple::dumb) },
    MapperCard { name: "auto", parameter: None, about: "Binds nothing: the operating system places and moves the threads.", read: |_| by_id(simple::auto) },
    MapperCard { name: "compact", parameter: None, about: "Fills a core before the next, a NUMA node before the next, a socket before the next.", read: |_| plain(simple::compact) },
    MapperCard { name: "compact-cores", parameter: None, about: "As compact, with the first CPU of each core only.", read: |_| plain(simple::compact_cores) },
    MapperCard { name: "one-per-core", parameter: None, about: "The first CPU of each core in round-robin order, and no other: with more threads than cores it starts over.", read: |_| plain(round_robin::one_per_core) },
    MapperCard { name: "numa", parameter: None, about: "As round-robin, but threads spread over NUMA nodes before sockets.", read: |_| plain(round_robin::by_numa) },
    MapperCard { name: "occupancy", parameter: Some("2200 or 12,12,0,0"), about: "The given number of threads on each socket, one digit or one comma-separated number per socket, dealt in turn and in round-robin order within.", read: occupancy::read },
    MapperCard { name: "list", parameter: Some("0,8,16-23"), about: "These CPUs by operating-system id, in this order, as other tools print them: 0-62:2, the mask 0x5, Slurm's map_cpu:, numactl's +0-3, !0 and all.", read: list::read },
    MapperCard { name: "pair", parameter: Some("core, cache, numa, package or machine"), about: "Two CPUs of which this is the innermost part that holds both: for kernels that measure what two threads cost each other.", read: pair::read },
    MapperCard { name: "likwid", parameter: Some("S0:0-3@S1:0-3"), about: "CPUs by their numbers within LIKWID's domains (N: all, S: socket, C: last cache, M: NUMA node), the first CPUs of cores first; the name may be left out.", read: likwid::read },
    MapperCard { name: "command", parameter: Some("PROGRAM [ARGS]"), about: "Asks a program, which gets the machine as JSON on its standard input and answers with operating-system ids; it takes the rest of the text.", read: command::read },
];

/// What other tools call a mapper, and its name. A mapping is known by the name.
pub const ALIASES: &[(&str, &str)] = &[
    ("spread", "round-robin"),
    ("scatter", "round-robin"),
    ("close", "compact"),
    ("packed", "compact"),
    ("os-order", "dumb"),
    ("unpinned", "auto"),
    ("os", "auto"),
    ("none", "auto"),
];

/// A mapper without a parameter, which fits every machine.
struct Plain(fn(&Machine) -> Order);

impl Mapper for Plain {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        Ok(self.0(machine))
    }
}

fn plain(order: fn(&Machine) -> Order) -> Result<(Box<dyn Mapper>, String), String> {
    Ok((Box::new(Plain(order)), String::new()))
}

/// A mapper without a parameter, which needs the ids of the usable strands only.
struct ById(fn(&[u32]) -> Order);

impl Mapper for ById {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let mut ids: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        ids.sort_unstable();
        Ok(self.0(&ids))
    }

    fn order_of_ids(&self, usable: &[u32]) -> Option<Order> {
        Some(self.0(usable))
    }
}

fn by_id(order: fn(&[u32]) -> Order) -> Result<(Box<dyn Mapper>, String), String> {
    Ok((Box::new(ById(order)), String::new()))
}

/// The mappers given to [`add`].
static ADDED: OnceLock<&[MapperCard]> = OnceLock::new();

/// Why mappers were not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// There is another mapper of this name, built-in or among those to add.
    #[error("two mappers are called {0:?}: give each a name of its own")]
    NameTaken(&'static str),
    /// A colon begins a parameter, a comma ends a mapping, and a digit would continue the one before.
    #[error("{0:?} is no name for a mapper: lower-case letters and hyphens only")]
    BadName(&'static str),
    /// A list that grows while it is in use would differ from one reader to the next.
    #[error("mappers were added before: add all of them in one call, when the program starts")]
    Twice,
}

/// Adds mappers behind the built-in ones, for the whole process: once, before anything asks for [`mappers`]. After an error the list
/// is as it was.
pub fn add(cards: &'static [MapperCard]) -> Result<(), NotAdded> {
    for (i, MapperCard { name, .. }) in cards.iter().enumerate() {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
            return Err(NotAdded::BadName(name));
        }
        let taken = MAPPERS.iter().chain(&cards[..i]).any(|other| other.name == *name);
        if taken || ALIASES.iter().any(|(alias, _)| alias == name) {
            return Err(NotAdded::NameTaken(name));
        }
    }
    ADDED.set(cards).map_err(|_| NotAdded::Twice)
}

/// Every mapper: the built-in ones, then those added.
pub fn mappers() -> impl Iterator<Item = &'static MapperCard> {
    MAPPERS.iter().chain(ADDED.get().copied().unwrap_or_default())
}

/// A mapper with its parameter, as it was written.
#[derive(Clone)]
pub struct Mapping {
    text: String,
    mapper: Arc<dyn Mapper>,
}

impl Mapping {
    /// As [`str::parse`], for a text from a file, whose author must not choose what runs here.
    ///
    /// # Errors
    /// Those of parsing, and `command:`.
    pub fn of_data(text: &str) -> Result<Self, Error> {
        let mapping: Self = text.parse()?;
        if mapping.text.starts_with("command:") {
            return Err(misfit(text, "a program that a file names is not run; write its answer as list:CPU,…"));
        }
        Ok(mapping)
    }

    /// As [`Mapper::order`]; also an error where this process may use no strand.
    pub fn order(&self, machine: &Machine) -> Result<Order, Error> {
        if machine.usable_strands().next().is_none() {
            let mask = machine.usable.affinity.as_ref().map(|affinity| {
                let mut listed: Vec<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
                listed.sort_unstable();
                format!(": the machine lists {}, and the affinity mask has {affinity}", cpulist::print(&listed))
            });
            let mask = mask.unwrap_or_default();
            let reason = format!("none of the machine's CPUs is allowed (cpuset or affinity mask){mask}");
            return Err(misfit(&self.text, &reason));
        }
        self.mapper.order(machine)
    }

    /// As [`Mapper::order_of_ids`]: within microseconds, where [`discover`](crate::discover) takes milliseconds.
    #[must_use]
    pub fn order_of_ids(&self, usable: &[u32]) -> Option<Order> {
        self.mapper.order_of_ids(usable).filter(|_| !usable.is_empty())
    }

    /// A strand that the mapping names more than once, if there is one.
    ///
    /// Workers then share it although other strands may be free. That can be meant, as an experiment, or be a slip: the
    /// caller has to ask.
    #[must_use]
    pub fn repeated(&self) -> Option<u32> {
        self.mapper.repeated()
    }
}

impl FromStr for Mapping {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, parameter) = match text.split_once(':') {
            _ if likwid::begins_with_domain(text) => ("likwid", Some(text)),
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
        let Some(card) = mappers().find(|card| card.name == name) else {
            let known = mappers().map(|card| card.name).collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownMapping { mapping: quote(text), name: name.to_owned(), known });
        };
        match (card.parameter, parameter) {
            (None, Some(_)) => return Err(misfit(text, &format!("{name} takes no parameter; write {name}"))),
            (Some(syntax), None | Some("")) => {
                return Err(misfit(text, &format!("{name} needs a parameter; write {name}:{syntax}")));
            }
            _ => {}
        }
        let (mapper, canonical) = (card.read)(parameter.unwrap_or("")).map_err(|reason| misfit(text, &reason))?;
        let text = if canonical.is_empty() { name.to_owned() } else { format!("{name}:{canonical}") };
        Ok(Self { text, mapper: mapper.into() })
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapping").field(&self.text).finish()
    }
}

/// Two mappings are equal when they read the same.
impl PartialEq for Mapping {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Mapping {}

/// Reads a comma-separated list of mappings.
///
/// Commas also occur inside `list:0,8`, `list:0x1,0x4` and `occupancy:2,2`: a piece that starts with a digit continues the mapping
/// before it. `command:` takes the rest of the text.
pub fn parse_mappings(text: &str) -> Result<Vec<Mapping>, Error> {
    let mut mappings = Vec::new();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (mapping, after) = text.split_at(end_of_mapping(text));
        mappings.push(mapping.parse()?);
        rest = after.strip_prefix(',');
    }
    Ok(mappings)
}

/// Where the first mapping of a comma-separated list ends.
fn end_of_mapping(text: &str) -> usize {
    if text.starts_with("command:") {
        return text.len();
    }
    let takes_numbers = text.contains(':');
    // hwloc leaves words of a mask empty.
    let is_mask = text.starts_with("list:0x");
    let continues = |next: char| next.is_ascii_digit() || (is_mask && next == ',');
    let ends = |at: &usize| !(takes_numbers && text[at + 1..].starts_with(continues));
    text.match_indices(',').map(|(at, _)| at).find(ends).unwrap_or(text.len())
}

fn misfit(text: &str, reason: &str) -> Error {
    Error::Mapping { mapping: quote(text), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{ALIASES, MAPPERS, Mapping, parse_mappings};

    #[track_caller]
    fn check(text: &str, expected: Result<&[&str], &str>) {
        match (parse_mappings(text), expected) {
            (Ok(found), Ok(expected)) => {
                assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected)
            }
            (Err(found), Err(part)) => assert!(found.to_string().contains(part), "{found} does not say {part:?}"),
            (found, expected) => panic!("{text:?} gave {found:?} where {expected:?} was expected"),
        }
    }

    #[test]
    fn a_list_of_mappings_is_split_where_a_mapping_starts() {
        check("round-robin,dumb,auto", Ok(&["round-robin", "dumb", "auto"]));
        check("list:0,8,16-23,dumb", Ok(&["list:0,8,16-23", "dumb"]));
        check("occupancy:012,1,0,0,occupancy:2200", Ok(&["occupancy:12,1,0,0", "occupancy:2200"]));
        check("auto,command:my-mapper --first 1,2 'a b'", Ok(&["auto", "command:my-mapper --first 1,2 'a b'"]));
        check("list:3,2,1,0", Ok(&["list:3,2,1,0"]));
        check("list:0,1,2", Ok(&["list:0-2"]));
        check(
            "list:0-6:2,dumb,list:0x1,0x8,list:0x00000001,,0x0,auto",
            Ok(&["list:0,2,4,6", "dumb", "list:0,3", "list:64", "auto"]),
        );
        check("list:+0-1,list:!3,4,list:all", Ok(&["list:+0-1", "list:!3-4", "list:all"]));
        check("S0:0,2@S1:1,3,auto", Ok(&["likwid:S0:0,2@S1:1,3", "auto"]));
    }

    #[test]
    fn names_of_other_tools_become_ours() {
        check("spread,scatter,os-order", Ok(&["round-robin", "round-robin", "dumb"]));
        check("close,packed,unpinned,os,none", Ok(&["compact", "compact", "auto", "auto", "auto"]));
        for (alias, name) in ALIASES {
            assert!(MAPPERS.iter().any(|card| card.name == *name) && MAPPERS.iter().all(|card| card.name != *alias));
        }
    }

    #[test]
    fn what_is_no_mapping_is_refused_with_a_sentence() {
        check("", Err("unknown mapping"));
        check("dumb,", Err("unknown mapping"));
        check("dumb,,auto", Err("unknown mapping"));
        check("dumb,3", Err("unknown mapping"));
        check("spread:socket", Err("round-robin takes no parameter"));
        check("rr", Err("there are round-robin, dumb"));
        check("dumb:", Err("takes no parameter"));
        check("round-robin:socket", Err("takes no parameter"));
        check("list", Err("write list:0,8"));
        check("list:", Err("write list:0,8"));
        check("list:1-", Err("is not a CPU id"));
        check("occupancy:x", Err("is not a number"));
        check("occupancy:0000", Err("has no threads"));
        check("command: ", Err("names no program"));
        check("command:'", Err("quotation mark"));
        assert!(Mapping::of_data("command:true").unwrap_err().to_string().contains("is not run"));
        assert_eq!(Mapping::of_data("os").unwrap().to_string(), "auto");
        check("\u{1b}[2J", Err("\\u{1b}"));
    }

    #[test]
    fn a_strand_that_is_named_twice_is_found() {
        for (text, strand) in [("list:0,0", Some(0)), ("list:0-3,2", Some(2)), ("list:3,1", None), ("dumb", None)] {
            assert_eq!(text.parse::<Mapping>().unwrap().repeated(), strand, "{text}");
        }
    }

    #[test]
    fn the_canonical_text_reads_back_as_itself() {
        for text in ["dumb", "list:0,8,16-23", "list:1,1", "occupancy:2200", "occupancy:12,0", "command:prog  'a b'"] {
            let mapping: Mapping = text.parse().unwrap();
            let again: Mapping = mapping.to_string().parse().unwrap();
            assert_eq!(mapping, again);
        }
    }

    #[test]
    fn every_name_reads_and_is_its_own() {
        for card in MAPPERS {
            assert!(card.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", card.name);
            assert_eq!(MAPPERS.iter().filter(|other| other.name == card.name).count(), 1);
        }
    }
}
