//! The flags of the parameters, one per line of the table: how they are spelled, and what their values mean.

use charz_data::params::{self, PARAMS, Param, Params};
use charz_kernels::PageKind;
use clap::error::Error as ClapError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::layers::Layers;
use crate::exit::Error;
use charz_measure::plan::{Asked, AskedSizes};

/// The size of a block where a kernel is about memory.
const BLOCK: &str = "256MiB";
/// The same of a sweep in little time: a baseline of whole nodes and the quick check against it have the same configurations.
const QUICK_BLOCK: &str = "128MiB";
/// The value of a flag with which the sweep chooses.
pub(super) const AUTO: &str = "auto";

/// The values of the parameters as typed: of all that say how much is measured, or of all others.
#[derive(Clone, Debug)]
pub(crate) struct Typed<const AMOUNTS: bool>(Vec<(&'static Param, String)>);

/// What is measured: the sides of a comparison may differ in it.
pub(crate) type ParamArgs = Typed<false>;
pub(crate) type AmountArgs = Typed<true>;

impl<const AMOUNTS: bool> Typed<AMOUNTS> {
    fn params() -> impl Iterator<Item = &'static Param> {
        PARAMS.iter().copied().filter(|param| param.is_amount() == AMOUNTS)
    }

    /// With this value in place of `auto`.
    pub(crate) fn or(mut self, wanted: &Param, value: &str) -> Self {
        self.0.iter_mut().filter(|(param, text)| *param == wanted && text == AUTO).for_each(|(_, text)| {
            *text = value.to_owned();
        });
        self
    }

    /// Those with another value than the default.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static Param> {
        self.iter().filter(|(param, text)| *text != default(param)).map(|(param, _)| param)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static Param, &str)> {
        self.0.iter().map(|(param, text)| (*param, text.as_str()))
    }
}

