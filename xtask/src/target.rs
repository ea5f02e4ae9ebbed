//! Architectures that charz is built for, as programs that need nothing installed: hwloc and the C library are linked into them.
//!
//! The C library remains glibc, whose locks, threads and allocator some kernels measure: a program with another one would show other
//! numbers than one that was built from its source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::packages::{self, BZIP2, CC, MAKE, Need};
use crate::{Failure, Outcome, process, workspace};

/// An architecture by its names, and what builds for it on another one.
pub struct Target {
    /// Rust's, as in `std::env::consts::ARCH`.
    pub arch: &'static str,
    pub triple: &'static str,
    /// The one in names of Debian's packages.
    pub debian: &'static str,
    /// The prefix of the GNU tools.
    gnu: &'static str,
    /// QEMU's programs that run a program of this architecture on another one, the best first.
    emulators: [&'static str; 2],
    cross: [Need; 3],
}

pub const TARGETS: [Target; 2] = [
    Target {
        arch: "x86_64",
        triple: "x86_64-unknown-linux-gnu",
        debian: "amd64",
        gnu: "x86_64-linux-gnu",
        emulators: ["qemu-x86_64-static", "qemu-x86_64"],
        cross: [
            compiler("x86_64-linux-gnu-gcc", ["gcc-x86-64-linux-gnu", "gcc-x86_64-linux-gnu", "", ""]),
            library("/usr/x86_64-linux-gnu/lib/libc.a", ["libc6-dev-amd64-cross", "", "", ""]),
            emulator("qemu-x86_64-static or qemu-x86_64"),
        ],
    },
    Target {
        arch: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        debian: "arm64",
        gnu: "aarch64-linux-gnu",
        emulators: ["qemu-aarch64-static", "qemu-aarch64"],
        cross: [
            compiler(
                "aarch64-linux-gnu-gcc",
                ["gcc-aarch64-linux-gnu", "gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc", ""],
            ),
            library("/usr/aarch64-linux-gnu/lib/libc.a", ["libc6-dev-arm64-cross", "", "aarch64-linux-gnu-glibc", ""]),
            emulator("qemu-aarch64-static or qemu-aarch64"),
        ],
    },
];

const fn compiler(what: &'static str, packages: [&'static str; 4]) -> Need {
    Need::new(what, "it compiles and links for the other architecture", packages)
}

const fn library(what: &'static str, packages: [&'static str; 4]) -> Need {
    Need::new(what, "it is linked into programs for the other architecture", packages)
}

const fn emulator(what: &'static str) -> Need {
    const PACKAGES: [&str; 4] =
        ["qemu-user-static|qemu-user", "qemu-user-static", "qemu-user-static", "qemu-linux-user"];
    Need::new(what, "it runs programs of the other architecture", PACKAGES)
}

