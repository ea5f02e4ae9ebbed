//! `same-code`: what is timed is the same machine code in the first build as in a release.
//!
//! The first build optimises nothing else, and a crate is compiled with functions of those below it: one that is inlined in a release only
//! would make another loop.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use xtask::packages::{self, OBJDUMP};
use xtask::{Failure, Outcome, arguments, process, setup, workspace};

/// Crates, and what is in the names of what is timed in them.
const TIMED: [(&str, &[&str]); 4] = [
    ("charz_kernels", &[""]),
    ("charz_workloads", &[""]),
    ("charz_stats", &[""]),
    // The rest of it plans, starts and reads.
    (
        "charz_measure",
        &["charz_measure::harness::worker::WorkerContext::timed", "as charz_kernels::clock::Clock>::now"],
    ),
];

/// The code of each function, by its name; those of one name in their order.
type Functions = BTreeMap<String, Vec<String>>;

pub fn start(words: &[String]) -> Outcome {
    arguments::none("same-code", words)?;
    setup::quietly()?;
    packages::ensure(&[OBJDUMP])?;
    let mut differ = 0;
    for profile in ["first", "release"] {
        let mut build = workspace::cargo();
        build.args(["build", "--profile", profile, "--package", "charz"]);
        for (name, _) in TIMED {
            build.args(["--package", &name.replace('_', "-")]);
        }
        process::run(&mut build)?;
    }
    for (name, parts) in TIMED {
        let [first, release] = ["first", "release"].map(|profile| {
            disassembled(&workspace::built(profile).join(format!("lib{name}.rlib"))).map(|text| functions(&text, parts))
        });
        let (first, release) = (first?, release?);
        if let Some(part) = parts.iter().find(|part| !release.keys().any(|name| name.contains(**part))) {
            return Err(Failure::found(format!("{name} has no function {part:?}")));
        }
        let other = differing(&first, &release);
        println!("{name}: {} functions, {} differ", release.len(), other.len());
        other.iter().take(20).for_each(|name| println!("  {name}"));
        differ += other.len();
    }
    match differ {
        0 => Ok(()),
        _ => Err(Failure::found(format!(
            "{differ} functions of what is timed differ between the first build and a release"
        ))),
    }
}

/// What objdump prints of a library. It fails at the one member that is no object: what the compiler knows of the crate.
fn disassembled(library: &Path) -> Outcome<String> {
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--reloc", "--demangle", "--no-show-raw-insn", "--wide"]).arg(library);
    let output = command.stderr(Stdio::null()).output();
    let output = output.map_err(|error| Failure::io(format!("start {}", process::line(&command)), &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn functions(listing: &str, parts: &[&str]) -> Functions {
    let mut all = Functions::new();
    for block in listing.split("\n\n") {
        let mut lines = block.trim_start().lines();
        let Some(name) = lines.next().and_then(|head| head.split_once(" <")?.1.strip_suffix(">:")) else { continue };
        let name = unnumbered(name);
        if parts.iter().any(|part| name.contains(part)) {
            all.entry(name).or_default().push(lines.map(|line| unnumbered(line.trim())).collect::<Vec<_>>().join("\n"));
        }
    }
    all.values_mut().for_each(|codes| codes.sort());
    all
}

/// A line without the numbers that a compiler gives to crates and constants, and without what objdump takes for a place before it is linked.
fn unnumbered(line: &str) -> String {
    const CONSTANTS: [&str; 3] = [".LCPI", ".Lanon.", ".Lswitch.table"];
    let fields = line.split('\t').map(|field| {
        let field = field.split_once("  # ").map_or(field, |(code, _)| code.trim_end());
        match CONSTANTS.iter().find_map(|name| field.split_once(name)) {
            Some((before, constant)) => {
                format!("{before}#{}", constant.rfind(['-', '+']).map_or("", |at| &constant[at..]))
            }
            None => without_hashes(field),
        }
    });
    fields.collect::<Vec<_>>().join("\t")
}

/// Without runs of 16 and more hexadecimal digits.
fn without_hashes(text: &str) -> String {
    let is_digit = |mark: char| mark.is_ascii_hexdigit();
    let (mut kept, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let (digits, after) = rest.split_at(rest.find(|mark| !is_digit(mark)).unwrap_or(rest.len()));
        let (other, next) = after.split_at(after.find(is_digit).unwrap_or(after.len()));
        kept += if digits.len() < 16 { digits } else { "#" };
        kept += other;
        rest = next;
    }
    kept
}

fn differing<'a>(first: &'a Functions, release: &'a Functions) -> Vec<&'a str> {
    let names = first.keys().chain(release.keys().filter(|name| !first.contains_key(*name)));
    names.filter(|name| first.get(*name) != release.get(*name)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str =
        "\n0000000000000000 <charz_a::b::f::h0123456789abcdef>:\n   0:\tret\n\n0000000000000000 <c::d>:\n   0:\tnop\n";

    #[test]
    fn names_and_constants_have_other_numbers_in_each_build() {
        let other = ONE.replace("0123456789abcdef", "fedcba9876543210");
        assert!(differing(&functions(ONE, &[""]), &functions(&other, &[""])).is_empty());
        for (line, expected) in [
            (
                "1:\tlea 0x0(%rip),%rax        # 8 <a+0x1>\t3: R_X86_64_PC32\t.rodata..Lanon.0123456789abcdef.12-0x4",
                "1:\tlea 0x0(%rip),%rax\t3: R_X86_64_PC32\t.rodata.#-0x4",
            ),
            (
                "1:\tcall b\t2: R_X86_64_PLT32\t.text._ZN1a1b17h8edd80260c9a07bbE-0x4",
                "1:\tcall b\t2: R_X86_64_PLT32\t.text._ZN1a1b17h#-0x4",
            ),
            ("a:\tmov $0x2,%edx", "a:\tmov $0x2,%edx"),
        ] {
            assert_eq!(unnumbered(line), expected);
        }
    }

    #[test]
    fn another_instruction_differs() {
        let one = functions(ONE, &[""]);
        assert_eq!(differing(&one, &functions(&ONE.replace("nop", "int3"), &[""])), ["c::d"]);
        assert_eq!(differing(&one, &functions(&ONE.replace("c::d", "c::e"), &[""])), ["c::d", "c::e"]);
        assert!(differing(&functions(ONE, &["a::b"]), &functions(&ONE.replace("nop", "int3"), &["a::b"])).is_empty());
    }
}
