//! A package for systems that are like Red Hat's.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::target::Target;
use xtask::{Outcome, process, workspace};

use super::Build;

/// What rpmbuild would do besides, by the tools of this system: strip programs, compress pages, look for libraries; and a compression that
/// all rpm can read, as one of Red Hat's older systems.
const DEFINED: [&str; 7] = [
    "__os_install_post %{nil}",
    "debug_package %{nil}",
    "_build_id_links none",
    "_buildhost localhost",
    "_binary_payload w9.gzdio",
    "use_source_date_epoch_as_buildtime 1",
    "clamp_mtime_to_source_date_epoch 1",
];

pub(super) fn make(folder: &Path, root: &Path, target: &Target, build: &Build, epoch: &str) -> Outcome<PathBuf> {
    let top = super::empty(&folder.join("rpm"))?;
    let release = release(build);
    let (version, about, repository) = (&build.version, super::SUMMARY, workspace::repository());
    let description = super::DESCRIPTION.replace("\n ", "\n");
    // Folders of the system are no part of it.
    let spec = format!(
        "Name: charz\nVersion: {version}\nRelease: {release}\nSummary: {about}\nLicense: MIT\nURL: {repository}\n\
         AutoReqProv: no\n\n%description\n{description}\n\n%install\nmkdir -p %{{buildroot}}/usr\ncp -r {root}/. %{{buildroot}}/usr\n\n\
         %files\n%defattr(-,root,root)\n/usr/bin/charz\n/usr/share/man/man1/*\n/usr/share/bash-completion/completions/charz\n\
         /usr/share/fish/vendor_completions.d/charz.fish\n/usr/share/zsh/site-functions/_charz\n/usr/share/doc/charz\n",
        root = root.display()
    );
    let file = top.join("charz.spec");
    super::write(&file, &spec)?;
    let mut rpmbuild = Command::new("rpmbuild");
    rpmbuild.env("SOURCE_DATE_EPOCH", epoch).args(["-bb", "--quiet", "--target"]).arg(format!("{}-linux", target.arch));
    let places = ["_topdir", "_rpmdir"].map(|name| format!("{name} {}", top.display()));
    for define in places.iter().map(String::as_str).chain(DEFINED) {
        rpmbuild.args(["--define", define]);
    }
    process::read(rpmbuild.arg(&file))?;
    let name = format!("charz-{version}-{release}.{}.rpm", target.arch);
    super::copy(&top.join(target.arch).join(&name), &folder.join(&name))?;
    Ok(folder.join(name))
}

/// Of a commit before the release of its version, which it has to be older than.
fn release(build: &Build) -> String {
    build.commit.as_ref().map_or_else(|| "1".to_owned(), |commit| format!("0.{}", commit.replace('-', ".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_replaces_what_was_built_before_it() {
        let of = |commit: Option<&str>| release(&Build { version: "1.2.3".into(), commit: commit.map(str::to_owned) });
        assert_eq!([of(None), of(Some("ab12-dirty"))], ["1", "0.ab12.dirty"]);
    }
}
