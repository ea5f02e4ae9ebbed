//! `charz kernels`, and how kernels are named.

use charz_kernels::{Family, Kernel};
use clap::Args;

use super::choice::{choice, most_alike};
use super::format::{OutputArgs, takes_one};
use super::help;
use crate::command::Command;
use crate::exit::Error;
use crate::view::kernels as list;
use charz_data::escape::quote;
use charz_data::{COMMAND, KNOWN_AS, Role, known_as};

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, list::FORMATS)))]
pub(super) struct KernelsArgs {
    /// A kernel, a family, how names begin (mem-*), what another tool calls it (stream), or words of what is measured (page fault)
    pub(super) name: Option<String>,
    /// Everything about every kernel
    #[arg(long, conflicts_with = "name")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn list(args: &KernelsArgs) -> Result<Command, Error> {
    let of = match &args.name {
        Some(name) => list::Of::Some(kernels_or_family(name)?),
        None if args.all => list::Of::All,
        None => list::Of::Index,
    };
    Ok(Command::Kernels { of, format: args.into.of(list::FORMATS)? })
}

/// Kernels by name, by how their names begin before a `*`, or by the name that another tool has for them.
pub(super) fn kernels(names: &[String]) -> Result<Vec<&'static str>, Error> {
    let all = || charz_workloads::kernels().map(|kernel| &*kernel.card().name);
    let mut chosen = Vec::new();
    for name in names {
        if name == COMMAND {
            return Err(Error::bad_input(format!(
                "--kernel: {name} is a program of yours: name it with {}",
                help::COMMAND
            )));
        }
        let begins = name.strip_suffix('*');
        let before = chosen.len();
        chosen.extend(all().filter(|all| all == name || begins.is_some_and(|part| all.starts_with(part))));
        if chosen.len() == before {
            let known =
                known_as(name).ok_or_else(|| unknown_kernel(name, all().chain(KNOWN_AS.iter().map(|k| k.name))))?;
            chosen.extend(known);
        }
    }
    Ok(chosen)
}

fn unknown_kernel(name: &str, names: impl Iterator<Item = &'static str>) -> Error {
    const MOST_SIMILAR: usize = 3;
    let similar: Vec<&str> = most_alike(name, names).into_iter().take(MOST_SIMILAR).collect();
    let similar = if similar.is_empty() { String::new() } else { format!(" (similar: {})", similar.join(", ")) };
    Error::bad_input(format!("unknown kernel {}{similar}; list: charz kernels", quote(name)))
}

fn kernels_or_family(name: &str) -> Result<Vec<&'static dyn Kernel>, Error> {
    let family = charz_workloads::families().find(|family| family.name() == name);
    let named = if family.is_some() { Ok(Vec::new()) } else { kernels(&[name.to_owned()]) };
    named.map(|named| chosen(&named, family.as_slice())).or_else(|unknown| {
        let found = described_by(name);
        if found.is_empty() { Err(unknown) } else { Ok(found) }
    })
}

/// The kernels whose name, family, description, or name elsewhere has each of these words, or begins a word with it.
fn described_by(words: &str) -> Vec<&'static dyn Kernel> {
    let lower = |text: &str| text.to_lowercase();
    let separators = |letter: char| !letter.is_alphanumeric();
    let wanted: Vec<String> = lower(words).split(separators).filter(|word| word.len() > 1).map(str::to_owned).collect();
    let has_all = |kernel: &&'static dyn Kernel| {
        let card = kernel.card();
        let elsewhere = SEARCHED_AS.iter().filter(|known| known.1.iter().any(|name| card.name.starts_with(name)));
        let elsewhere = elsewhere.map(|known| known.0).collect::<Vec<_>>().join(" ");
        let text = lower(&format!("{} {} {} {elsewhere}", card.name, card.family.name(), card.about));
        let begins = |word: &String| text.split(separators).any(|own| own.starts_with(word.as_str()));
        !wanted.is_empty() && wanted.iter().all(begins)
    };
    charz_workloads::kernels().filter(has_all).collect()
}

