//! Native packages: what is needed, whether it is there, and installing it with the system's package manager.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::process;

/// Something outside of cargo's reach that a task needs: a program, or one ` or ` another, by its `.so` a library, or by its
/// path a file.
pub struct Need {
    what: &'static str,
    /// What needs it, as the end of the sentence "… is missing; … needs it".
    why: &'static str,
    /// The packages that bring it, in the order of [`MANAGERS`]; separated by spaces, and by `|` from what replaces one where
    /// the system does not have it.
    packages: [&'static str; 4],
}

impl Need {
    /// `packages` are separated by spaces, in the order of apt, dnf, pacman and zypper; none where there is no package.
    pub const fn new(what: &'static str, why: &'static str, packages: [&'static str; 4]) -> Self {
        Need { what, why, packages }
    }

    fn is_there(&self) -> bool {
        if self.what.starts_with('/') {
            return Path::new(self.what).is_file();
        }
        if self.what.contains(".so") {
            return self.shared_object().is_some();
        }
        self.what.split(" or ").any(|program| process::find(program).is_some())
    }

    /// The file that the dynamic linker takes for a library: of its cache, or in a folder that it searches.
    pub fn shared_object(&self) -> Option<PathBuf> {
        let ldconfig = process::find("ldconfig").and_then(|ldconfig| Command::new(ldconfig).arg("-p").output().ok());
        let cached = ldconfig.and_then(|output| listed(&String::from_utf8_lossy(&output.stdout), self.what));
        let in_folders = || library_folders().into_iter().map(|folder| folder.join(self.what));
        cached.or_else(|| in_folders().find(|file| file.is_file()))
    }
}

struct Manager {
    /// Its program; the first manager of [`MANAGERS`] that is found is used.
    program: &'static str,
    /// The arguments that install the packages named after them, without asking.
    install: &'static [&'static str],
    /// The arguments that fetch the lists of packages, where installing does not do so by itself.
    refresh: &'static [&'static str],
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        install: &["install", "--yes", "--quiet", "--no-install-recommends"],
        refresh: &["update", "--quiet"],
    },
    Manager { program: "dnf", install: &["install", "--assumeyes", "--quiet"], refresh: &[] },
    Manager { program: "pacman", install: &["--sync", "--needed", "--noconfirm"], refresh: &["--sync", "--refresh"] },
    Manager { program: "zypper", install: &["--non-interactive", "install", "--no-recommends"], refresh: &[] },
];

/// The linker that rustc calls, with the C library's files for linking.
pub const CC: Need =
    Need { what: "cc", why: "linking Rust programs", packages: ["gcc libc6-dev", "gcc", "gcc", "gcc"] };

/// The runtime library of hwloc. Its development files are not needed.
pub const HWLOC: Need = Need {
    what: "libhwloc.so.15",
    why: "charz reads the topology of the machine through it",
    packages: ["libhwloc15", "hwloc-libs", "hwloc", "libhwloc15"],
};

pub const OBJDUMP: Need = Need {
    what: "objdump",
    why: "the arithmetic instructions of the kernels are counted in its output",
    packages: ["binutils"; 4],
};

pub const VALGRIND: Need =
    Need { what: "valgrind", why: "pure code is gated by the instructions that it counts", packages: ["valgrind"; 4] };

pub const MAKE: Need = Need { what: "make", why: "hwloc is built by it", packages: ["make"; 4] };

pub const BZIP2: Need = Need { what: "bzip2", why: "hwloc's source is compressed by it", packages: ["bzip2"; 4] };

/// Makes sure that everything in `needs` is there; installs what is not, saying so. Returns whether anything was
/// installed.
pub fn ensure(needs: &[Need]) -> Outcome<bool> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !need.is_there()).collect();
    if missing.is_empty() {
        return Ok(false);
    }
    for need in &missing {
        eprintln!("{} is missing: {}", need.what, need.why);
    }
    let names = missing.iter().map(|need| need.what).collect::<Vec<_>>().join(", ");
    let Some((at, manager)) = MANAGERS.iter().enumerate().find(|(_, m)| process::find(m.program).is_some()) else {
        return Err(Failure::environment(format!("no package manager is known here; install {names} by hand")));
    };
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages[at].split_whitespace()).collect();
    if missing.iter().any(|need| need.packages[at].is_empty()) {
        return Err(Failure::environment(format!(
            "{} has no package of it here; install {names} by hand",
            manager.program
        )));
    }
    install(manager, &packages)?;
    match missing.iter().find(|need| !need.is_there()) {
        None => Ok(true),
        Some(need) => Err(Failure::environment(format!(
            "{} is still not found after installing {}; install it by hand",
            need.what,
            named(&packages).join(" ")
        ))),
    }
}

fn install(manager: &Manager, packages: &[&str]) -> Outcome {
    let Some(privilege) = privilege() else {
        return Err(Failure::environment(format!(
            "installing needs root; run: {}",
            by_hand(manager, &named(packages))
        )));
    };
    eprintln!("installing it: {}", typed(&privilege.join(" "), manager, &named(packages)));
    let command = |arguments: &[&str], packages: &[&str]| {
        let words: Vec<&str> = privilege.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(manager.program).args(arguments).args(packages);
        // Results of tasks go to standard output, and a package manager's talk is not one.
        command.stdin(std::process::Stdio::null()).stdout(std::io::stderr());
        command
    };
    let installs = |packages: &[&str]| process::run(&mut command(manager.install, packages)).is_ok();
    if installs(&named(packages)) {
        return Ok(());
    }
    // A fresh image has no lists of packages, and stale lists name versions that are gone.
    if !manager.refresh.is_empty() {
        eprintln!("that did not work; fetching the lists of packages first");
        let _ = process::run(&mut command(manager.refresh, &[]));
        if installs(&named(packages)) {
            return Ok(());
        }
    }
    let left = left_by_each(&named(packages), installs);
    let (program, by_hand) = (manager.program, by_hand(manager, &left));
    let failed = || Failure::environment(format!("{program} could not install {}; run: {by_hand}", left.join(" ")));
    if left.is_empty() { Ok(()) } else { Err(failed()) }
}

