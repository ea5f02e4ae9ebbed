//! The flags of a user's program: how they are spelled, and what they mean.

use std::time::Duration;

use clap::Args;

use super::choice::choice;
use super::flag::Flag;
use super::help;
use super::layers::Layers;
use super::quantities::time;

use crate::command::sweep::guessed;
use crate::exit::Error;
use crate::permit::{Permitted, Source, permit};
use charz_data::{Better, Follow, Program, ProgramValue, ReportedUnit};
use charz_measure::user_program::{self, Readers, Words};

// Not a documentation comment: the grammar would take it for the help of the subcommand.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProgramArgs {
    /// A program of yours as a kernel, e.g. './bench --threads {threads}'
    ///
    /// Words are split as in a shell, and no shell runs: leading NAME=VALUE are the program's environment, and a pipeline is written
    /// sh -c '…'. Replaced are {threads} (or n in braces), {cpus} (a list such as 0-3,8), {mapping} and {rank}. A command with {threads}
    /// or {cpus} runs once, with that many threads, each of which is put on its CPU as it appears. Of any other, as many copies run as there
    /// are threads, one on each CPU; {rank} is the copy's number, from 0. Each iteration is a run of its own.
    ///
    /// The program has CHARZ_SEATS and the variables from which runtimes take their number of threads (OMP_NUM_THREADS, …), and none that
    /// binds threads (OMP_PLACES, …). Without --kernel and --family it is all that is measured.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Where the number of a run comes from: wall, last, regex:RE, json:PATH, protocol [default: wall]
    ///
    /// wall is the time from start to end. last is the last number on standard output; regex:RE the last match in any line of output, its
    /// first group or else all of it; json:PATH a number in the JSON on standard output, e.g. json:results.0.mean. protocol: the program
    /// measures itself, see docs/your-kernel-in-any-language.md. Rates of copies are summed; for times, the longest counts.
    #[arg(long, value_name = "HOW", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// Operations per run; the result is N divided by the run's time, in op/s
    #[arg(long, value_name = "N", conflicts_with = "value", allow_hyphen_values = true)]
    pub(crate) work: Option<String>,
    /// The unit of the number, e.g. MB/s or tok/s
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) unit: Option<String>,
    /// Whether a higher or a lower number is better [default: by the unit]
    ///
    /// Without it, lower is better for time, cycles, joules and the like, also per operation, and higher for everything else.
    #[arg(long, value_name = "WHICH")]
    pub(crate) direction: Option<String>,
    /// Where the program's standard output goes: pipe (charz reads it), null, or a file, written anew by each run [default: pipe]
    ///
    /// A program that prints much waits for the reader of a pipe. null is /dev/null, where nothing waits; some programs do less there. In the name
    /// of a file {threads}, {cpus}, {mapping} and {rank} are replaced. Only with --value wall or --work, and without --verify.
    #[arg(long, value_name = "WHERE")]
    pub(crate) program_output: Option<String>,
    /// A regular expression that a line of output must match, or the run's result is wrong
    ///
    /// {threads} is replaced.
    #[arg(long, value_name = "RE", allow_hyphen_values = true)]
    pub(crate) verify: Option<String>,
    /// A command that is run before each run of the program, untimed
    ///
    /// What it leaves running is ended after that run.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
    /// The longest that a run of the program may take, with a unit [default: 5s and 10 times the predicted time]
    ///
    /// Its --setup may take 5s more.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) run_timeout: Option<String>,
    /// Count runs of the program that end with these exit codes, e.g. 1,3, or with any if none is named: its time or number is a result then
    #[arg(long, value_name = "CODES", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(crate) ignore_failure: Option<String>,
    /// How new threads of the program are found and put on their CPUs: ptrace, poll or none, as for charz exec
    ///
    /// The default is ptrace, or none where the first run stands still for charz for more than 1% of its time.
    #[arg(long, value_name = "WAY")]
    pub(crate) follow: Option<String>,
}

// What is typed of a program that a report names. Not a documentation comment, as above.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustArgs {
    /// Start the program that the report names, also if another user may have written it
    #[arg(long)]
    pub(crate) trust_program: bool,
}

