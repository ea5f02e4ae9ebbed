use super::*;
use crate::args::parse_with;

/// What is typed, and how the line begins that answers it.
#[rustfmt::skip]
const TYPED: &[(&str, &str)] = &[
    // As newcomers typed them.
    ("report", "charz render"), ("list", "charz kernels"), ("plot", "charz render last --format html"), ("show", "charz render last"),
    ("show r.json", "charz render r.json"), ("diff a.json b.json", "charz compare a.json b.json"), ("diff", "charz compare"), ("run", "charz sweep"),
    ("run ./bench", "charz exec ./bench"), ("run --threads 2", "charz sweep --threads 2"), ("run mem-read", "charz sweep --kernel mem-read"),
    ("bench", "charz sweep"), ("bench memory", "charz sweep --family memory"), ("pin --threads 2 ./x", "charz exec --threads 2 ./x"),
    ("pin", "charz exec"), ("info", "charz topo"), ("version", "charz --version"), ("render x --html", "charz render x --format html"),
    ("render last --csv", "charz render last --format csv"), ("sweep --html", "charz render last --format html"),
    ("--list", "charz kernels"), ("--threads 2", "charz sweep"), ("doctor -q", "charz doctor"),
    ("exec -t 2 ls", "charz exec --threads 2 ls"), ("exec -t2 ls -l", "charz exec --threads 2 ls -l"), ("sweep -n 10", "charz sweep --runs 10"),
    ("sweep -t 4 --quiet", "charz sweep --threads 4 --quiet"), ("sweep -t4", "charz sweep --threads 4"), ("sweep --runtime 90", "charz sweep --budget 90s"),
    ("sweep --cores 4", "charz sweep --mapping list:4"), ("sweep --pin", "charz sweep --mapping compact"), ("render r.json --file o.csv", "charz render r.json --output o.csv"),
    ("sweep mem-read", "charz sweep --kernel mem-read"), ("sweep sync --quick", "charz sweep --family sync --quick"), ("sweep ./bench", "charz sweep --command ./bench"),
    ("mem-read", "charz sweep --kernel mem-read"), ("sync --threads 2", "charz sweep --family sync --threads 2"), ("r.json", "charz render r.json"),
    ("./bench --fast", "charz exec ./bench --fast"), ("fleet list nodes/", "charz fleet show nodes/"), ("history log", "charz history list"),
    // Before three options were called as the texts call what they set.
    ("sweep --invocations 6-9", "charz sweep --runs 6-9"), ("sweep --repetitions=7 -q", "charz sweep --iterations 7 -q"),
    ("c2c --invocations 6", "charz c2c --runs 6"), ("ab --repetitions 3", "charz ab --iterations 3"), ("selftest --aa --invocations=8", "charz selftest --aa --runs 8"),
    ("sweep --continue --output r.json --invocations 6", "charz sweep --continue --output r.json --runs 6"),
    // hyperfine
    ("sweep --warmup 3 --quick", "charz sweep --quick"), ("sweep -w 3", "charz sweep"), ("sweep --min-runs 10", "charz sweep --runs 10"),
    ("sweep -M 20", "charz sweep --runs 6-20"), ("sweep --command ./x --prepare make", "charz sweep --command ./x --setup make"),
    ("sweep --export-json o.json", "charz sweep --output o.json"), ("render r.json --export-markdown o.md", "charz render r.json --output o.md"),
    ("sweep --command ./x -i", "charz sweep --command ./x --ignore-failure"), ("sweep -N", "charz sweep --command"),
    ("compare a.json b.json --style html", "charz compare a.json b.json --format html"),
    // perf
    ("stat", "charz watch"), ("record ./x", "charz exec"), ("top", "charz watch"), ("bench sched", "charz exec sched"), ("list --all", "charz kernels --all"),
    ("sweep -r 5", "charz sweep --runs 5"), ("sweep -e cycles", "charz sweep --counters"), ("annotate", "charz exec"), ("diff a.json b.json --json", "charz compare a.json b.json --json"),
    // likwid
    ("likwid-topology", "charz topo"), ("likwid-pin -c 0-3 ./x", "charz exec"), ("exec -c 0-3 ./x", "charz exec --mapping list:0-3 ./x"),
    ("topo -g", "charz topo --format table"), ("sweep -t mem-read", "charz sweep --kernel mem-read"), ("peakflops", "charz sweep --family compute"),
    // numactl and taskset
    ("numactl --hardware", "charz exec"), ("exec --physcpubind=0-3 ./x", "charz exec --mapping list:0-3 ./x"), ("exec --membind 1 ./x", "charz exec --memory node:1 ./x"),
    ("exec --interleave=all ./x", "charz exec --memory interleave"), ("exec --localalloc ./x", "charz exec"), ("taskset -c 0 ./x", "charz exec"),
    ("taskset ./x", "charz exec ./x"), ("exec --cpu-list 0,2 ./x", "charz exec --mapping list:0,2 ./x"), ("--hardware", "charz topo"),
    // lstopo and lscpu
    ("lstopo", "charz topo"), ("lscpu --json", "charz topo --json"), ("topo --of xml", "charz topo --format xml"), ("topo -p", "charz topo --format table"),
    ("topo --output-format svg", "charz topo --format svg"), ("topo -e", "charz topo --format table"), ("topo --ascii", "charz topo --format boxes"),
    ("topo --tree", "charz topo --format tree"),
    // criterion and cargo bench
    ("sweep --sample-size 20", "charz sweep --runs 20"), ("sweep --measurement-time 10", "charz sweep --budget 10s"), ("sweep --warm-up-time 1", "charz sweep"),
    ("sweep --save-baseline b.json", "charz sweep --output b.json"), ("sweep --baseline main", "charz compare"), ("sweep --noplot", "charz sweep --quiet"),
    ("sweep --bench mem-read", "charz sweep --kernel mem-read"),
    // stress-ng
    ("stress", "charz sweep"), ("sweep --cpu 4", "charz sweep --threads 4"), ("sweep --metrics", "charz sweep --counters"),
    ("sweep --vm-bytes 1GiB", "charz sweep --size 1GiB"), ("sweep --taskset 0-1", "charz sweep --mapping list:0-1"),
    ("sweep --stressor atomic-*", "charz sweep --kernel 'atomic-*'"),
    // sysbench and fio
    ("cpu run", "charz topo"), ("memory run", "charz sweep --family memory"), ("mutex run", "charz sweep --family sync"), ("sweep --time=10", "charz sweep --budget 10s"),
    ("sweep --num-threads=4", "charz sweep --threads 4"), ("sweep --memory-block-size=1MiB", "charz sweep --size 1MiB"), ("sweep --events=1000000", "charz sweep --steps 1000000"),
    ("sweep --numjobs=4", "charz sweep --threads 4"), ("sweep --bs=4KiB", "charz sweep --size 4KiB"), ("sweep --cpus_allowed=0-3", "charz sweep --mapping list:0-3"),
    ("sweep --output-format=json", "charz sweep --format json"), ("sweep --output-format html", "charz render last --format html"), ("sweep --rand-seed 1", "charz sweep --seed 1"),
    ("sweep --loops=5", "charz sweep --iterations 5"),
    // Others: mpirun, srun, mpstat, make, git.
    ("exec -np 4 ./x", "charz exec --threads 4 ./x"), ("exec --bind-to core ./x", "charz exec --mapping compact"), ("exec --cpu-bind=0-1 ./x", "charz exec --mapping list:0-1 ./x"),
    ("mpstat 1", "charz watch 1"), ("watch --interval 1", "charz watch 1"), ("sweep -j 2", "charz sweep --threads 2"), ("sweep --dry", "charz sweep --dry-run"),
    ("sweep -y", "charz sweep --force"), ("status", "charz doctor"), ("log", "charz history list"), ("sweep --no-color", "charz sweep --color never"),
];

