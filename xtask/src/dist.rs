//! `dist`: charz for machines without Rust, as an archive and a Debian package of a program that needs nothing installed.
//!
//! hwloc and the C library are linked into it. The C library remains glibc, whose locks, threads and allocator some kernels
//! measure: a program with another one would show other numbers than one that was built from its source.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::packages::{self, BZIP2, CC, MAKE};
use xtask::{Failure, Outcome, arguments, process, workspace};

pub fn start(words: &[String]) -> Outcome {
    arguments::none("dist", words)?;
    if ["apt-get", "dpkg-deb"].iter().any(|program| process::find(program).is_none()) {
        return Err(Failure::environment("`dist` takes hwloc's source from apt-get: run it on Debian or Ubuntu"));
    }
    packages::ensure(&[CC, MAKE, BZIP2])?;
    let folder = workspace::target().join("dist");
    let hwloc = folder.join("hwloc");
    if !hwloc.join("prefix/lib/libhwloc.a").is_file() {
        build_hwloc(&hwloc).map_err(|failure| failure.within("hwloc"))?;
    }
    let charz = build_charz(&hwloc.join("prefix/lib"))?;
    let version = process::read(Command::new(&charz).arg("--version"))?;
    let build =
        Build::read(&version).ok_or_else(|| Failure::found(format!("{charz:?} has no version: {version:?}")))?;
    let root = empty(&folder.join("root"))?;
    lay_out(&root, &charz, &hwloc)?;
    for made in [archive(&folder, &root, &build)?, package(&folder, &root, &build)?] {
        println!("{}", made.display());
    }
    Ok(())
}

/// What the names of the files say: `0.1.0` and `4d3b2b872e34`.
#[derive(Debug, PartialEq)]
struct Build<'a> {
    version: &'a str,
    commit: &'a str,
}

impl<'a> Build<'a> {
    /// From `charz 0.1.0 (4d3b2b872e34, …)`.
    fn read(line: &'a str) -> Option<Self> {
        let (version, rest) = line.strip_prefix("charz ")?.split_once(" (")?;
        Some(Build { version, commit: rest.split_once(',')?.0 })
    }
}

/// hwloc as a static library, of the source of the package that the tests run with; without devices, libxml2 and plug-ins, which
/// would have to be linked in as well.
fn build_hwloc(folder: &Path) -> Outcome {
    empty(folder)?;
    empty(&folder.join("lists/partial"))?;
    let versions = process::read(Command::new("apt-cache").args(["madison", "libhwloc15"]))?;
    let sources =
        sources(&versions).ok_or_else(|| Failure::environment("apt has no libhwloc15; run: apt-get update"))?;
    write(&folder.join("sources.list"), &sources)?;
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
        let places = [("Etc::SourceList", folder.join("sources.list")), ("State::Lists", folder.join("lists"))];
        for (option, place) in places {
            apt.arg("--option").arg(format!("Dir::{option}={}", place.display()));
        }
        process::run(
            apt.args(["--option", "Dir::Cache::PkgCache=", "--option", "Dir::Cache::SrcPkgCache="]).args(words),
        )?;
    }
    let source = empty(&folder.join("source"))?;
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

fn build_charz(hwloc: &Path) -> Outcome<PathBuf> {
    let target = format!("{ARCH}-unknown-linux-gnu");
    let mut cargo = Command::new(workspace::cargo_program());
    // Not from the checkout, whose configuration names hwloc's shared library.
    cargo.current_dir("/").env("RUSTFLAGS", "-C target-feature=+crt-static").env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo.args(["build", "--release", "--locked", "--package", "charz", "--target", &target, "--manifest-path"]);
    cargo.arg(workspace::root().join("Cargo.toml")).arg("--target-dir").arg(workspace::target());
    let search = format!("native={}", hwloc.display());
    for (key, value) in [("rustc-link-lib", "static=hwloc"), ("rustc-link-search", &search)] {
        cargo.arg("--config").arg(format!("target.{target}.hwloc.{key} = [{value:?}]"));
    }
    process::run(&mut cargo)?;
    Ok(workspace::target().join(target).join("release/charz"))
}

/// What is installed below /usr or /usr/local.
fn lay_out(root: &Path, charz: &Path, hwloc: &Path) -> Outcome {
    copy(charz, &root.join("bin/charz"))?;
    let list = process::read(Command::new(charz).arg("docs"))?;
    for page in list.lines() {
        if let Some(file) = place(page) {
            write(&root.join(file), &process::read(Command::new(charz).args(["docs", page]))?)?;
        }
    }
    let documents = root.join("share/doc/charz");
    copy(&workspace::root().join("LICENSE"), &documents.join("copyright"))?;
    copy(&hwloc.join("source/COPYING"), &documents.join("copyright.hwloc"))?;
    copy(Path::new("/usr/share/doc/libc6/copyright"), &documents.join("copyright.glibc"))?;
    let mut tree = workspace::cargo();
    tree.args(["tree", "--locked", "--package", "charz", "--edges", "normal", "--prefix", "none", "--no-dedupe"]);
    let crates = process::read(tree.args(["--format", "{p} {l} {r}"]))?;
    let mut crates: Vec<&str> = crates.lines().filter(|line| !line.contains(" (/")).collect();
    crates.sort_unstable();
    crates.dedup();
    write(&documents.join("crates"), &(crates.join("\n") + "\n"))?;
    // Whatever the umask is here.
    process::run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(root))
}

