//! Copies the concurrent parts out of charz for the models, each once as it is and once with each of the seeded bugs.
//!
//! The bugs are edits of the very text that charz compiles. One that finds nothing to edit fails the build, so they
//! cannot fall behind the code.

use std::path::PathBuf;
use std::{env, fs};

#[path = "bugs/barrier.rs"]
mod barrier;
#[path = "bugs/counter.rs"]
mod counter;
#[path = "bugs/gate.rs"]
mod gate;
#[path = "bugs/lock.rs"]
mod lock;
#[path = "bugs/pool.rs"]
mod pool;

/// A source file, and the bugs that its copies have.
struct Part {
    /// The folder of the copies.
    name: &'static str,
    /// Where the text stands, from the folder of this package.
    file: &'static str,
    /// Each bug: the name of the copy, what is taken out, and what stands there instead.
    bugs: &'static [(&'static str, &'static str, &'static str)],
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=bugs");
    for part in [barrier::PARTS, counter::PARTS, gate::PARTS, lock::PARTS, pool::PARTS].into_iter().flatten() {
        copy(part);
    }
}

fn copy(part: &Part) {
    let Part { name, file, bugs } = part;
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("cannot read {file}: {error}"));
    // A module that is included has no room for inner comments, and the part's own tests run in charz.
    let (code, _) = text.split_once("#[cfg(test)]\nmod tests").unwrap_or((&text, ""));
    let code: String = code.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
    write(name, "faithful", &code);
    for (bug, from, to) in *bugs {
        assert!(code.matches(from).count() == 1, "{file} no longer says {from:?} once; adapt the bug {bug}");
        write(name, bug, &code.replace(from, to));
    }
}

fn write(part: &str, copy: &str, code: &str) {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder")).join(part);
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join(format!("{copy}.rs")), code).expect("the copy can be written");
}
