//! A copy of the project's files that is built in the checkout's place: of another commit, or with a change that is planted. It is kept
//! between runs, and only what differs is written: the next build compiles no more than that.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{Failure, Outcome, process, workspace};

/// A defect or another change that is planted: what it is, who has to see it, and a piece that is there once in the sources of the crates,
/// wherever that is, with what takes its place.
#[derive(Clone, Copy)]
pub struct Plant {
    pub what: &'static str,
    pub by: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

impl Plant {
    /// The only file below a root that has the piece, and its text.
    fn place(&self, root: &Path) -> Outcome<(PathBuf, String)> {
        let crates = Path::new("crates");
        let sources = files(root, crates).into_iter().filter(|name| name.ends_with(".rs")).map(|name| root.join(name));
        let texts = sources.filter_map(|path| Some((fs::read_to_string(&path).ok()?, path)));
        let mut places: Vec<_> = texts.filter(|(text, _)| text.contains(self.from)).collect();
        let count: usize = places.iter().map(|(text, _)| text.matches(self.from).count()).sum();
        match places.pop() {
            Some((text, path)) if count == 1 && self.from != self.to => Ok((path, text)),
            _ => Err(Failure::found(format!(
                "{}: {:?} is {count} times in the sources, not once: name it anew",
                self.what, self.from
            ))),
        }
    }

    /// Whether each of them has its place in the checkout; those that have none are named.
    pub fn check(plants: &[Plant]) -> Outcome {
        let lost = plants.iter().filter_map(|plant| plant.place(workspace::root()).err());
        let lost: Vec<String> = lost.map(|failure| failure.to_string()).collect();
        if lost.is_empty() { Ok(()) } else { Err(Failure::found(lost.join("\n"))) }
    }
}

pub struct Tree(PathBuf);

impl Tree {
    /// The files that git knows or would add, as they are now.
    pub fn of_checkout(place: PathBuf) -> Outcome<Self> {
        let listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let known = process::read(Command::new("git").current_dir(workspace::root()).args(listed))?;
        Tree(place).filled(workspace::root(), known.split_terminator('\0').map(str::to_owned).collect())
    }

    /// The files of a commit.
    pub fn of_commit(place: PathBuf, commit: &str) -> Outcome<Self> {
        let incoming = place.with_extension("incoming");
        remove(&incoming)?;
        fs::create_dir_all(&incoming).map_err(|error| Failure::io(format!("create {incoming:?}"), &error))?;
        let archive = place.with_extension("tar");
        let mut git = Command::new("git");
        git.current_dir(workspace::root()).args(["archive", "--format=tar", "--output"]);
        process::run(git.arg(&archive).arg(commit))?;
        let unpacked = process::run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&incoming));
        let _ = fs::remove_file(&archive);
        let tree = unpacked.and_then(|()| Tree(place).filled(&incoming, files(&incoming, Path::new(""))));
        remove(&incoming)?;
        tree
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Does something while a change is planted.
    pub fn with<T>(&self, plant: &Plant, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let (path, sound) = plant.place(&self.0)?;
        write(&path, sound.replace(plant.from, plant.to).as_bytes())?;
        let worked = work();
        write(&path, sound.as_bytes())?;
        worked
    }

    /// Takes these files of a folder, and has no others.
    fn filled(self, from: &Path, names: HashSet<String>) -> Outcome<Self> {
        for name in &names {
            // A file that was removed is still in git's list.
            let Ok(bytes) = fs::read(from.join(name)) else { continue };
            write(&self.0.join(name), &bytes)?;
        }
        for old in files(&self.0, Path::new("")).difference(&names) {
            let _ = fs::remove_file(self.0.join(old));
        }
        Ok(self)
    }
}

/// The files below a folder, by their names within it.
fn files(root: &Path, below: &Path) -> HashSet<String> {
    let mut found = HashSet::new();
    for entry in fs::read_dir(root.join(below)).into_iter().flatten().flatten() {
        let name = below.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(root, &name)),
            _ => {
                found.insert(name.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Removes a folder where there is one.
pub fn remove(place: &Path) -> Outcome {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io(format!("remove {place:?}"), &error))
        }
        _ => Ok(()),
    }
}

/// Writes a file if it is another one: cargo builds again what is newer.
fn write(path: &Path, bytes: &[u8]) -> Outcome {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let failed = |error| Failure::io(format!("write {path:?}"), &error);
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_files_that_are_listed_and_keeps_what_is_the_same() {
        let folder = tempfile();
        let (from, to) = (folder.join("from"), folder.join("to"));
        write(&from.join("a"), b"1").unwrap();
        write(&from.join("b/c"), b"2").unwrap();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let tree = Tree(to.clone()).filled(&from, names(&["a", "b/c"])).unwrap();
        let written = fs::metadata(to.join("a")).unwrap().modified().unwrap();
        write(&from.join("b/c"), b"3").unwrap();
        let tree = tree.filled(&from, names(&["a", "b/c", "gone"])).unwrap();
        assert_eq!(fs::read(to.join("b/c")).unwrap(), b"3");
        assert_eq!(fs::metadata(to.join("a")).unwrap().modified().unwrap(), written);
        tree.filled(&from, names(&["a"])).unwrap();
        assert_eq!(files(&to, Path::new("")), names(&["a"]));
        remove(&folder).unwrap();
    }

    #[test]
    fn a_change_is_planted_for_a_while_and_where_its_piece_is_there_once() {
        let folder = tempfile();
        let file = folder.join("crates/x/a.rs");
        write(&file, b"one two").unwrap();
        write(&folder.join("crates/x/b.rs"), b"one").unwrap();
        let (tree, read) = (Tree(folder.clone()), || Ok(fs::read_to_string(&file).unwrap()));
        let plant = |from, to| tree.with(&Plant { what: "a test", by: "", from, to }, read);
        assert_eq!(plant("two", "three").unwrap(), "one three");
        assert_eq!(read().unwrap(), "one two");
        for (from, count) in [("one", "2 times"), ("three", "0 times")] {
            let failure = plant(from, "").unwrap_err().to_string();
            assert!(failure.contains("a test") && failure.contains(count), "{failure}");
        }
        remove(&folder).unwrap();
    }

    fn tempfile() -> PathBuf {
        let name = format!("charz-tree-{}-{:?}", std::process::id(), std::thread::current().id());
        std::env::temp_dir().join(name)
    }
}
