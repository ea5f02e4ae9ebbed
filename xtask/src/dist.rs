//! `dist`: charz for machines without Rust, as an archive, a Debian package, an RPM and a wheel of a program that needs nothing installed.

mod licences;
mod rpm;
mod tried;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use xtask::packages::{self, Need};
use xtask::target::{self, Target};
use xtask::{Failure, Outcome, process, workspace};

/// What makes the packages.
const MAKERS: [Need; 2] = [
    Need::new("rpmbuild", "it makes the RPM", ["rpm", "rpm-build", "rpm-tools", "rpm-build"]),
    Need::new("zip", "it makes the wheel", ["zip"; 4]),
];

/// The files of a release, as their users install them.
struct Made {
    archive: PathBuf,
    debian: PathBuf,
    rpm: PathBuf,
    wheel: PathBuf,
}

pub fn start(words: &[String]) -> Outcome {
    let (mut target, mut tries, mut built) = (Target::host()?, false, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--target" => target = Target::named(words.next().map_or("", String::as_str))?,
            "--try" => tries = true,
            "--charz" => built = words.next().map(PathBuf::from),
            _ => {
                let taken = "`dist` takes --target TRIPLE, --try and --charz PATH";
                return Err(Failure::usage(format!("{taken}, not {word:?}")));
            }
        }
    }
    if process::find("dpkg-deb").is_none() {
        return Err(Failure::environment("`dist` makes its package with dpkg-deb: run it on Debian or Ubuntu"));
    }
    let epoch = epoch(workspace::root(), std::env::var("SOURCE_DATE_EPOCH").ok())?;
    packages::ensure(&MAKERS)?;
    target.prepare()?;
    let charz = match built {
        Some(charz) => charz,
        None => {
            process::run(&mut target.cargo(&["build", "--release", "--package", "charz"])?)?;
            target.folder("release").join("charz")
        }
    };
    let version = process::read(target.run(&charz).arg("--version"))?;
    let tags = process::git(workspace::root(), &["tag", "--points-at", "HEAD"]).unwrap_or_default();
    let build =
        Build::read(&version, &tags).ok_or_else(|| Failure::found(format!("{charz:?} has no version: {version:?}")))?;
    let folder = workspace::target().join("dist").join(target.arch);
    let root = empty(&folder.join("root"))?;
    lay_out(&root, target, &charz)?;
    remove_packages(&folder)?;
    let made = Made {
        archive: archive(&folder, &root, target, &build, &epoch)?,
        debian: package(&folder, &root, target, &build, &epoch)?,
        rpm: rpm::make(&folder, &root, target, &build, &epoch)?,
        wheel: wheel::make(&folder, &root, target, &build, &epoch)?,
    };
    folders_of_the_image(&folder, &root)?;
    let bill = root.join("share/doc/charz").join(licences::BILL);
    for file in [&made.archive, &made.debian, &made.rpm, &made.wheel, &bill] {
        let bytes = fs::metadata(file).map_err(|error| Failure::io(format!("look at {file:?}"), &error))?.len();
        println!("{}: {:.1} MB", file.display(), bytes as f64 / 1e6);
    }
    if tries { tried::all(target, &folder, &made) } else { Ok(()) }
}

/// Who is asked about the package.
const MAINTAINER: &str = "The charz authors <charz@users.noreply.github.com>";

/// What the package is in a line.
const SUMMARY: &str = "measures a multi-core machine";

/// And in paragraphs, whose lines are indented by a space, as Debian wants them.
const DESCRIPTION: &str = "Finds where the hardware threads of a machine are, what each of them can do, and what they cost\n each \
                           other, and advises where to put threads.";

/// What the names of the files say: `0.1.0`, and `4d3b2b872e34` unless that is the commit of the version's tag.
#[derive(Debug, PartialEq)]
struct Build {
    version: String,
    commit: Option<String>,
}

impl Build {
    /// From the lines `charz 0.1.0` and `commit: 4d3b2b872e34` of `charz --version`, and the tags of the commit.
    fn read(version: &str, tags: &str) -> Option<Self> {
        let line = |start: &str| version.lines().find_map(|line| line.strip_prefix(start)).map(str::trim);
        let (version, commit) = (line("charz ")?.to_owned(), line("commit: ")?);
        let is_release = tags.lines().any(|tag| tag == format!("v{version}")) && !commit.ends_with("-dirty");
        Some(Build { version, commit: (!is_release).then(|| commit.to_owned()) })
    }

    /// `0.1.0+4d3b2b872e34`: a hyphen would begin the revision of a packager.
    fn local(&self) -> String {
        let commit = self.commit.as_ref().map(|commit| format!("+{}", commit.replace('-', "."))).unwrap_or_default();
        format!("{}{commit}", self.version)
    }
}

