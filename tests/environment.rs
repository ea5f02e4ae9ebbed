//! What this program sets for itself in the environment, programs of the user do not get.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::support::{Ran, charz, write_program};

const PLUGINS: &str = "HWLOC_PLUGINS_PATH";

/// Starts a program by each command that starts one; the program writes where hwloc has its plugins.
#[track_caller]
fn check(set: impl Fn(&mut Command) -> &mut Command, expected: &str) {
    let folder = tempdir().unwrap();
    let (script, seen) = (folder.path().join("script"), folder.path().join("seen"));
    let script_of =
        |answer: &str| format!("#!/bin/sh\nprintf %s \"${{{PLUGINS}-unset}}\" > {}\n{answer}\n", seen.display());
    let script_name = script.to_str().unwrap();
    let mapping = format!("command:{script_name}");
    let lines: [(&[&str], &str); 3] = [
        (&["exec", "--", script_name], ""),
        (&["map", "--threads", "1", "--topology", "PU:1", "--mapping", &mapping], "cat > /dev/null; echo '[0]'"),
        (
            &[
                "sweep",
                "--threads",
                "1",
                "--mapping",
                "dumb",
                "--invocations",
                "1",
                "--value",
                "last",
                "--command",
                script_name,
            ],
            "echo 1",
        ),
    ];
    for (line, answer) in lines {
        write_program(&script, &script_of(answer));
        let mut command = charz();
        let ran: Ran = set(command.current_dir(&folder).args(line)).output().unwrap().into();
        assert_eq!(text(&seen), expected, "{line:?}: {ran:?}");
        let _ = fs::remove_file(&seen);
    }
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

#[test]
fn programs_load_the_plugins_of_hwloc_that_the_user_has() {
    check(|command| command.env_remove(PLUGINS), "unset");
    check(|command| command.env(PLUGINS, "/nowhere"), "/nowhere");
    check(|command| command.env(PLUGINS, ""), "");
}
