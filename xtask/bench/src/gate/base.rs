//! What a change is compared with.

use xtask::{Failure, Outcome, process, workspace};

/// A commit by its full name, and why this one.
pub struct Base {
    pub id: String,
    pub why: String,
}

/// Names the base for a CI that knows it. The name may be that of no commit: of a new branch some services give zeros.
const VARIABLE: &str = "CHARZ_BASE";

/// The commit where the head left `asked`, or what [`VARIABLE`] names; without these the commit where it left the main branch
/// upstream, or the head's first parent. Where the head has left nothing but files have changed, the head itself. `Err` says why
/// there is none.
pub fn choose(asked: Option<&str>) -> Outcome<Result<Base, String>> {
    let Some(head) = commit("HEAD") else { return Ok(Err("there is no git repository with a commit".into())) };
    if let Some(asked) = asked {
        let known = commit(asked).ok_or_else(|| Failure::usage(format!("git knows no commit {asked:?}")))?;
        let id = git(&["merge-base", &known, &head]).unwrap_or(known);
        return Ok(Ok(Base { id, why: format!("where HEAD left {asked}") }));
    }
    let named = std::env::var(VARIABLE).unwrap_or_default();
    for branch in [named.as_str(), "origin/HEAD", "origin/main", "origin/master"] {
        let left = commit(branch).and_then(|branch| git(&["merge-base", &branch, &head]));
        if let Some(id) = left.filter(|id| *id != head) {
            return Ok(Ok(Base { id, why: format!("where HEAD left {branch}") }));
        }
    }
    if clean_head().is_none() {
        return Ok(Ok(Base { id: head, why: "HEAD, which files differ from".into() }));
    }
    Ok(match commit("HEAD^") {
        Some(id) => Ok(Base { id, why: "the parent of HEAD".into() }),
        None => Err("HEAD has no parent here; fetch more of the history".into()),
    })
}

/// The full name of the head where no file differs from it.
pub fn clean_head() -> Option<String> {
    commit("HEAD")
        .filter(|_| git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|list| list.is_empty()))
}

/// Whether nothing that a quick build counts differs from a commit: the package of the benches, and what it is built of.
pub fn is_same(commit: &str) -> Outcome<bool> {
    let mut tree = workspace::cargo();
    tree.current_dir(workspace::root()).args(["tree", "--quiet", "--locked", "--prefix", "none", "--format", "{p}"]);
    tree.args(["--edges", "all", "--package", "charz-benches", "--no-default-features"]);
    let packages = process::read(&mut tree)?;
    // Packages of the workspace have their folders in parentheses; a manifest that names another one has changed itself.
    let root = format!("({}/", workspace::root().display());
    let own = packages.lines().filter_map(|line| Some(line.split_once(&root)?.1.split_once(')')?.0));
    let own: Vec<&str> = own.collect();
    Ok(!own.is_empty() && differ_not(commit, &[&own[..], &["Cargo.lock", "Cargo.toml", ".cargo"]].concat()))
}

/// Whether a commit runs each case as often, and counts the same of it: its counts can be compared.
pub fn counts_alike(commit: &str) -> bool {
    differ_not(commit, &["benches/cases.rs"])
}

fn differ_not(commit: &str, paths: &[&str]) -> bool {
    git(&[&["diff", "--quiet", commit, "--"], paths].concat()).is_some()
}

/// The full name of a commit. An option of git in place of a revision is no commit.
fn commit(revision: &str) -> Option<String> {
    git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
}

fn git(words: &[&str]) -> Option<String> {
    process::git(workspace::root(), words).map(|text| text.trim().to_owned())
}
