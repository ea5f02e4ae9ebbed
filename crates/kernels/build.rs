//! Hashes the sources, so every report can say which kernels it comes from.

use std::fs;
use std::path::Path;

/// FNV-1a over the names and contents of all files of a folder, in the order of their names.
fn hash_folder(folder: &Path, hash: u64) -> u64 {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.iter().fold(hash, |hash, path| {
        let hash = hash_bytes(path.file_name().unwrap_or_default().as_encoded_bytes(), hash);
        if path.is_dir() { hash_folder(path, hash) } else { hash_bytes(&fs::read(path).unwrap_or_default(), hash) }
    })
}

fn hash_bytes(bytes: &[u8], hash: u64) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn main() {
    let hash = hash_folder(Path::new("src"), 0xcbf2_9ce4_8422_2325);
    println!("cargo::rustc-env=CHARZ_KERNELS_HASH={hash:016x}");
    println!("cargo::rustc-env=CHARZ_KERNELS_OPT_LEVEL={}", std::env::var("OPT_LEVEL").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
}
