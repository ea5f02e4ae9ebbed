//! Builds what a machine runs, and boots it in QEMU's emulator.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use xtask::packages::Need;
use xtask::target::Target;
use xtask::{Failure, Outcome, process, workspace};

use super::Machine;
use super::debian::{self, Debian};
use super::initramfs::Initramfs;
use crate::test;

pub(super) const QEMU: [Need; 2] = [
    Need::new(
        "qemu-system-x86_64",
        "it boots machines that are not here",
        ["qemu-system-x86", "qemu-system-x86", "qemu-system-x86", "qemu-x86"],
    ),
    Need::new(
        "qemu-system-aarch64",
        "it boots machines that are not here",
        ["qemu-system-arm", "qemu-system-aarch64", "qemu-system-aarch64", "qemu-arm"],
    ),
];

/// A machine that hangs is ended after so long; one that works takes a fraction of it.
const MOST: Duration = Duration::from_secs(180);

/// The first line of one that works comes within a fraction of it.
const MOST_SILENT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Architecture {
    X86,
    Arm,
}

impl Architecture {
    /// The root of a tree with the kernel and the shell of its machines.
    pub(super) fn debian(self) -> Outcome<PathBuf> {
        let name = self.target()?.debian;
        Debian::new(folder().join(name), name, debian::KERNELS).unpacked(&["busybox-static"], true)
    }

    fn target(self) -> Outcome<&'static Target> {
        Target::named(match self {
            Architecture::X86 => "x86_64-unknown-linux-gnu",
            Architecture::Arm => "aarch64-unknown-linux-gnu",
        })
    }
}

fn folder() -> PathBuf {
    workspace::target().join("machines")
}

/// What the machines of an architecture have in common: the kernel, and files.
pub(super) struct System {
    kernel: PathBuf,
    files: Vec<(String, PathBuf)>,
}

impl System {
    pub(super) fn new(architecture: Architecture) -> Outcome<Self> {
        let (target, debian) = (architecture.target()?, architecture.debian()?);
        if target.is_host() { Self::native(target, debian) } else { Self::cross(target, debian) }
    }

    /// The debug build, which the tests use too: checks of this kind take no time.
    fn native(target: &Target, debian: PathBuf) -> Outcome<Self> {
        test::programs()?;
        let debug = workspace::built("debug");
        let charz = stripped(target, &debug);
        let libraries = process::read(Command::new("ldd").arg(&charz))?;
        let libraries = libraries.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from);
        let mut files: Vec<(String, PathBuf)> =
            libraries.map(|file| (file.display().to_string().trim_start_matches('/').to_owned(), file)).collect();
        files.push(("bin/charz".to_owned(), charz));
        files.push(("bin/guest".to_owned(), debug.join("examples/guest")));
        Self::with(debian, files)
    }

    /// A debug build for an architecture that this machine does not have. All that it needs is linked into it.
    fn cross(target: &Target, debian: PathBuf) -> Outcome<Self> {
        target.prepare()?;
        process::run(&mut target.cargo(&["build", "--quiet", "--package", "charz"])?)?;
        process::run(&mut target.cargo(&["build", "--quiet", "--package", "xtask", "--example", "guest"])?)?;
        let debug = target.folder("debug");
        let charz = stripped(target, &debug);
        let files = vec![("bin/charz".to_owned(), charz), ("bin/guest".to_owned(), debug.join("examples/guest"))];
        Self::with(debian, files)
    }

    fn with(debian: PathBuf, mut files: Vec<(String, PathBuf)>) -> Outcome<Self> {
        files.push(("bin/busybox".to_owned(), debian.join("bin/busybox")));
        Ok(System { kernel: debian::kernel(&debian)?, files })
    }

    /// An archive with a script; names of files are those in the machine.
    fn initramfs(&self, script: &str) -> Outcome<Vec<u8>> {
        let mut archive = Initramfs::default();
        ["proc", "sys", "dev", "tmp", "run"].iter().for_each(|folder| archive.folder(folder));
        archive.add("init", include_bytes!("init.sh"));
        archive.add("script", script.as_bytes());
        for (path, from) in &self.files {
            archive.copy(path, from)?;
        }
        Ok(archive.finished())
    }
}

/// charz without what only debuggers read, where there is a program that makes such a copy.
fn stripped(target: &Target, built: &Path) -> PathBuf {
    let (from, to) = (built.join("charz"), folder().join(target.debian).join("charz"));
    let made = process::succeeds(Command::new(target.tool("strip")).arg("-o").arg(&to).arg(&from));
    if made { to } else { from }
}

