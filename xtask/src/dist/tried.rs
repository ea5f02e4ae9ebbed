//! The packages as their users get them: the program in a root without anything else; Debian's package, the RPM and the wheel installed and
//! removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Made;
use xtask::packages::{self, Need};
use xtask::target::Target;
use xtask::{Failure, Outcome, process, workspace};

const PODMAN_PROGRAM: &str = "podman";
const PODMAN: Need =
    Need::new(PODMAN_PROGRAM, "it builds and runs the image", ["podman runc", "podman", "podman", "podman"]);

const LMOD_PROGRAM: &str = "/usr/share/lmod/lmod/libexec/lmod";
const LMOD: Need = Need::new(LMOD_PROGRAM, "EasyBuild writes modules for it", ["lmod", "Lmod", "", ""]);

/// What the program runs in the empty root. What measures starts itself again, which the emulator of single programs cannot follow.
const ANYWHERE: [&[&str]; 4] = [&["--version"], &["topo"], &["kernels"], &["explain", "V28"]];
const MEASURES: [&[&str]; 2] = [
    &["sweep", "--kernel", "noop,arith-int", "--budget", "3s", "--output", "/r.json"],
    &["render", "/r.json", "--format", "html", "--output", "/r.html"],
];

/// What the package installs, and its removal takes away.
const INSTALLED: [&str; 4] = [
    "usr/bin/charz",
    "usr/share/man/man1/charz.1.gz",
    "usr/share/doc/charz/copyright.crates",
    "usr/share/bash-completion/completions/charz",
];

/// Tries all, and then says what this machine could not try.
pub(super) fn all(target: &Target, folder: &Path, made: &Made) -> Outcome {
    let try_in = |name: &str| folder.join(name);
    let results = [
        in_an_empty_root(target, &try_in("try"), &made.archive),
        installed(target, &try_in("try-package"), &made.debian),
        by_rpm(target, &try_in("try-rpm"), &made.rpm),
        by_pip(target, &try_in("try-wheel"), &made.wheel),
        as_an_image(target, folder),
        by_easybuild(target, &try_in("try-easybuild"), &made.archive),
    ];
    let (absent, found): (Vec<_>, Vec<_>) =
        results.into_iter().filter_map(Result::err).partition(Failure::is_environment);
    found.into_iter().chain(absent).next().map_or(Ok(()), Err)
}

/// Installs and removes the RPM in a root of its own.
fn by_rpm(target: &Target, root: &Path, package: &Path) -> Outcome {
    let roots = changes_root(process::is_root(), |words| process::succeeds(Command::new(words[0]).args(&words[1..])))?;
    super::empty(root)?;
    let rpm = |words: &[&str]| {
        let mut rpm = Command::new(roots[0]);
        rpm.args(&roots[1..]).args(["rpm", "--root"]).arg(root).args(words);
        rpm
    };
    // Debian's rpm warns that its users have another one.
    process::read(rpm(&["--install", "--ignorearch", "--force-debian"]).arg(package))?;
    if let Some(missing) = INSTALLED.iter().find(|file| !root.join(file).is_file()) {
        return Err(Failure::found(format!("{} does not install {missing}", package.display())));
    }
    let version = process::read(target.run(&root.join("usr/bin/charz")).arg("--version"))?;
    process::read(&mut rpm(&["--erase", "--force-debian", "charz"]))?;
    if let Some(left) = INSTALLED.iter().find(|file| root.join(file).exists()) {
        return Err(Failure::found(format!("removing {} leaves {left}", package.display())));
    }
    println!("installed and removed: {} ({})", package.display(), version.lines().next().unwrap_or_default());
    Ok(())
}