impl Target {
    /// That of this machine.
    pub fn host() -> Outcome<&'static Target> {
        let arch = std::env::consts::ARCH;
        Target::find(|target| target.arch == arch)
            .ok_or_else(|| Failure::environment(format!("charz is not built for {arch}")))
    }

    /// The one that is not this machine's.
    pub fn other() -> Outcome<&'static Target> {
        let host = Target::host()?;
        Target::find(|target| target.arch != host.arch)
            .ok_or_else(|| Failure::environment("charz has one architecture"))
    }

    /// By its triple, as cargo has it.
    pub fn named(triple: &str) -> Outcome<&'static Target> {
        let known = || TARGETS.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
        Target::find(|target| target.triple == triple)
            .ok_or_else(|| Failure::usage(format!("there is no target {triple:?}; the targets are {}", known())))
    }

    fn find(is: impl Fn(&Target) -> bool) -> Option<&'static Target> {
        static TARGETS: [Target; 2] = self::TARGETS;
        TARGETS.iter().find(|target| is(target))
    }

    pub fn is_host(&self) -> bool {
        self.arch == std::env::consts::ARCH
    }

    /// The program of the GNU tools with this name: `objdump` for this machine, `aarch64-linux-gnu-objdump` for another.
    pub fn tool(&self, name: &str) -> String {
        if self.is_host() { name.to_owned() } else { format!("{}-{name}", self.gnu) }
    }

    /// Installs what building for it needs, and running on another architecture.
    pub fn prepare(&self) -> Outcome {
        packages::ensure(&[CC, MAKE, BZIP2])?;
        if !self.is_host() {
            packages::ensure(&self.cross)?;
            self.standard_library()?;
        }
        hwloc(self).map(drop)
    }

    fn standard_library(&self) -> Outcome {
        let libraries =
            || process::read(Command::new("rustc").args(["--print", "target-libdir", "--target", self.triple]));
        if Path::new(libraries()?.trim()).is_dir() {
            return Ok(());
        }
        let add = ["target", "add", self.triple];
        if process::find("rustup").is_none() {
            let message =
                format!("Rust's standard library for {} is missing; run: rustup {}", self.triple, add.join(" "));
            return Err(Failure::environment(message));
        }
        let added = process::run(Command::new("rustup").current_dir(workspace::root()).args(add));
        added.map_err(Failure::of_environment)
    }

    /// A cargo that builds the checkout for it, statically. The words begin with a command of cargo; `--locked` is one of them.
    pub fn cargo(&self, words: &[&str]) -> Outcome<Command> {
        let hwloc = hwloc(self)?.join("prefix/lib");
        let (command, rest) = words.split_first().ok_or_else(|| Failure::usage("cargo needs a command"))?;
        let mut cargo = Command::new(workspace::cargo_program());
        // Not from the checkout, whose configuration names hwloc's shared library.
        cargo.current_dir("/").env("RUSTFLAGS", "-C target-feature=+crt-static").env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo.arg(command).args(["--locked", "--target", self.triple]).args(["--manifest-path"]);
        cargo.arg(workspace::root().join("Cargo.toml")).arg("--target-dir").arg(workspace::target());
        let search = format!("native={}", hwloc.display());
        for (key, value) in [("rustc-link-lib", "static=hwloc"), ("rustc-link-search", &search)] {
            cargo.arg("--config").arg(format!("target.{}.hwloc.{key} = [{value:?}]", self.triple));
        }
        if !self.is_host() {
            let name = self.triple.to_uppercase().replace('-', "_");
            cargo.env(format!("CARGO_TARGET_{name}_LINKER"), self.tool("gcc"));
            cargo.env(format!("CARGO_TARGET_{name}_RUNNER"), self.emulator());
            cargo.env(format!("CC_{}", self.triple.replace('-', "_")), self.tool("gcc"));
        }
        cargo.args(rest);
        Ok(cargo)
    }

    /// The emulator that is installed, or the one to install.
    pub fn emulator(&self) -> &'static str {
        self.emulators.into_iter().find(|name| process::find(name).is_some()).unwrap_or(self.emulators[0])
    }

    /// The start of a program of it: under the emulator where this machine has another architecture.
    pub fn run(&self, program: &Path) -> Command {
        if self.is_host() {
            return Command::new(program);
        }
        let mut command = Command::new(self.emulator());
        command.arg(program);
        command
    }

    /// Where cargo puts what it builds with a profile: `debug`, `release` or `lines`.
    pub fn folder(&self, profile: &str) -> PathBuf {
        workspace::target().join(self.triple).join(profile)
    }
}

/// The folder with hwloc's source, and below `prefix` the static library. It is built once.
pub fn hwloc(target: &Target) -> Outcome<PathBuf> {
    let folder = workspace::target().join("hwloc").join(target.arch);
    if !folder.join("prefix/lib/libhwloc.a").is_file() {
        build_hwloc(target, &folder).map_err(|failure| failure.within("hwloc"))?;
    }
    Ok(folder)
}

