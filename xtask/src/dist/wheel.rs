//! A wheel: a ZIP archive with the program, its man pages and completions, which pip and uv install without compiling
//! (<https://packaging.python.org/specifications/binary-distribution-format/>).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::target::Target;
use xtask::{Failure, Outcome, process, workspace};

use super::Build;

/// The program has no library to look for, so both kinds of C library are as good.
fn platforms(target: &Target) -> [String; 2] {
    ["manylinux_2_17", "musllinux_1_1"].map(|kind| format!("{kind}_{}", target.arch))
}

pub(super) fn make(folder: &Path, root: &Path, target: &Target, build: &Build, epoch: &str) -> Outcome<PathBuf> {
    let tree = super::empty(&folder.join("wheel"))?;
    let version = build.local();
    let [data, info] = ["data", "dist-info"].map(|end| format!("charz-{version}.{end}"));
    super::copy(&root.join("bin/charz"), &tree.join(&data).join("scripts/charz"))?;
    fs::create_dir_all(tree.join(&data).join("data")).map_err(|error| Failure::io("create a folder", &error))?;
    process::run(Command::new("cp").arg("--recursive").arg(root.join("share")).arg(tree.join(&data).join("data")))?;
    let write = |name: &str, text: &str| super::write(&tree.join(&info).join(name), text);
    let tags: String = platforms(target).iter().map(|platform| format!("Tag: py3-none-{platform}\n")).collect();
    write("WHEEL", &format!("Wheel-Version: 1.0\nGenerator: charz-xtask\nRoot-Is-Purelib: false\n{tags}"))?;
    let readme = workspace::root().join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| Failure::io(format!("read {readme:?}"), &error))?;
    let (summary, repository) = (super::SUMMARY, workspace::repository());
    write(
        "METADATA",
        &format!(
            "Metadata-Version: 2.1\nName: charz\nVersion: {version}\nSummary: {summary}\nHome-page: {repository}\nLicense: MIT\n\
             Classifier: Operating System :: POSIX :: Linux\nDescription-Content-Type: text/markdown\n\n{readme}"
        ),
    )?;
    super::permit(&tree)?;
    let files = files(&tree)?;
    let record = files.iter().map(|file| {
        let bytes = fs::metadata(tree.join(file)).map_err(|error| Failure::io(format!("look at {file:?}"), &error))?;
        let hash = process::read(Command::new("sha256sum").arg(tree.join(file)))?;
        Ok(format!("{file},sha256={},{}\n", base64(&hash), bytes.len()))
    });
    let record = record.collect::<Outcome<String>>()?;
    let last = format!("{info}/RECORD");
    write("RECORD", &format!("{record}{last},,\n"))?;
    let file = folder.join(format!("charz-{version}-py3-none-{}.whl", platforms(target).join(".")));
    zip(&tree, &[files, vec![last]].concat(), &file, epoch)?;
    Ok(file)
}

/// The files below a folder, sorted.
fn files(tree: &Path) -> Outcome<Vec<String>> {
    let found = process::read(Command::new("find").current_dir(tree).args(["-type", "f", "-printf", "%P\\n"]))?;
    let mut files: Vec<String> = found.lines().map(str::to_owned).collect();
    files.sort();
    Ok(files)
}

/// Packs these files in this order, all with one time.
fn zip(tree: &Path, files: &[String], to: &Path, epoch: &str) -> Outcome {
    process::run(Command::new("touch").current_dir(tree).arg(format!("--date=@{epoch}")).arg("--").args(files))?;
    _ = fs::remove_file(to);
    let mut zip = Command::new("zip");
    zip.current_dir(tree).env("TZ", "UTC").stdin(Stdio::null());
    process::run(zip.args(["--quiet", "-X", "-9"]).arg(to).arg("--").args(files))
}

/// The hash that `sha256sum` prints, in the alphabet of addresses and without padding.
fn base64(hash: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digits = hash
        .chars()
        .map_while(|digit| digit.to_digit(16))
        .flat_map(|digit| (0..4).rev().map(move |bit| digit >> bit & 1));
    let bits: Vec<u32> = digits.collect();
    let place = |bits: &[u32]| (0..6).fold(0, |sum, at| sum << 1 | bits.get(at).copied().unwrap_or(0)) as usize;
    bits.chunks(6).map(|bits| char::from(ALPHABET[place(bits)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_as_records_have_it() {
        // Of no bytes, as `printf '' | openssl dgst -sha256 -binary | basenc --base64url` prints it, without its `=`.
        let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -\n";
        assert_eq!(base64(hash), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
    }
}
