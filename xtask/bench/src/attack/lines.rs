//! Command lines as users type them, a few for each command, and the files that they name.

use fastrand::Rng;

use super::grammar::Verb;

/// `_` stands for a space in a word. A file that a line reads is one of [`super::reports::bases`], or no line of it would be right.
pub const LINES: [&str; 83] = [
    "topo",
    "topo -v",
    "topo --measured r.json",
    "topo --topology m.xml",
    "topo --format svg --output page.svg",
    "topo --latencies c.csv --topology Package:1_Core:2_PU:2",
    "topo --latencies c.csv --format xml --output o.xml",
    "topo --latency-by-size s.csv --topology Package:1_L2:1(size=1MiB)_Core:1_PU:1",
    "map --mapping compact --threads 2",
    "map --mapping dumb --threads 2 --topology m.xml",
    "map --mapping dumb --threads 2 --near eth0 --format numactl",
    "map --mapping compact --threads 2 --latencies c.csv",
    "kernels",
    "sweep --kernel noop --threads 1 --steps 20000 --runs 2 --budget 1s --output o.json",
    "sweep --kernel noop,mem-read --threads 1,2 --size 64KiB --runs 2 --budget 1s -q --output o.json",
    "sweep --kernel arith-int --threads 2 --steps 20000 --runs 2 --budget 1s -q --output o.json.gz",
    "sweep --kernel noop --threads 1 --steps 20000 --runs 2 --budget 1s --output -",
    "sweep --budget 1s --config c.toml --output o.json",
    "sweep --kernel noop --threads 1 --steps 20000 --budget 1s --continue -q --output r.json",
    "sweep --preset node -q --continue --output r.json",
    "sweep --resume r.json",
    "sweep --resume r.json --budget 1s -q",
    "sweep --kernel noop,arith-int --threads 1,2 --dry-run --output o.json",
    "sweep --command echo_3 --value last --threads 1,2 --mapping dumb --budget 1s -q --output o.json",
    "sweep --command echo_3 --value last --setup true --threads 1 --mapping dumb --budget 1s --continue --output r.json",
    "exec --mapping dumb --threads 1 -- true",
    "exec --follow poll -- true",
    "c2c --mode cas --budget 1s --output o.json",
    "numa --disk o.json",
    "numa --size 2MiB --budget 1s --output o.json",
    "audit --budget 1s",
    "audit --budget 1s --write o.xml",
    "ab --kernel noop --threads 1 --steps 20000 --a --mapping_dumb --b --mapping_compact --budget 1s --output o",
    "selftest --aa --budget 1s",
    "replicate --list",
    "replicate cmt --from r.json",
    "replicate t3-4 --from r.json --against base.json",
    "replicate cascade --from r.json",
    "replicate tacc --from r.json",
    "replicate solaris --from r.json",
    "replicate cmt --budget 1s --output o.json",
    "advise r.json",
    "advise r.json --verbose",
    "advise r.json --near eth0 --topology m.xml",
    "advise r.json --validate --budget 1s",
    "predict r.json --mapping compact --threads 2",
    "predict --table p.tsv --topology Package:2_Core:4_PU:1 --output page.html",
    "import p.tsv --topology Package:2_Core:4_PU:1",
    "import p.tsv --topology Package:2_Core:4_PU:1 --unit GB/s --format csv",
    "render r.json",
    "render r.json base.json",
    "render r.json --format html --output page.html",
    "compare base.json r.json",
    "compare r.json base.json --cross-machine --cross-build --cross-plan --allow-suspect",
    "compare base.json r.json --cross-machine --cross-build --cross-plan --delivered",
    "compare base.json r.json --cross-machine --cross-build --cross-plan --format csv",
    "compare --machines base.json r.json",
    "compare r.json --baseline newest --db h.db",
    "history add r.json --db h.db",
    "history add r.json base.json --any-host --db new.db",
    "history list --db h.db",
    "history show 1 --db h.db",
    "history plot --db h.db",
    "fleet show r.json base.json",
    "fleet show .",
    "fleet show f.db",
    "fleet show r.json --output page.html --format html",
    "fleet add --db f.db r.json",
    "fleet add --db new.db r.json base.json",
    "fleet baseline r.json",
    "fleet baseline f.db base.json --output page.toml",
    "fleet check --baseline b.toml r.json",
    "fleet check --baseline b.toml r.json --format junit",
    "doctor --no-wait",
    "doctor --no-wait --format github",
    "watch 0.1 2",
    "lockutil --cpus 2 l.txt",
    "lockutil r.json",
    "explain V01",
    "config show",
    "config show --config c.toml",
    "completions bash",
    "docs man-sweep",
];