impl ProgramArgs {
    /// With what `common` has where this says nothing. A value and work exclude each other.
    pub(super) fn or(self, common: &ProgramArgs) -> Self {
        let counts = self.value.is_some() || self.work.is_some();
        let common = common.clone();
        ProgramArgs {
            command: self.command.or(common.command),
            value: self.value.or(common.value.filter(|_| !counts)),
            work: self.work.or(common.work.filter(|_| !counts)),
            unit: self.unit.or(common.unit),
            direction: self.direction.or(common.direction),
            program_output: self.program_output.or(common.program_output),
            verify: self.verify.or(common.verify),
            setup: self.setup.or(common.setup),
            run_timeout: self.run_timeout.or(common.run_timeout),
            ignore_failure: self.ignore_failure.or(common.ignore_failure),
            follow: self.follow.or(common.follow),
        }
    }

    fn others(&self) -> [(&'static str, &Option<String>); 10] {
        [
            ("--value", &self.value),
            ("--work", &self.work),
            ("--unit", &self.unit),
            ("--direction", &self.direction),
            ("--program-output", &self.program_output),
            ("--verify", &self.verify),
            ("--setup", &self.setup),
            ("--run-timeout", &self.run_timeout),
            ("--ignore-failure", &self.ignore_failure),
            ("--follow", &self.follow),
        ]
    }
}

const COMMAND: Flag<Words> = Flag { name: "--command", read: split };
const SETUP: Flag<Words> = Flag { name: "--setup", read: split };
const DIRECTION: Flag<Better> = Flag {
    name: "--direction",
    read: |name, text| choice(name, text, Better::ALL.map(|better| (better.name(), better))),
};
const IGNORE_FAILURE: Flag<Vec<u8>> = Flag { name: "--ignore-failure", read: codes };
const FOLLOW: Flag<Follow> =
    Flag { name: "--follow", read: |name, text| choice(name, text, Follow::ALL.map(|way| (way.name(), way))) };
const RUN_TIMEOUT: Flag<u64> = Flag { name: "--run-timeout", read: timeout };

fn split(name: &str, text: &str) -> Result<Words, Error> {
    Words::split(text).map_err(|why| Error::bad_input(format!("{name}: {text:?}: {why}")))
}

/// The program that the flags describe; `None` without `--command`.
pub(super) fn program(
    args: &ProgramArgs,
    layers: &Layers,
    notes: &mut Vec<String>,
) -> Result<Option<Permitted>, Error> {
    let Some(command) = &args.command else {
        return match args.others().into_iter().find(|(_, value)| value.is_some()) {
            None => Ok(None),
            Some((flag, _)) => Err(Error::bad_input(format!(
                "{}: there is no program whose runs it is about; name one with --command, example: {}",
                layers.label(flag),
                help::COMMAND
            ))),
        };
    };
    COMMAND.of(command, layers)?;
    SETUP.given(args.setup.as_deref(), layers)?;
    let value = layers.blame("--value", value(args))?;
    let unit = unit(args, &value, layers, notes)?;
    let output = output(args, &value, layers)?;
    let program = Program {
        command: command.clone(),
        output,
        setup: args.setup.clone(),
        value,
        unit,
        verify: args.verify.clone(),
        timeout_ns: RUN_TIMEOUT.given(args.run_timeout.as_deref(), layers)?,
        ignored_failures: IGNORE_FAILURE.given(args.ignore_failure.as_deref(), layers)?,
        follow: FOLLOW.given(args.follow.as_deref(), layers)?,
    };
    Readers::of(&program, 1).map_err(Error::bad_input)?;
    if !program.in_copies() && command.contains("{rank}") {
        return Err(Error::bad_input(format!(
            "{}: {command:?} has {{rank}}, the number of a copy, and a number of threads, with which it runs once; leave one out",
            layers.label("--command")
        )));
    }
    if let Some(file) = program.output.as_ref().filter(|file| *file != Program::NO_OUTPUT)
        && program.in_copies() != file.contains("{rank}")
    {
        let label = layers.label("--program-output");
        return Err(Error::bad_input(match program.in_copies() {
            true => format!(
                "{label}: copies of the program would write to one file; name one for each, example: out-{{rank}}.txt"
            ),
            false => {
                format!("{label}: {file:?} has {{rank}}, the number of a copy, and the program runs once; leave it out")
            }
        }));
    }
    notes.extend(user_program::note(&program));
    // What a file of settings names was permitted when that was read.
    permit(program, &Source::Words).map(Some).map_err(Error::bad_input)
}

/// The file that standard output goes to, where nothing is read from it.
fn output(args: &ProgramArgs, value: &ProgramValue, layers: &Layers) -> Result<Option<String>, Error> {
    let Some(place) = args.program_output.as_deref().filter(|place| *place != "pipe") else { return Ok(None) };
    let label = layers.label("--program-output");
    if place.is_empty() {
        return Err(Error::bad_input(format!("{label}: it is pipe, null or a file; example: --program-output null")));
    }
    let reads = match value {
        ProgramValue::Wall | ProgramValue::Work(_) => args.verify.as_ref().map(|_| "--verify"),
        _ => Some("--value"),
    };
    match reads {
        Some(flag) => {
            Err(Error::bad_input(format!("{label}: {flag} reads the output of the program; leave one of them out")))
        }
        None if place == "null" => Ok(Some(Program::NO_OUTPUT.to_owned())),
        None => Ok(Some(place.to_owned())),
    }
}

/// The direction that was asked for.
pub(super) fn direction(args: &ProgramArgs, layers: &Layers) -> Result<Option<Better>, Error> {
    DIRECTION.given(args.direction.as_deref(), layers)
}

fn value(args: &ProgramArgs) -> Result<ProgramValue, Error> {
    // The environment may have both.
    if args.value.is_some() && args.work.is_some() {
        return Err(Error::bad_input("--value cannot be used with --work; leave one out"));
    }
    if let Some(text) = &args.work {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let operations = text.parse().ok().filter(|operations| digits && *operations > 0);
        return operations.map(ProgramValue::Work).ok_or_else(|| {
            Error::bad_input(format!("--work: {text:?} is not a whole number from 1; example: --work 1000000"))
        });
    }
    let Some(text) = args.value.as_deref() else { return Ok(ProgramValue::Wall) };
    match text.split_once(':') {
        Some(("regex", regex)) if !regex.is_empty() => return Ok(ProgramValue::Regex(regex.to_owned())),
        Some(("json", path)) if !path.is_empty() => return Ok(ProgramValue::Json(path.to_owned())),
        _ => {}
    }
    let words = [("wall", ProgramValue::Wall), ("last", ProgramValue::Last), ("protocol", ProgramValue::Protocol)];
    let known = words.into_iter().find(|(word, _)| *word == text).map(|(_, value)| value);
    known.ok_or_else(|| {
        Error::bad_input(format!(
            "--value: {text:?} is none of wall, last, regex:RE, json:PATH and protocol; example: --value 'regex:rate: ([0-9.]+)'"
        ))
    })
}

fn unit(
    args: &ProgramArgs,
    value: &ProgramValue,
    layers: &Layers,
    notes: &mut Vec<String>,
) -> Result<ReportedUnit, Error> {
    let asked = DIRECTION.given(args.direction.as_deref(), layers)?;
    let (usual, is_fixed) = match value {
        ProgramValue::Wall => (ReportedUnit::SECONDS, args.unit.is_some()),
        ProgramValue::Work(_) | ProgramValue::Protocol => (ReportedUnit::RATE, false),
        ProgramValue::Regex(_) | ProgramValue::Json(_) | ProgramValue::Last => {
            // A first run may name it.
            let Some(symbol) = args.unit.as_deref() else {
                let better = asked.unwrap_or(Better::Higher);
                return Ok(ReportedUnit { symbol: ReportedUnit::UNNAMED, better });
            };
            let better = asked.or(ReportedUnit::usual(symbol));
            notes.extend(better.is_none().then(|| guessed(symbol)));
            let unit = ReportedUnit::new(symbol, better.unwrap_or(Better::Higher));
            return layers.blame("--unit", unit.map_err(|what| Error::bad_input(format!("--unit: {symbol:?} {what}"))));
        }
    };
    if is_fixed {
        return Err(Error::bad_input(format!(
            "{}: the time of a run is in seconds; take a number that the program prints with --value, or leave the unit out",
            layers.label("--unit")
        )));
    }
    if let Some(asked) = asked.filter(|asked| *asked != usual.better) {
        return Err(Error::bad_input(format!(
            "{}: {} is wrong for the {}: {} is better; leave the flag out",
            layers.label("--direction"),
            asked,
            if usual == ReportedUnit::SECONDS { "time of a run" } else { "rate of operations" },
            usual.better
        )));
    }
    let symbol = args.unit.as_deref().unwrap_or(usual.symbol.as_str());
    let unit =
        ReportedUnit::new(symbol, usual.better).map_err(|what| Error::bad_input(format!("--unit: {symbol:?} {what}")));
    layers.blame("--unit", unit)
}

/// Exit codes of failures; none of them stands for all.
fn codes(name: &str, text: &str) -> Result<Vec<u8>, Error> {
    let code = |word: &str| word.trim().parse().ok().filter(|code| *code > 0);
    let codes: Option<Vec<u8>> = text.split(',').map(code).collect();
    let codes = if text == "all" { Some(Vec::new()) } else { codes };
    codes.ok_or_else(|| {
        Error::bad_input(format!(
            "{name}: {text:?} is no list of exit codes from 1 to 255; example: {name}=1,3, or {name} for all"
        ))
    })
}

fn timeout(name: &str, text: &str) -> Result<u64, Error> {
    match time(name, text, &format!("{name} 30s"))? {
        Duration::ZERO => Err(Error::bad_input(format!("{name}: a run needs some time; example: {name} 30s"))),
        time => Ok(charz_measure::plan::nanos(time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::check_refused;

    fn args(flags: &[(&str, &str)]) -> ProgramArgs {
        let flag = |name: &str| flags.iter().find(|(flag, _)| *flag == name).map(|(_, value)| (*value).to_owned());
        ProgramArgs {
            command: flag("command"),
            value: flag("value"),
            work: flag("work"),
            unit: flag("unit"),
            direction: flag("direction"),
            program_output: flag("program-output"),
            verify: flag("verify"),
            setup: flag("setup"),
            run_timeout: flag("run-timeout"),
            ignore_failure: flag("ignore-failure"),
            follow: flag("follow"),
        }
    }

    fn read(flags: &[(&str, &str)]) -> Result<Option<Program>, Error> {
        let program = program(&args(flags), &Layers::default(), &mut Vec::new())?;
        Ok(program.map(|program| program.program().clone()))
    }

    #[test]
    fn units_follow_from_where_the_number_comes_from() {
        for (flags, symbol, better) in [
            (&[][..], "s", Better::Lower),
            (&[("work", "100")], "op/s", Better::Higher),
            (&[("work", "100"), ("unit", "tok/s")], "tok/s", Better::Higher),
            (&[("value", "last")], ReportedUnit::UNNAMED.as_str(), Better::Higher),
            (&[("value", "last"), ("unit", "ms")], "ms", Better::Lower),
            (&[("value", "last"), ("unit", "ms"), ("direction", "higher")], "ms", Better::Higher),
            (&[("value", "json:a.0"), ("unit", "MB/s")], "MB/s", Better::Higher),
            (&[("value", "last"), ("unit", "ns/op")], "ns/op", Better::Lower),
            (&[("value", "protocol")], "op/s", Better::Higher),
        ] {
            let flags = [flags, &[("command", "x {n}")]].concat();
            let mut notes = Vec::new();
            let program = program(&args(&flags), &Layers::default(), &mut notes).unwrap().unwrap();
            assert!(!notes.iter().any(|note| note.contains("--direction")), "{notes:?}");
            let unit = program.program().unit;
            assert_eq!((unit.symbol.as_str(), unit.better), (symbol, better), "{flags:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_the_flag() {
        for (flag, value) in [
            ("value", "regex:("),
            ("value", "regex:"),
            ("value", "json:"),
            ("value", "sum"),
            ("work", "0"),
            ("work", "-1"),
            ("work", "1e6"),
            ("unit", "s"),
            ("direction", "up"),
            ("direction", "higher"),
            ("verify", "["),
            ("setup", "'x"),
            ("setup", "A=1"),
            ("run-timeout", "0s"),
            ("run-timeout", "5"),
            ("ignore-failure", "0"),
            ("ignore-failure", "1,256"),
            ("ignore-failure", "some"),
            ("follow", "strace"),
        ] {
            check_refused(read(&[("command", "x"), (flag, value)]), &format!("--{flag}"));
        }
        check_refused(read(&[("command", "'x")]), "--command");
        check_refused(read(&[("command", "x"), ("value", "last"), ("work", "5")]), "--work");
        check_refused(read(&[("command", "x {rank} {n}")]), "{rank}");
        check_refused(read(&[("value", "last")]), "--command");
        assert_eq!(read(&[]).unwrap(), None);
    }

    #[test]
    fn a_side_takes_what_it_does_not_say_from_both() {
        let common = args(&[("command", "a"), ("value", "last"), ("unit", "x")]);
        let side = args(&[("command", "b"), ("work", "5")]).or(&common);
        assert_eq!((side.command.as_deref(), side.value, side.work.as_deref()), (Some("b"), None, Some("5")));
        assert_eq!(side.unit.as_deref(), Some("x"));
    }
}