fn answer(typed: &str) -> String {
    let argv = std::iter::once("charz").chain(typed.split(' ')).map(OsString::from);
    match parse_with(argv, &super::super::layers::Variables::new()) {
        Err(error) => error.to_string(),
        Ok(_) => "nothing is wrong".to_owned(),
    }
}

#[test]
fn what_others_call_it_is_answered_by_a_line_that_is_right() {
    let mut wrong = Vec::new();
    for (typed, begin) in TYPED {
        let answer = answer(typed);
        let line = answer.split_once("; type: ").map_or("", |(_, line)| line);
        let words = shlex::split(line).unwrap_or_default();
        let is_text = |error: &clap::Error| !error.use_stderr();
        let is_right = match Cli::command().try_get_matches_from(&words) {
            Ok(_) => true,
            Err(error) => is_text(&error),
        };
        if !line.starts_with(begin) || !is_right || answer.contains('\n') || *typed == line {
            wrong.push(format!("{typed}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TYPED.len(), wrong.join("\n"));
}

#[test]
fn every_line_of_the_tables_is_right_and_no_word_hides_one_of_charz() {
    let mut grammar = Cli::command();
    grammar.build();
    let right = |line: &str| match Cli::command().try_get_matches_from(shlex::split(line).unwrap()) {
        Ok(_) => true,
        Err(error) => !error.use_stderr(),
    };
    for row in VERBS {
        assert!(right(row.line), "{}", row.line);
        let above = row.below.split_whitespace().fold(&grammar, |above, name| above.find_subcommand(name).unwrap());
        let own = row.words.iter().find(|word| above.find_subcommand(word).is_some());
        assert_eq!(own, None, "a command of {:?}", row.below);
        let twice = |word: &&&str| {
            VERBS.iter().filter(|other| other.below == row.below && other.words.contains(*word)).count() > 1
        };
        assert_eq!(row.words.iter().find(twice), None, "answered twice");
        let named = row.verb.split_whitespace().try_fold(&grammar, |above, name| above.find_subcommand(name));
        assert!(named.is_some(), "{}", row.verb);
    }
    for row in FLAGS {
        assert!(!row.here.starts_with("charz ") || right(row.here), "{}", row.here);
        for verb in row.verbs.iter().filter(|verb| !verb.is_empty()) {
            let verb = grammar.find_subcommand(verb).unwrap();
            let own = verb
                .get_arguments()
                .find(|arg| arg.get_long().is_some_and(|long| row.words.contains(&&*format!("--{long}"))));
            assert!(own.is_none(), "{} of {}", own.unwrap(), verb.get_name());
        }
    }
}

#[test]
fn what_has_no_meaning_gets_no_tip_that_is_none() {
    for typed in ["sweep --zzz", "render r.json --zzz", "fleet check --zzz", "exec --zzz ./x", "zzz"] {
        let answer = answer(typed);
        assert!(answer.contains("zzz") && !answer.contains("to pass") && answer.contains("--help"), "{answer}");
    }
    assert_eq!(answer("exec -- -t"), "nothing is wrong");
}
