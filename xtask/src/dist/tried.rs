//! The packages as their users get them: the program in a root without anything else, the Debian package installed and removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::target::Target;
use xtask::{Failure, Outcome, process};

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

pub(super) fn all(target: &Target, folder: &Path, archive: &Path, package: &Path) -> Outcome {
    let rooted = in_an_empty_root(target, &folder.join("try"), archive);
    if rooted.as_ref().is_err_and(|failure| !failure.is_environment()) {
        return rooted;
    }
    installed(target, &folder.join("try-package"), package).and(rooted)
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
