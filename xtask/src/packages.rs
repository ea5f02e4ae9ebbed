//! Native packages: what is needed, whether it is there, and installing it with the system's package manager.

use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::process;

/// Something outside of cargo's reach that a task needs: a program, by its `.so` a library, or by its path a file.
pub struct Need {
    what: &'static str,
    /// What needs it, as the end of the sentence "… is missing; … needs it".
    why: &'static str,
    /// The packages that bring it, in the order of [`MANAGERS`]; separated by spaces.
    packages: [&'static str; 5],
}

impl Need {
    /// `packages` are separated by spaces, in the order of apt, dnf, pacman, zypper and apk; none where there is no package.
    pub const fn new(what: &'static str, why: &'static str, packages: [&'static str; 5]) -> Self {
        Need { what, why, packages }
    }

    fn is_there(&self) -> bool {
        if self.what.starts_with('/') {
            return std::path::Path::new(self.what).is_file();
        }
        if self.what.contains(".so") { has_library(self.what) } else { process::find(self.what).is_some() }
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

const MANAGERS: [Manager; 5] = [
    Manager {
        program: "apt-get",
        install: &["install", "--yes", "--quiet", "--no-install-recommends"],
        refresh: &["update", "--quiet"],
    },
    Manager { program: "dnf", install: &["install", "--assumeyes", "--quiet"], refresh: &[] },
    Manager { program: "pacman", install: &["--sync", "--needed", "--noconfirm"], refresh: &["--sync", "--refresh"] },
    Manager { program: "zypper", install: &["--non-interactive", "install", "--no-recommends"], refresh: &[] },
    Manager { program: "apk", install: &["add", "--quiet"], refresh: &["update", "--quiet"] },
];

/// The linker that rustc calls, with the C library's files for linking.
pub const CC: Need =
    Need { what: "cc", why: "linking Rust programs", packages: ["gcc libc6-dev", "gcc", "gcc", "gcc", "gcc musl-dev"] };

/// The runtime library of hwloc. Its development files are not needed.
pub const HWLOC: Need = Need {
    what: "libhwloc.so.15",
    why: "charz reads the topology of the machine through it",
    packages: ["libhwloc15", "hwloc-libs", "hwloc", "libhwloc15", "hwloc"],
};

pub const OBJDUMP: Need = Need {
    what: "objdump",
    why: "the arithmetic instructions of the kernels are counted in its output",
    packages: ["binutils"; 5],
};

pub const VALGRIND: Need =
    Need { what: "valgrind", why: "pure code is gated by the instructions that it counts", packages: ["valgrind"; 5] };

pub const MAKE: Need = Need { what: "make", why: "hwloc is built by it", packages: ["make"; 5] };

pub const BZIP2: Need = Need { what: "bzip2", why: "hwloc's source is compressed by it", packages: ["bzip2"; 5] };

pub const LIKWID: Need =
    Need { what: "likwid-bench", why: "it is the peer that the kernels are compared with", packages: ["likwid"; 5] };

pub const LSCPU: Need = Need {
    what: "lscpu",
    why: "it is the peer that `charz topo` is compared with",
    packages: ["util-linux", "util-linux", "util-linux", "util-linux", "lscpu"],
};

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
            packages.join(" ")
        ))),
    }
}

fn install(manager: &Manager, packages: &[&str]) -> Outcome {
    let by_hand = typed("sudo", manager, packages);
    let Some(privilege) = privilege() else {
        return Err(Failure::environment(format!("installing needs root; run: {by_hand}")));
    };
    eprintln!("installing it: {}", typed(&privilege.join(" "), manager, packages));
    let command = |arguments: &[&str], packages: &[&str]| {
        let words: Vec<&str> = privilege.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(manager.program).args(arguments).args(packages);
        // Results of tasks go to standard output, and a package manager's talk is not one.
        command.stdin(std::process::Stdio::null()).stdout(std::io::stderr());
        command
    };
    let installed = process::run(&mut command(manager.install, packages));
    if installed.is_ok() {
        return Ok(());
    }
    // A fresh image has no lists of packages, and stale lists name versions that are gone.
    if !manager.refresh.is_empty() {
        eprintln!("that did not work; fetching the lists of packages first");
        let _ = process::run(&mut command(manager.refresh, &[]));
        if process::run(&mut command(manager.install, packages)).is_ok() {
            return Ok(());
        }
    }
    Err(Failure::environment(format!("{} could not install {}; run: {by_hand}", manager.program, packages.join(" "))))
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

/// The command that installs `packages`, as one would type it.
fn typed(privilege: &str, manager: &Manager, packages: &[&str]) -> String {
    format!("{privilege} {} {} {}", manager.program, manager.install.join(" "), packages.join(" ")).trim().to_owned()
}

/// Whether the dynamic linker finds a library: in its cache, or in a folder that it searches.
fn has_library(name: &str) -> bool {
    let cached = process::find("ldconfig")
        .and_then(|ldconfig| Command::new(ldconfig).arg("-p").output().ok())
        .is_some_and(|output| lists_library(&String::from_utf8_lossy(&output.stdout), name));
    cached || library_folders().iter().any(|folder| folder.join(name).is_file())
}

/// Whether the output of `ldconfig -p` lists a library whose file is still there.
fn lists_library(output: &str, name: &str) -> bool {
    let lines = output.lines().filter(|line| line.split_whitespace().next() == Some(name));
    lines.filter_map(|line| line.split_once("=> ")).any(|(_, file)| std::path::Path::new(file.trim()).is_file())
}

/// The folders that dynamic linkers search by themselves, of the distributions that [`MANAGERS`] serve.
fn library_folders() -> Vec<std::path::PathBuf> {
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let usual = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"].map(Into::into);
    let multiarch = ["/lib", "/usr/lib"].map(|folder| std::path::Path::new(folder).join(&triple));
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
        assert!(lists_library(&cache, "liba.so.1"));
        assert!(!lists_library(&cache, "liba.so"));
        assert!(!lists_library(&cache, "libb.so.1"));
    }

    #[test]
    fn the_command_to_type_is_whole() {
        assert_eq!(
            typed("sudo", &MANAGERS[0], &["libhwloc15"]),
            "sudo apt-get install --yes --quiet --no-install-recommends libhwloc15"
        );
        assert!(typed("", &MANAGERS[1], &["hwloc-libs"]).starts_with("dnf install "));
    }

    #[test]
    fn what_is_there_is_not_installed() {
        let need = Need { what: "sh", why: "y", packages: ["no-such-package"; 5] };
        assert!(!ensure(&[need]).unwrap());
    }
}
