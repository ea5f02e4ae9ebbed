//! Memory, threads, files and disk that are not there: cells that need them say so, and the others are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::group::Group;
use crate::trial::{Ended, Trial, alone, faulty, together};

/// What a refusal of one cell comes to: it has no number and a reason, and the other one is measured.
#[track_caller]
fn check_refused(trial: &Trial, kernel: &str, code: i32, status: &str, said: &str) {
    let ended = trial.run();
    assert_eq!(ended.code, Some(code), "{}", ended.err);
    assert_eq!(ended.status(kernel), status, "{}", ended.reason(kernel));
    assert!(ended.reason(kernel).contains(said), "{:?}", ended.reason(kernel));
    ended.check_measured("honest");
}

#[test]
fn address_space_runs_out() {
    let _machine = together();
    let trial = Trial::of("mem-read,honest").with("--size", "256MiB").after("ulimit -v 240000");
    check_refused(&trial, "mem-read", 3, "skipped", "memory");
}

#[test]
fn the_memory_killer_takes_the_measuring_process_only() {
    let _machine = together();
    let Some(group) = Group::new("memory") else { return };
    group.set("memory.limit_in_bytes", "100M");
    let trial = Trial::of("eats,honest").after(&group.join());
    check_refused(&trial, "eats", 3, "failed", "oom");
    let reason = trial.report().unwrap()["cells"].to_string();
    assert!(reason.contains("100 MiB"), "the limit is named: {reason}");
}

#[test]
fn a_group_has_no_memory_for_a_block() {
    let _machine = together();
    let Some(group) = Group::new("memory") else { return };
    group.set("memory.limit_in_bytes", "100M");
    let trial = Trial::of("mem-read,honest").with("--size", "64MiB").after(&group.join());
    check_refused(&trial, "mem-read", 0, "skipped", "50%");
}

#[test]
fn a_group_has_no_room_for_more_threads() {
    let _machine = together();
    let Some(group) = Group::new("pids") else { return };
    group.set("pids.max", "40");
    let ended = Trial::of("honest").with("--threads", "1,32").after(&group.join()).run();
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("pids.max of the control group is 40"), "{}", ended.err);
    assert!(ended.report.is_none());
}

#[test]
fn no_process_can_be_made() {
    let _machine = together();
    let Some(group) = Group::new("pids") else { return };
    group.set("pids.max", "1");
    let ended = Trial::of("honest").after(&group.join()).run();
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert_eq!(ended.status("honest"), "skipped");
    assert!(ended.reason("honest").contains("no process"), "{}", ended.reason("honest"));
}