/// Words that people look for, and how the names of the kernels begin that answer them.
const SEARCHED_AS: &[(&str, &[&str])] = &[
    ("memmove bcopy", &["copy-"]),
    ("memset fill", &["mem-write", "level-write"]),
    ("gettimeofday rdtsc rdtscp timestamp", &["read-"]),
    ("mutex pthread spinlock futex critical section", &["lock-", "counter-mutex", "ring-mutex"]),
    ("false sharing padding padded cache line", &["atomic-fetch-add", "atomic-store", "atomic-load"]),
    ("page fault minor first touch mmap munmap", &["pages-"]),
    ("huge pages tlb thp hugepage", &["chase-random", "chase-stride", "tlb-shootdown", "pages-"]),
    ("pipe eventfd wake wakeup latency", &["channel-", "futex-wake", "unpark", "signal-", "broadcast-"]),
    ("syscall system call", &["call-"]),
    ("cas compare and swap cmpxchg", &["atomic-cas", "cas-", "c2c-cas"]),
    ("memory latency", &["chase-", "loaded-"]),
    ("memory bandwidth", &["mem-", "level-", "loaded-"]),
    ("flops fma avx simd", &["peak-", "arith-float"]),
    ("malloc free allocator", &["alloc-"]),
    ("thread create spawn pthread_create", &["create-", "fork-"]),
    ("sleep timer jitter", &["timeout-", "timeslice"]),
    ("queue stack lock free pool", &["pool-"]),
    ("reader writer rwlock", &["rwlock-"]),
];

pub(super) fn families(names: &[String]) -> Result<Vec<Family>, Error> {
    let names = names.iter();
    let all = || charz_workloads::families().map(|family| (family.name(), family));
    names.map(|name| choice("--family", name, all())).collect()
}

/// The kernels of a family or by name, in the order of the catalog, each once.
pub(super) fn chosen(named: &[&str], families: &[Family]) -> Vec<&'static dyn Kernel> {
    let by_default = named.is_empty() && families.is_empty();
    let wanted = |kernel: &&'static dyn Kernel| {
        let card = kernel.card();
        named.contains(&&*card.name) || families.contains(&card.family) || (by_default && card.by_default)
    };
    charz_workloads::kernels().filter(wanted).collect()
}

/// The first kernel in each of these roles, as `--kernel` takes them.
pub(super) fn in_roles(roles: &[Role]) -> String {
    let card = |role: &Role| charz_workloads::kernels().map(|kernel| kernel.card()).find(|card| card.role == *role);
    roles.iter().filter_map(card).map(|card| &*card.name).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::check_refused;

    #[test]
    fn kernels_by_name_family_and_default() {
        let names = |kernels: Vec<&'static dyn Kernel>| kernels.iter().map(|k| &*k.card().name).collect::<Vec<_>>();
        let text = |word: &str| [word.to_owned()];
        assert_eq!(names(chosen(&[], &[])), ["arith-int", "arith-float", "mem-read", "mem-write-data"]);
        assert_eq!(names(chosen(&["noop", "mem-read", "noop"], &[])), ["mem-read", "noop"]);
        let compute = chosen(&[], &families(&text("compute")).unwrap());
        assert!(compute.iter().all(|kernel| kernel.card().family == Family::Compute) && compute.len() >= 4);
        assert_eq!(
            kernels(&text("arith-*")).unwrap(),
            ["arith-int", "arith-float", "arith-int-ilp", "arith-float-ilp"]
        );
        check_refused(kernels(&text("nothing-*")), "nothing-*");
        assert_eq!(kernels(&text("STREAM")).unwrap(), ["mem-copy", "mem-scale", "mem-add", "mem-triad"]);
        check_refused(kernels(&text("stram")), "stream");
        for (words, expected) in [
            ("memcpy", "copy-aligned"),
            ("pipe", "channel-pipe"),
            ("eventfd", "channel-eventfd"),
            ("Page Fault", "pages-map"),
            ("clock_gettime", "read-monotonic"),
            ("false sharing", "atomic-fetch-add-false"),
            ("mutex", "lock-pthread"),
        ] {
            let found = kernels_or_family(words).map(names).unwrap();
            assert!(found.contains(&expected), "{words}: {found:?}");
        }
        check_refused(kernels_or_family("no such thing"), "no such thing");
        assert_eq!(kernels_or_family("peakflops").map(names).unwrap(), ["peak-float"]);
        assert_eq!(kernels_or_family("floor").map(names).unwrap(), ["noop"]);
    }

    #[test]
    fn names_from_elsewhere_are_of_kernels_and_hide_none() {
        for known in KNOWN_AS {
            let missing = known.kernels.iter().find(|name| charz_workloads::find(name).is_none());
            assert!(missing.is_none() && !known.kernels.is_empty(), "{known:?}: {missing:?}");
            assert!(charz_workloads::find(known.name).is_none(), "{known:?} is a kernel's own name");
            assert_eq!(KNOWN_AS.iter().filter(|other| other.name == known.name).count(), 1, "{known:?}");
        }
        // The triad of likwid-bench passes over four arrays, and no kernel here does.
        check_refused(kernels(&["likwid-triad".to_owned()]), "likwid-stream");
    }
}
