//! `charz advise`, and the lines that it gives, run.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{cpus, output, run, write_program};
use charz_topology::cpulist;

#[test]
fn a_prediction_is_checked_by_measuring_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json").to_string_lossy().into_owned();
    let short = ["--steps", "100000", "--iterations", "3", "--runs", "6", "--seed", "1", "-q"];
    let words = ["sweep", "--kernel", "arith-int", "--mapping", "dumb,auto", "--threads", "1,2", "--output", &file];
    run(words.iter().chain(&short)).check_swept();
    let ran = run(["advise", &file, "--validate", "--budget", "20s", "--json", "--wait"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    // A machine that is too busy for any number gives no advice either.
    for (advice, outcome) in found["advice"].as_array().unwrap().iter().zip(found["validation"].as_array().unwrap()) {
        for key in ["load", "kernel", "mapping", "threads"] {
            assert_eq!(advice[key], outcome[key]);
        }
        let others = outcome["others"].as_array().unwrap();
        assert!((1..=3).contains(&others.len()), "{outcome}");
        for other in others {
            let both = !other["predicted_interval"].is_null() && !other["measured_interval"].is_null();
            assert_eq!(other["holds"].is_boolean(), both, "{other}");
        }
    }
}

/// The load of each kind works beside the placements, and ends with the command.
#[test]
fn placements_are_measured_beside_a_load() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json").to_string_lossy().into_owned();
    let short = ["--steps", "100000", "--iterations", "3", "--runs", "6", "--seed", "1", "-q"];
    let words = ["sweep", "--kernel", "arith-int", "--mapping", "dumb", "--threads", "1,2", "--output", &file];
    run(words.iter().chain(&short)).check_swept();
    let mark = format!("sleep 0.{}", std::process::id());
    let program = format!("sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; {mark}'");
    for load in ["hog", "stream:2", &program] {
        let ran = run(["advise", &file, "--beside", load, "--budget", "4s", "--json", "--wait"]);
        let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{load}: {ran:?}"));
        let placements = found["beside"]["placements"].as_array().unwrap();
        assert!(ran.code == Some(5) || !placements.is_empty(), "{load}: {ran:?}");
        for placed in placements {
            assert!(placed["delivered"].as_f64().is_some_and(|rate| rate > 0.0), "{placed}");
            // A program that mostly sleeps is counted in ticks.
            assert!(placed["load_kept"].as_f64().is_some_and(|kept| kept >= 0.0), "{placed}");
        }
    }
    let left = Command::new("pgrep").args(["-f", &mark]).output().map(|output| output.stdout).unwrap_or_default();
    assert!(left.is_empty(), "{}", String::from_utf8_lossy(&left));
    for (load, code) in [("hog:0", 2), ("stream:node9999", 5), ("no-such-program", 5), ("", 2)] {
        let ran = run(["advise", &file, "--beside", load, "--budget", "3s", "--wait"]);
        assert_eq!(
            (ran.code, ran.err.lines().filter(|line| line.contains("error") || line.contains("--beside")).count()),
            (Some(code), 1),
            "{load}: {ran:?}"
        );
    }
}

/// What a shell prints that runs the script of a tool with a program behind it; `None` where the tool is not here, or cannot run.
fn launched(tool: &str, seats: &str, threads: usize, program: &Path) -> Option<String> {
    let present =
        |line: &str| Command::new("sh").args(["-c", line]).output().is_ok_and(|output| output.status.success());
    let here = match tool {
        "likwid" => present("command -v likwid-pin"),
        "systemd" => present("systemd-run --scope --quiet true"),
        "docker" => false,
        "mpirun" => present("mpirun --version | grep -q 'Open MPI'"),
        "omp-places" | "gomp" | "kmp" | "exec" => true,
        tool => present(&format!("command -v {tool}")),
    };
    if !here {
        println!("absent: {tool}");
        return None;
    }
    let mapping = format!("list:{seats}");
    let script = output(&["map", "--mapping", &mapping, "--threads", &threads.to_string(), "--format", tool]);
    let line = format!("{} {}", script.trim_end_matches('\n'), program.display());
    // After exports the program is a command of its own.
    let line = if script.contains("export ") { format!("{script}{}", program.display()) } else { line };
    // The line of charz exec names this program as it is installed.
    let own = Path::new(env!("CARGO_BIN_EXE_charz")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    // Where root runs tests, nothing is to be protected from it.
    shell
        .args(["-c", &line])
        .env("PATH", path)
        .envs(["", "_CONFIRM"].map(|end| (format!("OMPI_ALLOW_RUN_AS_ROOT{end}"), "1")));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Sets of CPUs for whole processes, read back from the system.
#[test]
fn a_process_that_a_line_launches_may_use_its_seats_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("show");
    write_program(&program, "#!/bin/sh\ngrep Cpus_allowed_list: /proc/self/status\n");
    let all = cpus();
    for seats in [vec![all[0]], vec![all[all.len() - 1]], all.iter().copied().rev().take(2).collect()] {
        for tool in ["taskset", "numactl", "hwloc-bind", "systemd", "docker"] {
            let Some(shown) = launched(tool, &cpulist::print(&seats), seats.len(), &program) else { continue };
            let list = shown.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
            let mut expected = seats.clone();
            expected.sort_unstable();
            assert_eq!(cpulist::parse(list.trim()).unwrap(), expected, "{tool}");
        }
    }
}

#[test]
fn each_rank_that_a_line_launches_is_on_its_own_seat() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("show");
    write_program(&program, "#!/bin/sh\necho $OMPI_COMM_WORLD_RANK $(taskset -pc $$ | sed 's/.*: //')\n");
    let seats: Vec<u32> = cpus().into_iter().rev().take(2).collect();
    for ranks in [seats.len(), 2 * seats.len()] {
        let Some(shown) = launched("mpirun", &cpulist::print(&seats), ranks, &program) else { return };
        let mut found: Vec<&str> = shown.lines().collect();
        found.sort_unstable();
        let expected: Vec<String> = (0..ranks).map(|rank| format!("{rank} {}", seats[rank % seats.len()])).collect();
        assert_eq!(found, expected);
    }
}