/// Installs and removes the wheel in an environment of its own.
fn by_pip(target: &Target, folder: &Path, wheel: &Path) -> Outcome {
    if !target.is_host() {
        println!("not tried: {} is for another architecture, and pip refuses it here", wheel.display());
        return Ok(());
    }
    super::empty(folder)?;
    process::run(Command::new("python3").args(["-m", "venv"]).arg(folder))
        .map_err(|_| Failure::environment("not tried: python3 -m venv makes no environment for the wheel"))?;
    let pip = |words: &[&str]| {
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["--quiet", "--disable-pip-version-check"]).args(words);
        pip
    };
    process::run(pip(&["install", "--no-index"]).arg(wheel))?;
    let charz = folder.join("bin/charz");
    let version = process::read(Command::new(&charz).arg("--version"))?;
    if !folder.join("share/man/man1/charz.1.gz").is_file() {
        return Err(Failure::found(format!("{} installs no man page", wheel.display())));
    }
    process::run(&mut pip(&["uninstall", "--yes", "charz"]))?;
    if charz.exists() {
        return Err(Failure::found(format!("removing {} leaves {charz:?}", wheel.display())));
    }
    println!("installed and removed: {} ({})", wheel.display(), version.lines().next().unwrap_or_default());
    Ok(())
}

/// Builds the image as docs/installing.md has it, by docker or else by podman, and runs it.
fn as_an_image(target: &Target, folder: &Path) -> Outcome {
    if !target.is_host() {
        println!("not tried: an image of another architecture");
        return Ok(());
    }
    let engine = if process::succeeds(Command::new("docker").arg("info")) { "docker" } else { PODMAN_PROGRAM };
    if engine == PODMAN_PROGRAM {
        packages::ensure(&[PODMAN])?;
    }
    let (file, name) = (workspace::root().join("Containerfile"), "localhost/charz:try");
    let call = |words: &[&str]| {
        let mut call = Command::new(engine);
        call.args(words);
        call
    };
    process::read(call(&["build", "--tag", name, "--file"]).arg(file).arg(folder.join("root")))?;
    // A host that is itself confined may raise no limit, as a container's usual ones would be.
    let run = ["run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", name];
    let version = process::read(call(&run).arg("--version"))?;
    process::read(call(&run).args(["sweep", "--kernel", "noop,arith-int", "--budget", "3s"]))?;
    process::read(&mut call(&["rmi", name]))?;
    println!("built and swept as an image of {engine}: {}", version.lines().next().unwrap_or_default());
    Ok(())
}

/// Installs the archive by its recipe, under the name that it has in a release; EasyBuild then runs what the recipe names.
fn by_easybuild(target: &Target, folder: &Path, archive: &Path) -> Outcome {
    if !target.is_host() {
        println!("not tried: EasyBuild for another architecture");
        return Ok(());
    }
    super::empty(folder)?;
    let (python, version) = (folder.join("python"), env!("CARGO_PKG_VERSION"));
    let mut pip = Command::new(python.join("bin/pip"));
    pip.args(["install", "--quiet", "easybuild-framework", "easybuild-easyblocks"]);
    let made = process::run(Command::new("python3").args(["-m", "venv"]).arg(&python));
    made.and_then(|()| process::run(&mut pip))
        .map_err(|_| Failure::environment("not tried: EasyBuild, which pip cannot install"))?;
    packages::ensure(&[LMOD])?;
    super::copy(archive, &folder.join(format!("charz-{version}-{}-linux.tar.gz", target.arch)))?;
    let mut eb = Command::new(python.join("bin/eb"));
    eb.env("LMOD_CMD", LMOD_PROGRAM).env("EB_PYTHON", python.join("bin/python"));
    for (flag, value) in [("prefix", folder.join("made")), ("sourcepath", folder.to_owned())] {
        eb.arg(format!("--{flag}={}", value.display()));
    }
    eb.args(["--modules-tool=Lmod", "--allow-use-as-root-and-accept-consequences"]);
    process::read(eb.arg(workspace::root().join(format!("contrib/easybuild/charz-{version}.eb"))))?;
    let module = folder.join(format!("made/modules/all/charz/{version}.lua"));
    if !module.is_file() {
        return Err(Failure::found(format!("EasyBuild makes no {module:?}")));
    }
    println!("installed and run by EasyBuild: {}", module.display());
    Ok(())
}