/// Where a page of `charz docs` is installed, if it is.
fn place(page: &str) -> Option<String> {
    Some(match page {
        "completions-bash" => "share/bash-completion/completions/charz".into(),
        "completions-fish" => "share/fish/vendor_completions.d/charz.fish".into(),
        "completions-zsh" => "share/zsh/site-functions/_charz".into(),
        "man" => "share/man/man1/charz.1".into(),
        _ => format!("share/man/man1/charz-{}.1", page.strip_prefix("man-")?),
    })
}

fn archive(folder: &Path, root: &Path, build: &Build<'_>) -> Outcome<PathBuf> {
    let name = format!("charz-{}-{}-{ARCH}-linux", build.version, build.commit);
    let file = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--use-compress-program=gzip -9n",
    ]);
    tar.arg(format!("--mtime=@{}", epoch()?)).arg(format!("--transform=s,^[.],{name},"));
    process::run(tar.arg("--file").arg(&file).arg("--directory").arg(root).arg("."))?;
    Ok(file)
}

fn package(folder: &Path, root: &Path, build: &Build<'_>) -> Outcome<PathBuf> {
    let tree = empty(&folder.join("deb"))?;
    process::run(Command::new("cp").args(["--recursive", "--preserve=mode"]).arg(root).arg(tree.join("usr")))?;
    // Debian's zsh looks there, and keeps the other folder for the administrator, below /usr/local.
    let [from, to] = ["site-functions", "vendor-completions"].map(|name| tree.join("usr/share/zsh").join(name));
    fs::rename(&from, &to).map_err(|error| Failure::io(format!("rename {from:?}"), &error))?;
    let architecture = process::read(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    // A hyphen would begin the revision of a packager.
    let version = format!("{}+{}", build.version, build.commit.replace('-', "."));
    let about = "characterisation of multi-core machines\n Finds out where hardware threads are, what each of them can do, and \
                 what they cost\n each other.";
    let control = format!(
        "Package: charz\nVersion: {version}\nArchitecture: {architecture}\nSection: utils\nPriority: optional\n\
         Maintainer: the charz authors <charz@localhost>\nDescription: {about}\n"
    );
    write(&tree.join("DEBIAN/control"), &control)?;
    let file = folder.join(format!("charz_{version}_{architecture}.deb"));
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.env("SOURCE_DATE_EPOCH", epoch()?).args(["--root-owner-group", "--build"]).arg(&tree).arg(&file);
    // Its one line on standard output says what this task says, too.
    process::read(&mut dpkg)?;
    Ok(file)
}

/// The time of all files, so the same source makes the same packages: that of the commit, unless SOURCE_DATE_EPOCH is set.
fn epoch() -> Outcome<String> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(epoch) => Ok(epoch),
        Err(_) => {
            let mut git = Command::new("git");
            let time = process::read(git.current_dir(workspace::root()).args(["log", "-1", "--format=%ct"]))?;
            Ok(time.trim().to_owned())
        }
    }
}

/// A folder without anything in it.
fn empty(folder: &Path) -> Outcome<PathBuf> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))?;
    Ok(folder.to_owned())
}

/// Writes a file, and the folders that lead to it.
fn write(path: &Path, text: &str) -> Outcome {
    lead_to(path)?;
    fs::write(path, text).map_err(|error| Failure::io(format!("write {path:?}"), &error))
}

/// Copies a file, and makes the folders that lead to the copy.
fn copy(from: &Path, to: &Path) -> Outcome {
    lead_to(to)?;
    fs::copy(from, to).map(drop).map_err(|error| Failure::io(format!("copy {from:?} to {to:?}"), &error))
}

fn lead_to(path: &Path) -> Outcome {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_version() {
        let build = Build { version: "0.1.0", commit: "4d3b2b872e34-dirty" };
        assert_eq!(Build::read("charz 0.1.0 (4d3b2b872e34-dirty, x86_64-unknown-linux-gnu)\n"), Some(build));
        assert_eq!(Build::read("charz 0.1.0\n"), None);
    }

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
    fn pages_have_their_places() {
        assert_eq!(place("man").as_deref(), Some("share/man/man1/charz.1"));
        assert_eq!(place("man-history-add").as_deref(), Some("share/man/man1/charz-history-add.1"));
        assert_eq!(place("completions-zsh").as_deref(), Some("share/zsh/site-functions/_charz"));
        for other in ["mappers\tdocs/mappers.md", "schema", "manual"] {
            assert_eq!(place(other), None, "{other}");
        }
    }
}