#[test]
fn a_limit_that_is_too_low_for_any_command_is_refused() {
    let _machine = together();
    for limit in ["ulimit -s 64", "ulimit -s 900", "ulimit -v 60000"] {
        let trial = Trial::of("honest").after(limit);
        let ended = trial.run();
        assert_eq!(ended.code, Some(3), "{limit}: {}", ended.err);
        assert!(ended.err.contains(&limit[.."ulimit -s".len()]), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(ended.report.is_none() && !trial.journal().exists());
    }
}

/// A runtime that may make few threads has its activities done by those that it has, and the report says why.
#[track_caller]
fn check_few_threads(setup: &str, because: &str) {
    let kernels = ["fft-mutex", "fft-cas"];
    // What others start meanwhile may take the few that were left.
    let taken = |ended: &Ended| {
        ended.report.as_ref().is_some_and(|report| report.to_string().contains("no process to measure in"))
    };
    let run = || Trial::of(&kernels.join(",")).with("--span", "4s").after(setup).run();
    let ended = (0..5).map(|_| run()).find(|ended| !taken(ended)).expect("there are threads left once");
    // Of runs that come to other sizes, as on a busy machine, there is no number.
    assert!(matches!(ended.code, Some(0 | 3 | 5)), "{}", ended.err);
    let report = ended.report.as_ref().expect("there is a report");
    for kernel in kernels {
        let cells = report["cells"].as_array().expect("cells are a list");
        let cell = cells.iter().find(|cell| cell["kernel"] == kernel).expect("the kernel has a cell");
        // On a busy machine a run may end without an iteration.
        let runs = cell["runs"].as_array().expect("runs are a list");
        let growth = runs.iter().map(|run| &run["iterations"][0]["growth"]).find(|growth| !growth.is_null());
        let growth = growth.unwrap_or_else(|| panic!("no run of {kernel} grew: {cell}"));
        let limited = growth["limited_by"].as_str().expect("the limit has a reason");
        assert!(limited.contains(because), "{limited}");
        let steps = growth["steps"].as_array().expect("sizes are a list");
        // Where a busy machine ends the growth early, it may never have wanted more threads than it could have.
        let reached = steps.iter().any(|step| step["threads"].as_u64() >= growth["most_threads"].as_u64());
        assert!(!reached || steps.iter().any(|step| step["inlined"].as_u64() > Some(0)), "{growth}");
        assert!(steps.iter().all(|step| step["threads"].as_u64() <= growth["most_threads"].as_u64()), "{growth}");
    }
}

#[test]
fn threads_leave_address_space_for_other_things() {
    let _machine = together();
    check_few_threads("ulimit -v 150000", "ulimit -v");
}

#[test]
fn a_user_has_few_threads_left() {
    // What others start meanwhile is the same user's.
    let _machine = alone();
    let taken = "find /proc/[0-9]*/task -mindepth 1 -maxdepth 1 -user $(id -u) 2>/dev/null | wc -l";
    check_few_threads(&format!("prlimit --pid $$ --nproc=$(( $({taken}) + 40 ))"), "are taken");
}

/// Its threads are stopped most of the time, which is what is measured.
#[test]
fn a_quota_is_measured_where_there_is_one() {
    let _machine = together();
    let trial = Trial::of("cmt-quota,honest");
    check_refused(&trial, "cmt-quota", 0, "skipped", "needs a CPU quota");
    let Some(group) = Group::new("cpu") else { return };
    group.set("cpu.cfs_quota_us", "20000");
    let ended = Trial::of("cmt-quota").with("--threads", "1,2").after(&group.join()).run();
    ended.check_done();
    ended.check_measured("cmt-quota");
}

/// The pauses are part of what it gets.
#[test]
fn a_program_under_a_quota_has_a_number() {
    let _machine = together();
    let Some(group) = Group::new("cpu") else { return };
    group.set("cpu.cfs_quota_us", "25000");
    // Other tests would leave it less than its quota.
    group.set("cpu.shares", "262144");
    let ended =
        Trial::of_program("sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done'").after(&group.join()).run();
    ended.check_done();
    ended.check_measured("command");
    let report = ended.report.as_ref().expect("there is a report");
    let marks = report["cells"][0]["marks"].as_array().expect("marks are a list");
    assert!(marks.iter().any(|mark| mark["code"] == "V07"), "{marks:?}");
}

/// Others stop those that work.
#[test]
fn runtimes_have_as_many_threads_as_a_quota_has_time_for() {
    let _machine = together();
    let Some(group) = Group::new("cpu") else { return };
    group.set("cpu.cfs_quota_us", "90000");
    let said = |flags: &str| {
        let exec =
            format!("{} && exec \"$0\" exec -q {flags} -- sh -c 'echo $OMP_NUM_THREADS $CHARZ_SEATS'", group.join());
        let ran = Command::new("sh").env_remove("OMP_NUM_THREADS").arg("-c").arg(exec).arg(faulty()).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    assert_eq!(said(""), "1 1\n");
    assert_eq!(said("--mapping auto"), "1 1\n");
    assert_eq!(said("--threads 3 --mapping auto"), "3 3\n");
}

#[test]
fn few_files_may_be_open() {
    let _machine = together();
    for files in [4, 6, 8, 12, 16] {
        // Whatever started the tests may have left some open.
        let trial = Trial::of("honest").after(&format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n {files}"));
        let ended = trial.run();
        match ended.code {
            Some(0 | 5) => ended.check_measured("honest"),
            Some(3) => assert_eq!(ended.err.lines().last().unwrap().matches("charz: ").count(), 1, "{}", ended.err),
            code => panic!("{files} files: {code:?}: {}", ended.err),
        }
    }
}

#[test]
fn a_file_may_not_grow() {
    let _machine = together();
    let trial = Trial::of("honest").with("--runs", "6").after("ulimit -f 40");
    check_full(&trial);
}

/// Half a sweep fits: the rest is reported, nothing on disk is damaged, and with room again the sweep is finished.
#[track_caller]
fn check_full(trial: &Trial) {
    let ended = trial.run();
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains("--resume"), "{}", ended.err);
    let resumed = trial.resume();
    resumed.check_done();
    assert_eq!(resumed.report.as_ref().unwrap()["complete"], true);
    resumed.check_measured("honest");
}

/// A file system of its own, mounted for a test; `None`, and a word about it, where that is not allowed.
struct Disk(PathBuf);

impl Disk {
    fn new(folder: &Path, size: &str) -> Option<Self> {
        let options = format!("size={size}");
        let folder = folder.join("disk");
        fs::create_dir(&folder).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "charz"]).arg(&folder).output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Disk(folder));
        }
        println!("skipped: no file system can be mounted here");
        None
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn the_disk_is_full() {
    let _machine = together();
    let trial = Trial::of("honest").with("--runs", "6");
    let Some(disk) = Disk::new(&trial.folder(), "40k") else { return };
    let trial = trial.into(disk.0.join("r.json"));
    let ended = trial.run();
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains("--resume"), "{}", ended.err);
    disk.remount("size=10m");
    let resumed = trial.resume();
    resumed.check_done();
    assert_eq!(resumed.report.as_ref().unwrap()["complete"], true);
}

#[test]
fn there_is_no_room_for_the_files_of_units() {
    let _machine = together();
    let trial = Trial::of("cmt-io,honest");
    let Some(disk) = Disk::new(&trial.folder(), "16k") else { return };
    fs::write(disk.0.join("full"), [1; 12 << 10]).unwrap();
    let trial = trial.variable("TMPDIR", &disk.0);
    check_refused(&trial, "cmt-io", 3, "skipped", "make room");
    assert_eq!(fs::read_dir(&disk.0).unwrap().count(), 1, "nothing is left there");
}

#[test]
fn the_disk_may_only_be_read() {
    let _machine = together();
    let trial = Trial::of("honest");
    let Some(disk) = Disk::new(&trial.folder(), "1m") else { return };
    disk.remount("ro");
    let ended = trial.into(disk.0.join("r.json")).run();
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("--output") && ended.report.is_none(), "{}", ended.err);
}