/// What is installed below /usr or /usr/local.
fn lay_out(root: &Path, target: &Target, charz: &Path) -> Outcome {
    copy(charz, &root.join("bin/charz"))?;
    let list = process::read(target.run(charz).arg("docs"))?;
    for page in list.lines() {
        if let Some(file) = place(page) {
            write(&root.join(file), &process::read(target.run(charz).args(["docs", page]))?)?;
        }
    }
    let documents = root.join("share/doc/charz");
    copy(&workspace::root().join("LICENSE"), &documents.join("copyright"))?;
    copy(&target::hwloc(target)?.join("source/COPYING"), &documents.join("copyright.hwloc"))?;
    copy(Path::new("/usr/share/doc/libc6/copyright"), &documents.join("copyright.glibc"))?;
    licences::write(target, &documents)?;
    // Without the time at which they were compressed.
    let mut gzip = Command::new("gzip");
    process::run(gzip.args(["-9", "--no-name", "--recursive"]).arg(root.join("share/man")))?;
    permit(root)
}

/// Lets everybody read all in a folder, whatever the umask is here, and whichever group its folders inherit.
fn permit(folder: &Path) -> Outcome {
    process::run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX,ug-s"]).arg(folder))
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

/// Those of an earlier commit, which the lines that install one would take, too.
fn remove_packages(folder: &Path) -> Outcome {
    let failed = |error| Failure::io(format!("remove the packages in {folder:?}"), &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("charz") && [".tar.gz", ".deb", ".rpm", ".whl"].iter().any(|end| name.ends_with(end)) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

fn archive(folder: &Path, root: &Path, target: &Target, build: &Build, epoch: &str) -> Outcome<PathBuf> {
    let commit = build.commit.as_ref().map(|commit| format!("-{commit}")).unwrap_or_default();
    let name = format!("charz-{}{commit}-{}-linux", build.version, target.arch);
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
    tar.arg(format!("--mtime=@{epoch}")).arg(format!("--transform=s,^[.],{name},"));
    process::run(tar.arg("--file").arg(&file).arg("--directory").arg(root).arg("."))?;
    Ok(file)
}

fn package(folder: &Path, root: &Path, target: &Target, build: &Build, epoch: &str) -> Outcome<PathBuf> {
    let tree = empty(&folder.join("deb"))?;
    process::run(Command::new("cp").arg("--recursive").arg(root).arg(tree.join("usr")))?;
    // Debian's zsh looks there, and keeps the other folder for the administrator, below /usr/local.
    let [from, to] = ["site-functions", "vendor-completions"].map(|name| tree.join("usr/share/zsh").join(name));
    fs::rename(&from, &to).map_err(|error| Failure::io(format!("rename {from:?}"), &error))?;
    let architecture = target.debian;
    let version = build.local();
    let control = format!(
        "Package: charz\nVersion: {version}\nArchitecture: {architecture}\nSection: utils\nPriority: optional\n\
         Maintainer: {MAINTAINER}\nHomepage: {}\nDescription: {SUMMARY}\n {DESCRIPTION}\n",
        workspace::repository()
    );
    write(&tree.join("DEBIAN/control"), &control)?;
    permit(&tree)?;
    let file = folder.join(format!("charz_{version}_{architecture}.deb"));
    let mut dpkg = Command::new("dpkg-deb");
    // Ubuntu's compresses by zstd where it is not asked, which Debian 11 cannot read.
    dpkg.env("SOURCE_DATE_EPOCH", epoch).args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&file);
    // Its one line on standard output says what this task says, too.
    process::read(&mut dpkg)?;
    Ok(file)
}

/// What `Containerfile` adds, which has no shell to make it: an image of nothing has no /tmp.
const FOLDERS: &str = "folders.tar";

/// Written where the image is built, when the packages have been made of it.
fn folders_of_the_image(folder: &Path, root: &Path) -> Outcome<PathBuf> {
    empty(&folder.join("image/tmp"))?;
    let file = root.join(FOLDERS);
    let mut tar = Command::new("tar");
    tar.args(["--create", "--mode=1777", "--owner=0", "--group=0", "--numeric-owner", "--file"]).arg(&file);
    process::run(tar.arg("--directory").arg(folder.join("image")).arg("tmp"))?;
    Ok(file)
}

/// The time of all files, so the same source makes the same packages: that of SOURCE_DATE_EPOCH, of the commit, or without
/// git of the lock file.
fn epoch(root: &Path, set: Option<String>) -> Outcome<String> {
    let commit = || process::git(root, &["log", "-1", "--format=%ct"]).map(|time| time.trim().to_owned());
    if let Some(time) = set.or_else(commit) {
        return Ok(time);
    }
    let lock = root.join("Cargo.lock");
    let time = fs::metadata(&lock).and_then(|lock| lock.modified());
    let time = time.map_err(|error| Failure::io(format!("read the time of {lock:?}"), &error))?;
    Ok(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string())
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
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn recipes_have_the_address_of_the_manifest() {
        for recipe in ["contrib/spack/package.py", "contrib/easybuild/charz-0.2.0.eb"] {
            let text = fs::read_to_string(workspace::root().join(recipe)).unwrap();
            let lines: Vec<&str> = text.lines().filter(|line| line.contains("https://")).collect();
            assert!(lines.len() > 1 && lines.iter().all(|line| line.contains(&workspace::repository())), "{recipe}");
        }
    }

    #[test]
    fn names_come_from_the_version() {
        let printed = "charz 0.1.0\ncommit: 4d3b2b872e34-dirty\ntarget: x86_64-unknown-linux-gnu\nhwloc: 2.9.0\n";
        let of = |printed: &str, tags: &str| Build::read(printed, tags).map(|build| build.local());
        assert_eq!(of(printed, "").as_deref(), Some("0.1.0+4d3b2b872e34.dirty"));
        assert_eq!(of(printed, "v0.1.0\n"), of(printed, ""), "what was changed is no release");
        let clean = printed.replace("-dirty", "");
        assert_eq!(of(&clean, "other\nv0.1.0\n").as_deref(), Some("0.1.0"));
        assert_eq!(of(&clean, "v0.1.0-rc1\n").as_deref(), Some("0.1.0+4d3b2b872e34"));
        assert_eq!(of("charz 0.1.0\n", ""), None);
    }

    #[test]
    fn packages_of_earlier_commits_are_removed_and_the_time_needs_no_git() {
        let folder = std::env::temp_dir().join(format!("charz-dist-{}", std::process::id()));
        empty(&folder.join("root")).unwrap();
        for file in [
            "charz-0.1.0-old-x86_64-linux.tar.gz",
            "charz_0.1.0+old_amd64.deb",
            "charz-0.1.0-1.x86_64.rpm",
            "charz-mine.json",
            "Cargo.lock",
        ] {
            write(&folder.join(file), "").unwrap();
        }
        remove_packages(&folder).unwrap();
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["Cargo.lock", "charz-mine.json", "root"]);
        assert_eq!(epoch(&folder, Some("5".to_owned())).unwrap(), "5");
        assert!(epoch(&folder, None).unwrap().parse::<u64>().is_ok_and(|time| time > 0));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_package_is_made_in_a_folder_that_hands_its_group_down() {
        if process::find("dpkg-deb").is_none() {
            return println!("skipped: there is no dpkg-deb");
        }
        let folder = empty(&std::env::temp_dir().join(format!("charz-package-{}", std::process::id()))).unwrap();
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o2755)).unwrap();
        let root = folder.join("root");
        write(&root.join("share/zsh/site-functions/_charz"), "").unwrap();
        let build = Build { version: "0.1.0".into(), commit: Some("4d3b2b872e34".into()) };
        let target = Target::host().unwrap();
        let made = package(&folder, &root, target, &build, "5").unwrap();
        let members = fs::read(made).unwrap();
        assert!(members.windows(11).any(|name| name == b"data.tar.xz"), "what older systems read");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_archive_leaves_the_folders_that_it_goes_to_as_they_are() {
        let folder = empty(&std::env::temp_dir().join(format!("charz-archive-{}", std::process::id()))).unwrap();
        let root = folder.join("root");
        write(&root.join("share/man/charz.1"), "").unwrap();
        write(&root.join("bin/charz"), "").unwrap();
        let build = Build { version: "0.1.0".into(), commit: Some("4d3b2b872e34".into()) };
        let made = archive(&folder, &root, Target::host().unwrap(), &build, "5").unwrap();
        let [local, shared] = ["local", "shared"].map(|name| empty(&folder.join(name)).unwrap());
        symlink("../shared", local.join("share")).unwrap();
        let bin = empty(&local.join("bin")).unwrap();
        fs::set_permissions(&bin, PermissionsExt::from_mode(0o770)).unwrap();
        let mode = || fs::metadata(&bin).unwrap().permissions().mode();
        let before = mode();
        tried::extract(&made, &local).unwrap();
        assert!(shared.join("man/charz.1").is_file() && bin.join("charz").is_file());
        assert_eq!(mode(), before);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_image_has_a_folder_for_temporary_files() {
        let folder = empty(&std::env::temp_dir().join(format!("charz-image-{}", std::process::id()))).unwrap();
        let file = folders_of_the_image(&folder, &folder).unwrap();
        let listed = process::read(Command::new("tar").args(["--list", "--verbose", "--file"]).arg(file)).unwrap();
        assert!(listed.starts_with("drwxrwxrwt ") && listed.ends_with(" tmp/\n"), "{listed}");
        let image = fs::read_to_string(workspace::root().join("Containerfile")).unwrap();
        assert!(image.contains(&format!("\nADD {FOLDERS} /\n")), "{image}");
        fs::remove_dir_all(&folder).unwrap();
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
