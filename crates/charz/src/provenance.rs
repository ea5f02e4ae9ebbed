//! What a report says about the program that made it.

use charz_data::report::Tool;

pub fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("BUILD_COMMIT").into(),
        rustc: env!("BUILD_RUSTC").into(),
        target: env!("BUILD_TARGET").into(),
        profile: format!("{} opt-level={}", env!("BUILD_PROFILE"), charz_kernels::OPT_LEVEL),
        rustflags: env!("BUILD_RUSTFLAGS").into(),
        kernels: charz_workloads::source_hash(),
        hwloc: charz_topology::hwloc_version(),
    }
}

#[cfg(test)]
mod tests {
    /// A change of any of them has to show in the commit that a report names.
    #[test]
    fn the_commit_speaks_for_every_crate_of_the_program() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock: toml::Table = std::fs::read_to_string(lock).unwrap().parse().unwrap();
        // What comes from a registry has a source and a checksum in the lock file.
        let own = |name: &str| {
            let package = lock["package"].as_array().unwrap().iter().find(|one| one["name"].as_str() == Some(name))?;
            if package.get("source").is_some() { None } else { package.as_table() }
        };
        let (mut found, mut left) = (std::collections::BTreeSet::new(), vec!["charz"]);
        while let Some(name) = left.pop() {
            let Some(package) = own(name).filter(|_| found.insert(name)) else { continue };
            let needs = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
            left.extend(needs.filter_map(toml::Value::as_str));
        }
        let watched: Vec<&str> = env!("BUILD_CRATES").split(' ').collect();
        found.retain(|name| own(name).is_some());
        assert!(found.len() >= 8, "{found:?}");
        for name in found {
            let folder = name.strip_prefix("charz-").unwrap_or(name);
            assert!(
                watched.contains(&folder),
                "{name} is no folder of crates/, so build.rs does not look at it: {watched:?}"
            );
        }
    }
}
