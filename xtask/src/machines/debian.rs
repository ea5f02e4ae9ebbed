//! Packages of Debian, unpacked but not installed: kernels and programs for machines of either architecture, without root and
//! without a word to the system's own package manager.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::packages::{self, Need};
use xtask::{Failure, Outcome, process};

/// Its keys come with the system on Debian, and by a package on Ubuntu.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

const KEYRING: Need = Need::new(
    KEYS,
    "it vouches for Debian's kernels, which the machines boot",
    ["debian-archive-keyring", "debian-keyring", "debian-archive-keyring", "debian-keyring"],
);

/// The release that the machines run: its kernel is the same wherever they are booted.
pub(super) const KERNELS: &str = "bookworm";

/// A folder with the packages of one release for one architecture, as Debian calls them.
pub(crate) struct Debian {
    folder: PathBuf,
    architecture: &'static str,
    release: &'static str,
}

impl Debian {
    pub(crate) fn new(folder: PathBuf, architecture: &'static str, release: &'static str) -> Self {
        Debian { folder, architecture, release }
    }

    /// The root of a tree with the files of all these packages, and `with_kernel`. What an earlier run unpacked is used again.
    pub(crate) fn unpacked(&self, names: &[&str], with_kernel: bool) -> Outcome<PathBuf> {
        let (root, release) = (self.folder.join("root"), self.release);
        // Its name says what it holds.
        let whole = self.folder.join(format!("{release} {}", names.join(" ")));
        if whole.is_file() {
            return Ok(root);
        }
        if let Some(missing) = ["apt-get", "dpkg-deb"].into_iter().find(|program| process::find(program).is_none()) {
            return Err(Failure::environment(format!("{missing} is missing: kernels come from Debian's packages")));
        }
        packages::ensure(&[KEYRING])?;
        let _ = fs::remove_dir_all(&self.folder);
        for folder in ["lists/partial", "cache/archives/partial"] {
            make(&self.folder.join(folder))?;
        }
        let line = |archive: &str, suite: &str| {
            format!("deb [signed-by={KEYS}] http://deb.debian.org/{archive} {suite} main\n")
        };
        let sources = line("debian", release) + &line("debian-security", &format!("{release}-security"));
        write(&self.folder.join("sources.list"), &sources)?;
        write(&self.folder.join("status"), "")?;
        let fetched = |apt: &mut Command| process::run(apt.stdout(Stdio::null())).map_err(Failure::of_environment);
        fetched(self.apt("apt-get").arg("update"))?;
        let mut download = self.apt("apt-get");
        download.arg("download").args(names);
        if with_kernel {
            let kernel = format!("linux-image-cloud-{}", self.architecture);
            let kernel = process::read(self.apt("apt-cache").args(["depends", &kernel]))?;
            download.arg(depends(&kernel).ok_or_else(|| Failure::environment("apt-cache names no kernel of Debian"))?);
        }
        fetched(&mut download)?;
        for file in files(&self.folder)?.into_iter().filter(|file| file.extension().is_some_and(|end| end == "deb")) {
            process::run(Command::new("dpkg-deb").arg("--extract").arg(file).arg(&root))?;
        }
        write(&whole, "")?;
        Ok(root)
    }

    /// apt with lists, a status and a cache of its own.
    fn apt(&self, program: &str) -> Command {
        let mut apt = Command::new(program);
        // What is read of it is English.
        apt.current_dir(&self.folder).env("LC_ALL", "C").arg("--quiet");
        let at = |name: &str| self.folder.join(name).display().to_string();
        for (option, value) in [
            ("APT::Architecture", self.architecture.to_owned()),
            ("APT::Architectures", self.architecture.to_owned()),
            ("APT::Sandbox::User", String::new()),
            ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", "false".to_owned()),
            ("Acquire::Languages", "none".to_owned()),
            ("Dir::Cache", at("cache")),
            ("Dir::Etc::SourceList", at("sources.list")),
            ("Dir::Etc::SourceParts", "-".to_owned()),
            ("Dir::State::Lists", at("lists")),
            ("Dir::State::status", at("status")),
        ] {
            apt.arg("--option").arg(format!("{option}={value}"));
        }
        apt
    }
}

/// The kernel in a tree of packages.
pub(super) fn kernel(root: &Path) -> Outcome<PathBuf> {
    let is_kernel =
        |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-"));
    let found = files(&root.join("boot"))?.into_iter().find(is_kernel);
    found.ok_or_else(|| Failure::environment(format!("there is no kernel below {}", root.display())))
}

/// The package that a package without files of its own depends on: `  Depends: linux-image-6.1.0-56-cloud-arm64`.
fn depends(listed: &str) -> Option<&str> {
    listed.lines().find_map(|line| line.trim().strip_prefix("Depends: ")).map(str::trim)
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::io(format!("list {folder:?}"), &error))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

pub(super) fn make(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))
}

pub(super) fn write(file: &Path, text: impl AsRef<[u8]>) -> Outcome {
    fs::write(file, text).map_err(|error| Failure::io(format!("write {file:?}"), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_what_the_empty_package_depends_on() {
        let listed = "linux-image-cloud-arm64\n  Depends: linux-image-6.1.0-56-cloud-arm64\n  Suggests: linux-doc\n";
        assert_eq!(depends(listed), Some("linux-image-6.1.0-56-cloud-arm64"));
        assert_eq!(depends("linux-image-cloud-arm64\n"), None);
        // Another language has another word for it.
        let asked = Debian::new(PathBuf::new(), "arm64", KERNELS).apt("apt-cache");
        assert!(asked.get_envs().any(|(name, value)| name == "LC_ALL" && value == Some("C".as_ref())));
    }
}