/// The packages that cannot be installed one by one either: a manager that lacks one installs none of a list.
fn left_by_each<'a>(packages: &[&'a str], installs: impl Fn(&[&str]) -> bool) -> Vec<&'a str> {
    packages.iter().copied().filter(|package| !installs(&[package])).collect()
}

/// Of packages that replace each other the first that apt can install.
fn named<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let policy = |name: &str| {
        let output = Command::new("apt-cache").env("LC_ALL", "C").args(["policy", name]).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    packages.iter().map(|names| first_there(names, policy)).collect()
}

/// The first that has a candidate by apt's `policy`; where none has, as before the lists are fetched, the first.
fn first_there(names: &str, policy: impl Fn(&str) -> String) -> &str {
    let Some((first, _)) = names.split_once('|') else { return names };
    let is_there =
        |name: &&str| policy(name).split_once("Candidate: ").is_some_and(|(_, of)| !of.starts_with("(none)"));
    names.split('|').find(is_there).unwrap_or(first)
}

/// The words before a command that make it run as root; `None` when there are none that do not ask.
fn privilege() -> Option<Vec<&'static str>> {
    if process::is_root() {
        Some(vec![])
    } else if process::succeeds(Command::new("sudo").args(["-n", "true"])) {
        Some(vec!["sudo", "-n"])
    } else {
        None
    }
}

/// The commands that install `packages` where the lists of packages may be missing, as one would type them.
fn by_hand(manager: &Manager, packages: &[&str]) -> String {
    let install = typed("sudo", manager, packages);
    match manager.refresh {
        [] => install,
        refresh => format!("sudo {} {} && {install}", manager.program, refresh.join(" ")),
    }
}

/// The command that installs `packages`, as one would type it.
fn typed(privilege: &str, manager: &Manager, packages: &[&str]) -> String {
    format!("{privilege} {} {} {}", manager.program, manager.install.join(" "), packages.join(" ")).trim().to_owned()
}

/// The file of a library in the output of `ldconfig -p`, if it is still there.
fn listed(output: &str, name: &str) -> Option<PathBuf> {
    let lines = output.lines().filter(|line| line.split_whitespace().next() == Some(name));
    let mut files = lines.filter_map(|line| line.split_once("=> ")).map(|(_, file)| PathBuf::from(file.trim()));
    files.find(|file| file.is_file())
}

/// The folders that dynamic linkers search by themselves, of the distributions that [`MANAGERS`] serve.
fn library_folders() -> Vec<PathBuf> {
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let usual = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"].map(Into::into);
    let multiarch = ["/lib", "/usr/lib"].map(|folder| Path::new(folder).join(&triple));
    let asked = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&asked).chain(usual).chain(multiarch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_in_the_cache_counts_only_while_its_file_is_there() {
        let file = std::env::current_exe().unwrap();
        let cache =
            format!("2 libs found in cache\n\tliba.so.1 (libc6) => {}\n\tlibb.so.1 (libc6) => /gone\n", file.display());
        assert_eq!(listed(&cache, "liba.so.1"), Some(file));
        assert_eq!(listed(&cache, "liba.so"), None);
        assert_eq!(listed(&cache, "libb.so.1"), None);
    }

    #[test]
    fn the_command_to_type_is_whole() {
        assert_eq!(
            typed("sudo", &MANAGERS[0], &["libhwloc15"]),
            "sudo apt-get install --yes --quiet --no-install-recommends libhwloc15"
        );
        assert!(typed("", &MANAGERS[1], &["hwloc-libs"]).starts_with("dnf install "));
        let commands =
            |manager| by_hand(manager, &["hwloc"]).split(" && ").filter(|line| line.starts_with("sudo ")).count();
        assert_eq!([0, 1].map(|at| commands(&MANAGERS[at])), [2, 1]);
    }

    #[test]
    fn one_package_that_is_not_to_be_had_keeps_no_other_away() {
        let left = left_by_each(&["gcc", "gone", "make"], |packages| packages == ["gcc"] || packages == ["make"]);
        assert_eq!(left, ["gone"]);
    }

    #[test]
    fn a_virtual_package_is_replaced() {
        let check = |candidates: [&str; 2], expected: &str| {
            let policy = |name: &str| format!("{name}:\n  Candidate: {}\n", candidates[usize::from(name == "b")]);
            assert_eq!(first_there("a|b", policy), expected, "{candidates:?}");
        };
        check(["(none)", "1:10.1"], "b");
        check(["1:7.2", "1:7.2"], "a");
        check(["(none)", "(none)"], "a");
        assert_eq!(first_there("a", |_| String::new()), "a");
    }

    #[test]
    fn what_is_there_is_not_installed() {
        for what in ["sh", "no-such-program or sh"] {
            let need = Need { what, why: "y", packages: ["no-such-package"; 4] };
            assert!(!ensure(&[need]).unwrap());
        }
    }
}