impl<const AMOUNTS: bool> Args for Typed<AMOUNTS> {
    fn augment_args(command: Command) -> Command {
        Self::params().fold(command, |command, param| command.arg(arg(param)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const AMOUNTS: bool> FromArgMatches for Typed<AMOUNTS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let text = |param: &Param| matches.get_one::<String>(param.name).cloned().unwrap_or_default();
        Ok(Typed(Self::params().map(|param| (param, text(param))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn default(param: &Param) -> String {
    if param.auto { AUTO.to_owned() } else { (param.show)(&Params::default()).replace(' ', "") }
}

fn arg(param: &'static Param) -> Arg {
    let value = if param.vary { format!("{},…", param.value) } else { param.value.to_owned() };
    let values = match (param.vary, param.auto) {
        (true, _) => format!(": auto, or a list such as {}", param.example),
        (false, true) => format!(": auto, or a value such as {}", param.example),
        (false, false) => String::new(),
    };
    let help = format!("{}{values}", param.about);
    let long = if param.details.is_empty() { help.clone() } else { format!("{help}\n\n{}", param.details) };
    Arg::new(param.name)
        .long(param.name)
        .value_name(value)
        .default_value(default(param))
        .allow_hyphen_values(true)
        .help(help)
        .long_help(long)
}

/// The parameters with one value, and the lists to vary; a quick sweep has a size of its own, and that of a node has it unless another is
/// asked for.
pub(super) fn read(args: &ParamArgs, [quick, is_node]: [bool; 2], layers: &Layers) -> Result<(Asked, Params), Error> {
    let mut params = Params { pages: PageKind::default(), ..Params::SMALL };
    let mut asked = Asked::default();
    for (param, text) in args.iter() {
        let flag = flag(param);
        let is_size = *param == params::SIZE;
        let text = if quick && is_size { AUTO } else { text };
        asked.fitting_pages |= *param == params::PAGES && text == AUTO;
        if is_size {
            set(param, if quick || is_node { QUICK_BLOCK } else { BLOCK }, &mut params)?;
            asked.sizes = layers.blame(&flag, sizes(text))?;
        }
        if !param.vary {
            layers.blame(&flag, set(param, text, &mut params))?;
        } else if text != AUTO && asked.sizes.is_none() | !is_size {
            let values = layers.blame(&flag, refused(param, param.list(text)))?;
            // A single place of memory is a cell's own: the plan's memory is local.
            if let ([value], true) = (values.as_slice(), *param != params::MEMORY) {
                (param.copy)(&mut params, value);
            }
            if is_size {
                asked.sizes = Some(AskedSizes::List(values.iter().map(|value| value.size_bytes).collect()));
            } else {
                asked.lists.push((param, values));
            }
        }
    }
    Ok((asked, params))
}

/// A parameter of how much is measured; `None` leaves it to the sweep.
pub(super) fn amount<T>(
    args: &AmountArgs,
    wanted: &Param,
    field: fn(Params) -> T,
    layers: &Layers,
) -> Result<Option<T>, Error> {
    let Some((param, text)) = args.iter().find(|(param, text)| *param == wanted && *text != AUTO) else {
        return Ok(None);
    };
    let mut params = Params::SMALL;
    layers.blame(&flag(param), set(param, text, &mut params))?;
    Ok(Some(field(params)))
}

fn flag(param: &Param) -> String {
    format!("--{}", param.name)
}

fn set(param: &Param, text: &str, params: &mut Params) -> Result<(), Error> {
    refused(param, (param.read)(text, params))
}

fn refused<T>(param: &Param, result: Result<T, String>) -> Result<T, Error> {
    let Param { name, example, .. } = param;
    result.map_err(|what| Error::bad_input(format!("--{name}: {what}; example: --{name} {example}")))
}

/// The words that select many sizes; a list cannot contain them.
fn sizes(text: &str) -> Result<Option<AskedSizes>, Error> {
    match text {
        "levels" => Ok(Some(AskedSizes::Levels)),
        "curve" => Ok(Some(AskedSizes::Curve)),
        AUTO => Ok(None),
        _ if text.split(',').any(|word| [AUTO, "levels", "curve"].contains(&word)) => Err(Error::bad_input(format!(
            "--size: {text:?} has a word for several sizes beside others; name it alone, or sizes only"
        ))),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::sweep::preset;
    use crate::args::tests::check_refused;
    use charz_data::params::{CHAINS, MEMORY, PAGES, SIZE, STRIDE};

    fn of(size: &str, pages: &str, stride: &str) -> Result<(Asked, Params), Error> {
        typed(&[(&SIZE, size), (&PAGES, pages), (&STRIDE, stride)])
    }

    fn typed(values: &[(&Param, &str)]) -> Result<(Asked, Params), Error> {
        let flags: Vec<_> = values.iter().map(|(param, text)| (param.name, *text)).collect();
        read(&preset(&flags).unwrap().how.params, [false; 2], &Layers::default())
    }

    fn shown(asked: &Asked, param: &Param) -> Vec<String> {
        asked.list(param).unwrap().iter().map(param.show).collect()
    }

    #[test]
    fn one_value_is_the_plans_and_several_are_varied() {
        let (asked, params) = of("auto", "auto", "auto").unwrap();
        assert_eq!((params.size_bytes, params.pages), (256 << 20, PageKind::Transparent));
        assert_eq!(asked, Asked { fitting_pages: true, ..Asked::default() });
        let (asked, params) = of("1MiB", "4k,2m", "128").unwrap();
        assert!(!asked.fitting_pages);
        assert_eq!(asked.sizes, Some(AskedSizes::List(vec![1 << 20])));
        assert_eq!(shown(&asked, &PAGES), ["4k", "2m"]);
        assert_eq!((params.size_bytes, params.pages, params.stride_bytes), (1 << 20, PageKind::Transparent, 128));
        let (asked, params) = of("curve", "4k", "64,4096").unwrap();
        assert_eq!(asked.sizes, Some(AskedSizes::Curve));
        assert_eq!(shown(&asked, &STRIDE), ["64", "4096"]);
        assert_eq!((params.size_bytes, params.pages), (256 << 20, PageKind::Small));
        assert_eq!(shown(&typed(&[(&CHAINS, "1,16")]).unwrap().0, &CHAINS), ["1", "16"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        check_refused(of("1MiB,1024KiB", "auto", "auto"), "twice");
        check_refused(of("", "auto", "auto"), "--size");
        check_refused(of("level", "auto", "auto"), "--size");
        check_refused(of("levels,1MiB", "auto", "auto"), "alone");
        check_refused(of("auto", "4k,8k", "auto"), "8k");
        check_refused(of("auto", "auto", "100"), "128");
        check_refused(of("auto", "auto", "64,0"), "--stride");
        let many: Vec<String> = (1..=300).map(|n| (64 * n).to_string()).collect();
        check_refused(of("auto", "auto", &many.join(",")), "256");
        let places = |memory: &str| typed(&[(&MEMORY, memory)]);
        check_refused(places("local,far"), "\"far\"");
        check_refused(places("node:0,node:0"), "twice");
        check_refused(places("node:x"), "--memory");
        assert_eq!(shown(&places("interleaved,node:3").unwrap().0, &MEMORY), ["interleaved", "node:3"]);
    }

    #[test]
    fn every_value_of_a_parameter_reaches_the_plan() {
        for param in PARAMS {
            let mut expected = Params { pages: PageKind::default(), ..Params::SMALL };
            set(&SIZE, BLOCK, &mut expected).unwrap();
            if param.is_amount() {
                let args = preset(&[(param.name, param.example)]).unwrap().what.amounts;
                let found = amount(&args, param, |params| params, &Layers::default()).unwrap().unwrap();
                assert!(!param.same(&found, &Params::SMALL), "{}", param.name);
            } else if *param != &MEMORY {
                (param.read)(param.example, &mut expected).unwrap();
                assert_eq!(typed(&[(param, param.example)]).unwrap().1, expected, "{}", param.name);
            }
        }
    }
}