/// Files that nothing has to write.
pub const PLAIN: [(&str, &str); 5] = [
    ("c.toml", "threads = \"1\"\nmapping = \"dumb\"\n"),
    (
        "l.txt",
        "Adaptive mutex spin: 1713116 events in 30.214 seconds (56700 events/sec)\n\n\
        Count indv cuml rcnt     nsec Hottest Lock           Caller\n\
        1170899  68%  68% 0.00 11444141 pcf                  page_create_wait\n\
        202679  12%  80% 0.00   332996 pcf+0x380             page_free\n",
    ),
    ("c.csv", ",,,\n7.1,,,\n21.5,20.4,,\n20.9,22.3,7.4,\n"),
    ("s.csv", "size_kib,latency_ns\n16,1.4\n256,4\n4096,70\n65536,95\n"),
    ("p.tsv", "dumb\t1\t10\t1\ndumb\t4\t30\t1\ndumb\t8\t60\t1\ndumb\t6\t-\t0\n"),
];

/// Flags with the name of a file that the line may write.
const OUTPUTS: [&str; 4] = ["--output", "-o", "--write", "--resume"];

pub fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('_', " ")).collect()
}

/// The names of files that the line may write.
pub fn outputs(words: &[String]) -> Vec<&str> {
    let adds = words.get(1).is_some_and(|verb| verb == "add");
    let writes = |flag: &String| OUTPUTS.contains(&flag.as_str()) || (adds && flag == "--db");
    let named = words.windows(2).filter(|pair| writes(&pair[0])).map(|pair| pair[1].as_str());
    // `ab` adds the name of the side.
    named.flat_map(|name| if name == "o" { ["o.*", "o-*"] } else { [name, name] }).collect()
}

/// The command of a line.
pub fn verb<'v>(verbs: &'v [Verb], words: &[String]) -> Option<&'v Verb> {
    verbs.iter().filter(|verb| words.starts_with(&verb.words)).max_by_key(|verb| verb.words.len())
}

/// Whether it measures, unless it is refused.
pub fn is_slow(words: &[String]) -> bool {
    words.iter().any(|word| ["--budget", "--resume", "--preset", "--dry-run"].contains(&word.as_str()))
}

/// The line in any format of its command, where it names none.
pub fn with_format(mut words: Vec<String>, verbs: &[Verb], rng: &mut Rng) -> Vec<String> {
    let formats = verb(verbs, &words).map_or(&[][..], Verb::formats);
    let takes_another = |word: &String| ["--format", "--list", "-q", "--"].contains(&word.as_str());
    if let Some(format) = rng.choice(formats).filter(|_| rng.bool() && !words.iter().any(takes_another)) {
        words.extend(["--format".to_owned(), format.clone()]);
    }
    words
}

/// Commands without a line; those that only have commands below them need none.
pub fn missing(verbs: &[Verb]) -> Vec<String> {
    let is_above = |one: &Verb| {
        verbs.iter().any(|other| other.words.len() > one.words.len() && other.words.starts_with(&one.words))
    };
    let lines = LINES.map(words);
    let has_line = |one: &Verb| lines.iter().any(|line| line.starts_with(&one.words));
    verbs.iter().filter(|one| !is_above(one) && !has_line(one)).map(|one| one.words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_line_writes_what_it_names_for_it() {
        let written = |line: &str| outputs(&words(line)).into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        for (line, expected) in [
            ("render r.json", &[][..]),
            ("render r.json --output page.html", &["page.html"]),
            ("fleet add --db f.db r.json", &["f.db"]),
            ("fleet show f.db", &[]),
            ("history list --db h.db", &[]),
            ("sweep --resume r.json", &["r.json"]),
            ("ab --output o", &["o.*", "o-*"]),
        ] {
            assert_eq!(written(line), names(expected), "{line}");
        }
    }

    #[test]
    fn no_line_is_there_twice() {
        assert_eq!(LINES.iter().collect::<BTreeSet<_>>().len(), LINES.len());
    }
}
