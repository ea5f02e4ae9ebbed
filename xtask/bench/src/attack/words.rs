//! Command lines without a meaning: any flag of any verb, with any value.

use std::time::Duration;

use fastrand::Rng;
use rustix::process::Signal;
use xtask::Outcome;

use super::Target;
use super::case::Case;
use super::mutant;

/// Values that some flag takes, or nearly takes; `_` stands for a space.
const VALUES: &str = "auto 1 2 3 -1 1,2 1,,2 5-1 0-4294967295 1-1000000000 1-8:0 64 1e400 inf 1ns 1ms 2s 99999999999h -5s 16EiB 64KiB 2MiB \
    1TiB 5% 1e-9% -100% x.json r.json missing.json h.db . / /dev/null /dev/full /proc/self/mem new/h.db r.json/x t3-4 cmt \
    V03 all compact dumb round-robin auto,auto list:0 list:0,0 list:99999 list:0-1048576 list:4294967295 command:false command:yes pack:2_core:2_pu:2 \
    Package:4_Core:16_Group:2_PU:4 pack:4294967295_pu:4294967295 * noop noop,noop arith-int mem-read sync floor local \
    node:999999 thp 1g read-write,cas json os tsc newest always -- -";

/// When a line that measures is stopped.
const STOPPED: Duration = Duration::from_millis(1500);

pub fn case(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let verb = &target.verbs[rng.usize(..target.verbs.len())];
    let mut words = verb.words.clone();
    for _ in 0..rng.u8(..6).saturating_sub(3) {
        words.push(if rng.bool() { "r.json".into() } else { value(rng) });
    }
    for _ in 0..rng.u8(1..4) {
        let flag = &verb.flags[rng.usize(..verb.flags.len())];
        words.push(flag.name.clone());
        // Now and then one where there is none to take, and none where there is.
        if flag.takes_value != (rng.u8(..16) == 0) {
            let value = rng.choice(&flag.values).filter(|_| rng.bool()).cloned().unwrap_or_else(|| value(rng));
            match rng.bool() {
                true => words.push(value),
                false => *words.last_mut().expect("it was pushed") += &format!("={value}"),
            }
        }
    }
    case.put("r.json", &target.prepared.bases[0].bytes)?;
    let replaces = words.iter().any(|word| word == "--force");
    // The value may stand behind its flag's name.
    let named = words.iter().flat_map(|word| [word.as_str(), word.split_once('=').map_or("", |(_, value)| value)]);
    let mut outputs: Vec<&str> = named.filter(|name| replaces || *name != "r.json").collect();
    outputs.extend(verb.measures().then_some("charz-*"));
    let signal = verb.measures().then_some((STOPPED, Signal::INT));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    case.run(&words, &outputs, signal).map(drop)
}

fn value(rng: &mut Rng) -> String {
    let value = match rng.u8(..4) {
        0 => mutant::text(rng),
        1 => mutant::word(mutant::NUMBERS, rng).to_owned(),
        _ => mutant::word(VALUES, rng).replace('_', " "),
    };
    // No argument holds a NUL.
    value.replace('\0', "0")
}
