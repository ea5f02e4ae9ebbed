//! What a change is compared with.

use std::fs;

use xtask::{Failure, Outcome, process, workspace};

use super::programs;

/// A commit by its full name, and why this one.
pub struct Base {
    pub id: String,
    pub why: String,
}

/// Names the base for a CI that knows it. The name may be that of no commit: of a new branch some services give zeros.
const VARIABLE: &str = "CHARZ_BASE";

/// A record of commits, one in a line, the newest last.
#[derive(Clone, Copy)]
pub enum Record {
    /// Those that passed a whole CI.
    Passed,
    /// Those that a night compared.
    Nights,
}

impl Record {
    const fn file(self) -> &'static str {
        match self {
            Record::Passed => "passed",
            Record::Nights => "nights",
        }
    }

    /// The newest commit before the head, or the head itself where files differ from it.
    fn newest(self, head: &str, is_clean: bool) -> Option<String> {
        let record = fs::read_to_string(programs::folder().join(self.file())).ok()?;
        let is_before = |id: &&str| {
            let earlier = git(&["merge-base", "--is-ancestor", id, head]).is_some();
            earlier && (*id != head || !is_clean)
        };
        record.lines().rev().find(is_before).map(str::to_owned)
    }

    /// Adds the head, if no file differs from it.
    pub fn add_head(self) -> Outcome {
        let Some(head) = clean_head() else { return Ok(()) };
        let file = programs::folder().join(self.file());
        let before = fs::read_to_string(&file).unwrap_or_default();
        let lines = before.lines().filter(|line| *line != head).chain([head.as_str()]);
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        fs::create_dir_all(programs::folder())
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| Failure::io(format!("write {file:?}"), &error))
    }
}

/// The commit where the head left `asked`, or what [`VARIABLE`] names; without these the commit where it left the main branch upstream;
/// on the main branch the last one that the record has, or the head's first parent. Where files have changed, the head itself may be it.
/// `Err` says why there is none.
pub fn choose(asked: Option<&str>, record: Record) -> Outcome<Result<Base, String>> {
    let Some(head) = commit("HEAD") else { return Ok(Err("there is no git repository with a commit".into())) };
    if let Some(asked) = asked {
        let known = commit(asked).ok_or_else(|| Failure::usage(format!("git knows no commit {asked:?}")))?;
        let id = git(&["merge-base", &known, &head]).unwrap_or(known);
        return Ok(Ok(Base { id, why: format!("where HEAD left {asked}") }));
    }
    let is_clean = clean_head().is_some();
    let night = || record.newest(&head, is_clean).map(|id| Base { id, why: "the last night's".into() });
    if let Some(base) = matches!(record, Record::Nights).then(night).flatten() {
        return Ok(Ok(base));
    }
    let named = std::env::var(VARIABLE).unwrap_or_default();
    for branch in [named.as_str(), "origin/HEAD", "origin/main", "origin/master"] {
        let left = commit(branch).and_then(|branch| git(&["merge-base", &branch, &head]));
        if let Some(id) = left.filter(|id| *id != head) {
            return Ok(Ok(Base { id, why: format!("where HEAD left {branch}") }));
        }
    }
    if let Some(id) = Record::Passed.newest(&head, is_clean) {
        return Ok(Ok(Base { id, why: "the last that passed here".into() }));
    }
    if !is_clean {
        return Ok(Ok(Base { id: head, why: "HEAD, which files differ from".into() }));
    }
    Ok(match commit("HEAD^") {
        Some(id) => Ok(Base { id, why: "the parent of HEAD".into() }),
        None => Err("HEAD has no parent here; fetch more of the history".into()),
    })
}

/// The full name of the head where no file differs from it.
pub fn clean_head() -> Option<String> {
    commit("HEAD").filter(|_| git(&["status", "--porcelain"]).is_some_and(|list| list.is_empty()))
}

/// The full name of a commit. An option of git in place of a revision is no commit.
fn commit(revision: &str) -> Option<String> {
    git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
}

pub fn git(words: &[&str]) -> Option<String> {
    process::git(workspace::root(), words).map(|text| text.trim().to_owned())
}