/// likwid-pin numbers the CPUs of a mask from 0.
#[test]
fn a_line_for_likwid_holds_in_the_cpuset_that_it_was_made_in() {
    let last = cpus().pop().unwrap();
    if !Command::new("sh").args(["-c", "command -v likwid-pin"]).output().unwrap().status.success() {
        return println!("absent: likwid");
    }
    let map = format!("\"$0\" map --mapping list:{last} --threads 1 --format likwid");
    let script = format!("$({map} | grep -v '#') grep Cpus_allowed_list: /proc/self/status");
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &last.to_string(), "sh", "-c", &script, env!("CARGO_BIN_EXE_charz")]);
    let output = pinned.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    let list = shown.lines().find_map(|line| Some(line.split_once("Cpus_allowed_list:")?.1.trim()));
    assert_eq!(list, Some(last.to_string().as_str()), "{shown}");
}

/// Prints the CPUs of each thread, in order, as the system lists them: of the first 32.
const THREADS: &str = r#"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned long allowed(void) {
    FILE *status = fopen("/proc/thread-self/status", "r");
    char line[4096] = "";
    while (strncmp(line, "Cpus_allowed:", 13)) if (!fgets(line, sizeof line, status)) exit(1);
    fclose(status);
    char *last = strrchr(line, ',');
    return strtoul(last ? last + 1 : line + 13, 0, 16);
}
int main(void) {
    int cpus[64], counts[64], threads = 0;
    #pragma omp parallel
    {
        unsigned long set = allowed();
        int own = omp_get_thread_num();
        counts[own] = __builtin_popcountl(set);
        cpus[own] = __builtin_ctzl(set);
        #pragma omp single
        threads = omp_get_num_threads();
    }
    for (int i = 0; i < threads; i++) printf("cpu %d of %d\n", cpus[i], counts[i]);
}
"#;

/// A seat for each thread, read back by the thread, with GNU's and with LLVM's OpenMP.
#[test]
fn each_thread_that_a_line_launches_is_on_its_own_seat() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (source, object, gnu, llvm) = (path("threads.c"), path("threads.o"), path("gnu"), path("llvm"));
    std::fs::write(&source, THREADS).unwrap();
    let gcc = |words: &[&str], from: &Path, to: &Path, library: &str| {
        let built = Command::new("gcc").args(words).arg("-o").args([to, from]).arg(library).output();
        built.is_ok_and(|output| output.status.success())
    };
    let is_built = gcc(&["-c", "-fopenmp"], &source, &object, "-O1");
    let has_gnu = is_built && gcc(&[], &object, &gnu, "-lgomp");
    let has_llvm = is_built && gcc(&[], &object, &llvm, "-l:libomp.so.5");
    let seats: Vec<u32> = cpus().into_iter().rev().take(2).collect();
    for (tool, program, is_there) in [
        ("omp-places", &gnu, has_gnu),
        ("omp-places", &llvm, has_llvm),
        ("gomp", &gnu, has_gnu),
        ("kmp", &llvm, has_llvm),
        ("likwid", &gnu, has_gnu),
        ("exec", &gnu, has_gnu),
    ] {
        if !is_there {
            println!("absent: the OpenMP library for {tool}");
            continue;
        }
        // Twice as many threads as seats start the list over; charz exec shares seats evenly.
        let most = if tool == "exec" { 1 } else { 2 };
        for threads in (1..=most).map(|times| times * seats.len()) {
            let Some(shown) = launched(tool, &cpulist::print(&seats), threads, program) else { continue };
            // likwid-pin leaves a colour behind at the beginning of a line.
            let found: Vec<&str> = shown.lines().filter_map(|line| Some(line.split_once("cpu ")?.1)).collect();
            let expected: Vec<String> = (0..threads).map(|at| format!("{} of 1", seats[at % seats.len()])).collect();
            assert_eq!(found, expected, "{tool}: {shown}");
        }
    }
}