/// Boots a machine, which runs its script and powers itself off. What its console showed; a copy is kept in `folder`.
///
/// An emulator whose CPUs run beside each other now and then stops before the first line, whatever is booted: it begins once more.
pub(super) fn boot(machine: &Machine, system: &System, folder: &Path) -> Outcome<String> {
    debian::make(folder)?;
    let initramfs = folder.join("initramfs");
    debian::write(&initramfs, system.initramfs(&(machine.script)(machine))?)?;
    let errors = folder.join("qemu.txt");
    let mut qemu = Command::new("timeout");
    qemu.args(["--signal=KILL", &MOST.as_secs().to_string()]).args(words(machine));
    qemu.arg("-kernel").arg(&system.kernel).arg("-initrd").arg(&initramfs).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut console = run(&mut qemu, &errors)?;
    if console.is_empty() {
        console = run(&mut qemu, &errors)?;
    }
    // Hundreds of megabytes otherwise.
    let _ = std::fs::remove_file(&initramfs);
    let console = String::from_utf8_lossy(&console).into_owned();
    debian::write(&folder.join("console.txt"), &console)?;
    Ok(console)
}

/// Runs a machine to its end, or for as long as it may be silent at first.
fn run(qemu: &mut Command, errors: &Path) -> Outcome<Vec<u8>> {
    let errors = File::create(errors).map_err(|error| Failure::io(format!("create {errors:?}"), &error))?;
    let mut child =
        qemu.stderr(errors).spawn().map_err(|error| Failure::environment(format!("cannot start QEMU: {error}")))?;
    let out = child.stdout.take();
    let (sender, speaks) = mpsc::channel();
    let reader = thread::spawn(move || -> io::Result<Vec<u8>> {
        let Some(mut out) = out else { return Ok(Vec::new()) };
        let mut console = vec![0];
        let begun = out.read(&mut console)?;
        console.truncate(begun);
        let _ = sender.send(());
        out.read_to_end(&mut console)?;
        Ok(console)
    });
    if speaks.recv_timeout(MOST_SILENT) == Err(RecvTimeoutError::Timeout) {
        // The signal goes on to QEMU.
        let _ = process::kill("TERM", &child.id().to_string());
    }
    let waited = child.wait();
    let read = reader.join().unwrap_or_else(|_| Err(io::Error::other("its reader failed")));
    match (read, waited) {
        (Ok(console), Ok(_)) => Ok(console),
        (Err(error), _) | (_, Err(error)) => Err(Failure::io("read a machine's console", &error)),
    }
}

/// QEMU and its arguments, but for the files.
fn words(machine: &Machine) -> Vec<String> {
    let (shape, nodes) = (machine.shape, machine.nodes);
    let cpus = shape.sockets * shape.clusters * shape.cores * shape.threads;
    // Only some boards know clusters.
    let clusters =
        if machine.architecture == Architecture::Arm { format!("clusters={},", shape.clusters) } else { String::new() };
    let smp = format!("{cpus},sockets={},{clusters}cores={},threads={}", shape.sockets, shape.cores, shape.threads);
    let (program, board, cpu, console) = match machine.architecture {
        Architecture::X86 => ("qemu-system-x86_64", "pc", "Skylake-Server", "ttyS0"),
        Architecture::Arm => ("qemu-system-aarch64", "virt,gic-version=3", "neoverse-n1", "ttyAMA0"),
    };
    // With a thread per CPU the timers of many CPUs take all of a machine of two, whose boot then does not end.
    let accel = if machine.is_large() { "tcg,thread=single" } else { "tcg,thread=multi" };
    let mib: u32 = nodes.iter().map(|node| node.mib).sum();
    let mut words: Vec<String> =
        [program, "-accel", accel, "-machine", board, "-cpu", cpu, "-smp", &smp].map(str::to_owned).into();
    words.extend(["-m".to_owned(), format!("{mib}M")]);
    for (id, node) in nodes.iter().enumerate() {
        let cpus = node.cpus.map_or(String::new(), |(first, last)| format!(",cpus={first}-{last}"));
        let memory = if node.mib > 0 { format!(",memdev=m{id}") } else { String::new() };
        if node.mib > 0 {
            words.extend(["-object".to_owned(), format!("memory-backend-ram,id=m{id},size={}M", node.mib)]);
        }
        words.extend(["-numa".to_owned(), format!("node,nodeid={id}{cpus}{memory}")]);
    }
    for from in 0..nodes.len() {
        for to in (0..nodes.len()).filter(|to| *to != from) {
            words.extend(["-numa".to_owned(), format!("dist,src={from},dst={to},val={}", super::DISTANCE)]);
        }
    }
    // An emulator of many CPUs runs one after the other. So they come when the system is up, for each ticks before; their clocks,
    // which are one, are not compared by loops that wait for each other; and no CPU waits for all others to have rested.
    let many = "maxcpus=1 tsc=reliable rcupdate.rcu_expedited=1 nowatchdog mitigations=off";
    let line = format!("console={console} quiet loglevel=0 panic=-1 {many}");
    words.extend(
        ["-append", &line, "-no-reboot", "-nodefaults", "-display", "none", "-serial", "stdio"].map(str::to_owned),
    );
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_has_a_target_and_its_own_emulator() {
        for architecture in [Architecture::X86, Architecture::Arm] {
            let machine = super::super::MACHINES.iter().find(|machine| machine.architecture == architecture).unwrap();
            let target = architecture.target().unwrap();
            assert_eq!(words(machine)[0], format!("qemu-system-{}", target.arch));
        }
    }
}