fn in_an_empty_root(target: &Target, root: &Path, archive: &Path) -> Outcome {
    let roots = changes_root(process::is_root(), |words| process::succeeds(Command::new(words[0]).args(&words[1..])))?;
    super::empty(root)?;
    extract(archive, root)?;
    fs::create_dir_all(root.join("run/lock")).map_err(|error| Failure::io("create a folder", &error))?;
    let emulator = if target.is_host() { None } else { Some(emulator(target, root)?) };
    if let Some(name) = &emulator
        && !process::succeeds(change_root(roots, root).args([name, "--version"]))
    {
        let name = target.emulator();
        return Err(Failure::environment(format!(
            "not tried in an empty root: {name} needs libraries; install qemu-user-static"
        )));
    }
    let measures = MEASURES.iter().filter(|_| target.is_host());
    for words in ANYWHERE.iter().chain(measures) {
        let mut command = change_root(roots, root);
        let output = process::read(command.args(&emulator).arg("/bin/charz").args(*words))?;
        println!("tried in an empty root: charz {}: {} lines", words.join(" "), output.lines().count());
    }
    Ok(())
}

/// As docs/installing.md has it: folders that are there keep their modes, owners and links.
pub(super) fn extract(archive: &Path, folder: &Path) -> Outcome {
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--no-overwrite-dir", "--keep-directory-symlink", "--strip-components=1"]);
    process::run(tar.arg("--directory").arg(folder).arg("--file").arg(archive))
}

/// The emulator in the root, by the path that it has there.
fn emulator(target: &Target, root: &Path) -> Outcome<String> {
    let found = process::find(target.emulator());
    let found = found.ok_or_else(|| Failure::environment(format!("{} is missing", target.emulator())))?;
    super::copy(&found, &root.join("emulator"))?;
    Ok("/emulator".to_owned())
}

/// The words before `chroot`: also as an ordinary user, where the system lets it be root in a namespace of its own, or sudo
/// does not ask.
fn changes_root(is_root: bool, works: impl Fn(&[&str]) -> bool) -> Outcome<&'static [&'static str]> {
    const NAMESPACE: &[&str] = &["unshare", "--user", "--map-root-user"];
    const SUDO: &[&str] = &["sudo", "-n", "env", "-i"];
    let works = |words: &&&[&str]| works(&[words, &["true"][..]].concat());
    let way = if is_root { Some(&["env"][..]) } else { [NAMESPACE, SUDO].iter().find(works).copied() };
    way.ok_or_else(|| {
        Failure::environment(
            "not tried in an empty root: neither `unshare --user --map-root-user` nor `sudo -n` works for this user",
        )
    })
}

fn change_root(words: &[&str], root: &Path) -> Command {
    let mut command = Command::new(words[0]);
    // An empty root knows nothing of this one's folders, which variables such as CHARZ_LOCK_DIR name.
    command.env_clear().args(&words[1..]);
    command.arg(process::find("chroot").unwrap_or_else(|| PathBuf::from("chroot"))).arg(root);
    command
}

fn installed(target: &Target, root: &Path, package: &Path) -> Outcome {
    super::empty(root)?;
    for folder in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "var/log"] {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))?;
    }
    super::write(&root.join("var/lib/dpkg/status"), "")?;
    let dpkg = |words: &[&str]| {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", root.display())).args(["--force-not-root", "--force-bad-path"]);
        dpkg.args((!target.is_host()).then_some("--force-architecture")).args(words);
        dpkg
    };
    process::read(dpkg(&["--install"]).arg(package))?;
    if let Some(missing) = INSTALLED.iter().find(|file| !root.join(file).is_file()) {
        return Err(Failure::found(format!("{} does not install {missing}", package.display())));
    }
    let version = process::read(target.run(&root.join("usr/bin/charz")).arg("--version"))?;
    process::read(&mut dpkg(&["--purge", "charz"]))?;
    if let Some(left) = INSTALLED.iter().find(|file| root.join(file).exists()) {
        return Err(Failure::found(format!("removing {} leaves {left}", package.display())));
    }
    println!("installed and removed: {} ({})", package.display(), version.lines().next().unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_changed_by_what_works() {
        let by =
            |is_root, works: &[&str]| changes_root(is_root, |words| works.contains(&words[0])).map(|words| words[0]);
        assert_eq!(by(true, &[]).unwrap(), "env");
        assert_eq!(by(false, &["unshare", "sudo"]).unwrap(), "unshare");
        assert_eq!(by(false, &["sudo"]).unwrap(), "sudo");
        assert!(by(false, &[]).is_err_and(|failure| failure.is_environment()));
    }
}
