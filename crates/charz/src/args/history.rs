//! What `charz history` is asked for, and where `charz compare` takes its base from.

use std::path::PathBuf;

use super::convert::choice;
use super::quantities::count;
use super::spelling::{HistoryArgs, HistoryTask, PlotArgs, ShowArgs, ShowingArgs};
use crate::command::compare::Base;
use crate::command::history::{Add, How, Options, Plot, Show, Shown, Task, Which};
use crate::command::render::Showing;
use crate::exit::Error;
use crate::history::Wanted;
use crate::render::history::{LISTS, PLOTS};
use crate::render::look::Colour;
use crate::render::view::{Draw, View, views};

/// The format in which a report comes as it was added.
const AS_ADDED: (&str, &str) =
    ("json", "the report as it was added, to the byte, but for marks that could steer a terminal");

/// How a report out of a history can be shown, each with what it is for.
pub(super) fn shows() -> impl Iterator<Item = (&'static str, &'static str)> {
    views().into_iter().map(|view| if view.name == AS_ADDED.0 { AS_ADDED } else { (view.name, view.about) })
}

/// How series can be shown.
pub(super) fn plots() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLOTS.iter().map(|format| (format.name, format.about)).chain(pages().map(|view| (view.name, view.about)))
}

/// What shows a page, or a figure of one.
fn pages() -> impl Iterator<Item = View> {
    views().into_iter().filter(|view| !matches!(view.draw, Draw::Report(_)))
}

pub(super) fn history(args: HistoryArgs) -> Result<Options, Error> {
    let (file, task) = match args.task {
        HistoryTask::Add(args) => {
            (args.db.db, Task::Add(Add { reports: args.reports, label: label(args.label)?, any_host: args.any_host }))
        }
        HistoryTask::List(args) => {
            (args.db.db, Task::List(choice("--format", &args.format, LISTS.iter().map(|f| (f.name, f)))?))
        }
        HistoryTask::Show(args) => (args.db.db.clone(), Task::Show(show(args)?)),
        HistoryTask::Plot(args) => (args.db.db.clone(), Task::Plot(plot(*args)?)),
    };
    Ok(Options { file, task })
}

/// The longest label, in characters: it stands in a column.
const LONGEST_LABEL: usize = 200;

fn label(label: Option<String>) -> Result<Option<String>, Error> {
    match label {
        Some(label) if label.trim().is_empty() => {
            Err(Error::bad_input("--label: nothing is no label; leave it out, or write such as --label \"new BIOS\""))
        }
        Some(label) if label.chars().count() > LONGEST_LABEL => {
            Err(Error::bad_input(format!("--label: it has more than {LONGEST_LABEL} characters; write fewer")))
        }
        label => Ok(label),
    }
}

fn show(args: ShowArgs) -> Result<Show, Error> {
    let which = match args.report.as_str() {
        "newest" | "latest" => Which::Newest,
        text => Which::Number(number("charz history show", text)?),
    };
    let view = choice("--format", &args.format, views().into_iter().map(|view| (view.name, view)))?;
    let as_added = view.name == AS_ADDED.0 && args.how.output.is_none() && args.how.figure.is_none();
    let how = if as_added { How::Text } else { How::Rendered(showing(view, args.how)?) };
    Ok(Show { which, how })
}

fn plot(args: PlotArgs) -> Result<Plot, Error> {
    let workers = |text: &String| Ok(count("--threads", text, usize::MAX)? as u64);
    let own = PLOTS.iter().map(|format| (format.name, Shown::Own(format)));
    let drawn = |view: View| {
        let how = ShowingArgs {
            color: args.how.color.clone(),
            output: args.how.output.clone(),
            figure: args.how.figure.clone(),
        };
        showing(view, how).map(|showing| (view.name, Shown::Page(showing)))
    };
    let drawn: Vec<_> = pages().map(drawn).collect::<Result<_, _>>()?;
    let shown = choice("--format", &args.format, own.chain(drawn))?;
    if matches!(shown, Shown::Own(_)) && (args.how.output.is_some() || args.how.figure.is_some()) {
        return Err(Error::bad_input(format!(
            "--output and --figure are for formats that show figures; {} goes to standard output",
            args.format
        )));
    }
    Ok(Plot {
        kernels: args.kernel,
        mappings: args.mapping,
        workers: args.threads.iter().map(workers).collect::<Result<_, Error>>()?,
        parameters: args.point,
        changed: args.changed,
        shown,
    })
}

fn showing(view: View, args: ShowingArgs) -> Result<Showing, Error> {
    Ok(Showing { view, figure: args.figure, output: args.output, colour: choice("--color", &args.color, Colour::ALL)? })
}

fn number(flag: &str, text: &str) -> Result<i64, Error> {
    let number =
        text.parse::<i64>().ok().filter(|number| *number > 0 && text.bytes().all(|byte| byte.is_ascii_digit()));
    number.ok_or_else(|| {
        Error::bad_input(format!(
            "{flag}: {text:?} is neither newest nor a report's number; charz history list has them"
        ))
    })
}

/// The base of a comparison and its other side, by what was named.
pub(super) fn sides(
    base: PathBuf,
    new: Option<PathBuf>,
    baseline: Option<&str>,
    file: Option<PathBuf>,
) -> Result<(Base, PathBuf), Error> {
    match (baseline, new) {
        (None, Some(new)) => Ok((Base::File(base), new)),
        (Some(text), None) => {
            let wanted = match text {
                "newest" | "latest" => Wanted::Newest,
                "before-change" => Wanted::BeforeChange,
                text => Wanted::Report(number("--baseline", text).map_err(|_| {
                    Error::bad_input(format!(
                        "--baseline: {text:?} is neither newest, before-change, nor a report's number; charz history list has them"
                    ))
                })?),
            };
            // The only report that was named.
            Ok((Base::History { file, wanted }, base))
        }
        (Some(_), Some(_)) => Err(Error::bad_input(
            "--baseline takes the base out of the history; name the new report only, or leave it out",
        )),
        (None, None) => {
            Err(Error::bad_input("the report that is compared is missing; name it, or take the base by --baseline"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_a_file_or_out_of_the_history() {
        let sides = |new: Option<&str>, baseline| sides("one".into(), new.map(PathBuf::from), baseline, None);
        assert!(
            matches!(sides(Some("two"), None), Ok((Base::File(base), new)) if base.as_os_str() == "one" && new.as_os_str() == "two")
        );
        for (text, expected) in
            [("newest", Wanted::Newest), ("before-change", Wanted::BeforeChange), ("12", Wanted::Report(12))]
        {
            assert!(
                matches!(sides(None, Some(text)), Ok((Base::History { wanted, .. }, new)) if wanted == expected && new.as_os_str() == "one")
            );
        }
        for (new, baseline, word) in [
            (Some("two"), Some("newest"), "name the new report only"),
            (None, Some("-3"), "neither"),
            (None, None, "missing"),
        ] {
            let Err(error) = sides(new, baseline) else { panic!("{new:?} {baseline:?}") };
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn labels_are_short_and_not_empty() {
        assert_eq!(label(Some("new BIOS".into())).unwrap().as_deref(), Some("new BIOS"));
        assert!(label(Some(" ".into())).is_err() && label(Some("é".repeat(201))).is_err());
    }
}