/// hwloc as a static library, of the source of the package that the tests run with; without devices, libxml2 and plug-ins, which
/// would have to be linked in as well.
fn build_hwloc(target: &Target, folder: &Path) -> Outcome {
    if process::find("apt-get").is_none() {
        return Err(Failure::environment("its source comes from apt-get: run this on Debian or Ubuntu"));
    }
    let _ = fs::remove_dir_all(folder);
    let make =
        |folder: &Path| fs::create_dir_all(folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error));
    make(&folder.join("lists/partial"))?;
    let versions = process::read(Command::new("apt-cache").args(["madison", "libhwloc15"]))?;
    let sources =
        sources(&versions).ok_or_else(|| Failure::environment("apt has no libhwloc15; run: apt-get update"))?;
    let list = folder.join("sources.list");
    fs::write(&list, sources).map_err(|error| Failure::io(format!("write {list:?}"), &error))?;
    // Lists of the source packages are seldom on a machine; these do not touch the system's.
    for words in [&["update"][..], &["source", "--download-only", "hwloc"]] {
        let mut apt = Command::new("apt-get");
        apt.current_dir(folder).args([
            "--quiet",
            "--option",
            "APT::Sandbox::User=",
            "--option",
            "Dir::Etc::SourceParts=-",
        ]);
        for (option, place) in [("Etc::SourceList", list.clone()), ("State::Lists", folder.join("lists"))] {
            apt.arg("--option").arg(format!("Dir::{option}={}", place.display()));
        }
        apt.args(["--option", "Dir::Cache::PkgCache=", "--option", "Dir::Cache::SrcPkgCache="]).args(words);
        process::run(&mut apt).map_err(Failure::of_environment)?;
    }
    let source = folder.join("source");
    make(&source)?;
    let entries = fs::read_dir(folder).map_err(|error| Failure::io(format!("list {folder:?}"), &error))?;
    let mut files = entries.flatten().map(|entry| entry.path());
    let tarball = files.find(|file| file.to_string_lossy().contains(".orig.tar"));
    let tarball = tarball.ok_or_else(|| Failure::found("apt-get brought no source"))?;
    let mut tar = Command::new("tar");
    process::run(
        tar.args(["--extract", "--strip-components=1", "--directory"]).arg(&source).arg("--file").arg(tarball),
    )?;
    let mut configure = Command::new("./configure");
    configure.current_dir(&source).arg("--quiet").arg(format!("--prefix={}", folder.join("prefix").display()));
    configure.args(["--enable-static", "--disable-shared", "--disable-io", "--disable-libudev", "--disable-libxml2"]);
    configure.args(["--disable-cairo", "--disable-plugins", "--disable-dependency-tracking"]);
    if !target.is_host() {
        configure.arg(format!("--host={}", target.gnu));
    }
    let mut make = Command::new("make");
    make.current_dir(&source).args(["--silent", "--directory=hwloc", "install"]);
    for step in [&mut configure, &mut make] {
        // What is wrong goes to standard error; the rest is long.
        process::run(step.stdout(Stdio::null()))?;
    }
    Ok(())
}

/// The lists of source packages beside those of packages that `apt-cache madison` names.
fn sources(versions: &str) -> Option<String> {
    let source = |line: &str| {
        let mut words = line.split('|').nth(2)?.split_whitespace();
        let (archive, (suite, component)) = (words.next()?, words.next()?.rsplit_once('/')?);
        Some(format!("deb-src {archive} {suite} {component}\n"))
    };
    Some(versions.lines().filter_map(source).collect()).filter(|list: &String| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_lie_beside_packages() {
        let versions = " libhwloc15 | 2.7.0-2 | http://a.org/debian-security bookworm/updates/main amd64 Packages\n \
                         libhwloc15 | 2.9.0-1 | http://a.org/debian bookworm/main amd64 Packages\n";
        let list =
            "deb-src http://a.org/debian-security bookworm/updates main\ndeb-src http://a.org/debian bookworm main\n";
        assert_eq!(sources(versions).as_deref(), Some(list));
        assert_eq!(sources(""), None);
    }

    #[test]
    fn this_machine_is_one_target_and_not_the_other() {
        let (host, other) = (Target::host().unwrap(), Target::other().unwrap());
        assert!(host.is_host() && !other.is_host());
        assert_eq!(Target::named(other.triple).unwrap().arch, other.arch);
        assert_eq!((host.tool("objdump"), other.tool("ld")), ("objdump".to_owned(), format!("{}-ld", other.gnu)));
        assert_eq!(Target::named("riscv").err().map(|failure| failure.code), Some(2));
    }
}
