//! `browser`: the page that charz makes of a report, opened in a real browser without a network.
//!
//! The page as it is must load without a word on the console and without asking for anything. A copy with a script that acts as a
//! reader does (keys, clicks, the slider) must say that all is well. Pictures of it by day, by night, on a phone and on paper are for
//! manual inspection.

mod chromium;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chromium::Chromium;
use xtask::{Failure, Outcome};
use xtask::{process, setup, workspace};

/// A report that travels with the checkout.
const REPORT: &str = "tests/golden/reports/waits.json";

/// Acts as a reader, and says in an attribute of the page's root what it found.
const READER: &str = include_str!("browser/reader.js");

/// Opens the page of the reports, or of one that travels with the checkout.
pub fn start(arguments: &[String]) -> Outcome {
    if let Some(flag) = arguments.iter().find(|argument| argument.starts_with('-')) {
        return Err(Failure::usage(format!("`browser` takes reports and no flags, but got {flag:?}")));
    }
    let Some(chromium) = Chromium::find() else {
        return Err(Failure::environment("no chromium is installed, so no browser opens the page; install chromium"));
    };
    setup::quietly()?;
    let folder = workspace::target().join("browser");
    fs::create_dir_all(&folder).map_err(|error| Failure::io(format!("make {folder:?}"), &error))?;
    let page = folder.join("page.html");
    render(arguments, &page)?;
    untouched(&chromium, &page, &folder)?;
    used(&chromium, &page, &folder)?;
    pictures(&chromium, &page, &folder)
}

fn render(reports: &[String], page: &Path) -> Outcome {
    process::run(workspace::cargo().args(["build", "--quiet", "--package", "charz"]))?;
    // Paths are relative to the caller's folder, not to the one that charz is built in.
    let reports = if reports.is_empty() {
        vec![workspace::root().join(REPORT)]
    } else {
        reports.iter().map(PathBuf::from).collect()
    };
    let mut charz = Command::new(workspace::built("debug").join("charz"));
    process::run(charz.arg("render").args(reports).args(["--format", "html", "--output"]).arg(page))?;
    let bytes = fs::metadata(page).map_err(|error| Failure::io(format!("look at {page:?}"), &error))?.len();
    println!("{}: {} kB", page.display(), bytes / 1000);
    Ok(())
}

/// The page as it is says nothing and asks for nothing.
fn untouched(chromium: &Chromium, page: &Path, folder: &Path) -> Outcome {
    let log = folder.join("requests.json");
    let run = chromium.open(page, &["--dump-dom".into(), format!("--log-net-log={}", log.display())])?;
    let mut wrong = run.complaints;
    let text = fs::read_to_string(&log).map_err(|error| Failure::io(format!("read {log:?}"), &error))?;
    wrong.extend(requests(&text).into_iter().map(|address| format!("the page asked for {address}")));
    if !run.out.contains("class=\"scripted\"") {
        wrong.push("the page's script did not run".to_owned());
    }
    report("opened without a network", wrong)
}

/// Checks how the page works for a reader. Its policy allows no script but its own, so the copy has no policy.
fn used(chromium: &Chromium, page: &Path, folder: &Path) -> Outcome {
    let text = fs::read_to_string(page).map_err(|error| Failure::io(format!("read {page:?}"), &error))?;
    let copy = folder.join("reader.html");
    let with = text.replacen("http-equiv=\"Content-Security-Policy\"", "name=\"policy\"", 1).replacen(
        "</body>",
        &format!("<script>{READER}</script></body>"),
        1,
    );
    fs::write(&copy, with).map_err(|error| Failure::io(format!("write {copy:?}"), &error))?;
    let run = chromium.open(&copy, &["--dump-dom".into(), "--virtual-time-budget=20000".into()])?;
    let mut wrong = run.complaints;
    match run.out.split("data-reader=\"").nth(1).and_then(|rest| rest.split('"').next()) {
        Some("well") => {}
        Some(words) => wrong.push(words.to_owned()),
        None => wrong.push("the reader did not come to an end".to_owned()),
    }
    report("used by keys, clicks and the slider", wrong)
}

/// Pictures for manual inspection.
fn pictures(chromium: &Chromium, page: &Path, folder: &Path) -> Outcome {
    let looks: [(&str, &[&str]); 3] = [
        ("light", &["--window-size=1360,2400"]),
        ("dark", &["--window-size=1360,2400", "--blink-settings=preferredColorScheme=0"]),
        // Headless windows are no narrower than 500 pixels; two device pixels each make it a phone's.
        ("phone", &["--window-size=500,2400", "--force-device-scale-factor=2"]),
    ];
    for (name, flags) in looks {
        let file = folder.join(format!("{name}.png"));
        let flags = flags.iter().map(|flag| (*flag).to_owned()).chain([format!("--screenshot={}", file.display())]);
        let run = chromium.open(page, &flags.collect::<Vec<_>>())?;
        report(&format!("{}", file.display()), run.complaints)?;
    }
    let paper = folder.join("paper.pdf");
    let run = chromium.open(page, &[format!("--print-to-pdf={}", paper.display()), "--no-pdf-header-footer".into()])?;
    report(&format!("{}", paper.display()), run.complaints)
}

fn report(what: &str, wrong: Vec<String>) -> Outcome {
    if wrong.is_empty() {
        println!("{what}: well");
        return Ok(());
    }
    Err(Failure::found(format!("{what}:\n  {}", wrong.join("\n  "))))
}

/// Addresses that were requested from a server, each once. Parts of the file itself (`file:`, `data:`) do not count, and neither
/// do the browser's own requests.
fn requests(log: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for rest in log.split("\"url\":\"").skip(1) {
        let address = rest.split('"').next().unwrap_or_default();
        let is_remote = ["http:", "https:", "ws:", "wss:", "ftp:"].iter().any(|scheme| address.starts_with(scheme));
        if is_remote && !OWN.iter().any(|host| address.contains(host)) && !found.iter().any(|other| other == address) {
            found.push(address.to_owned());
        }
    }
    found
}

/// Hosts that a browser contacts by itself with any page: its maker's services and extensions.
const OWN: [&str; 3] = [".google.com/", ".googleapis.com/", ".gvt1.com/"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_the_file_counts() {
        let log = r#"{"params":{"url":"file:///page.html"}},{"params":{"url":"https://example.org/a.js"}},
            {"params":{"url":"data:image/png;base64,AA"}},{"params":{"url":"https://example.org/a.js"}},
            {"params":{"url":"https://update.googleapis.com/service"}}"#;
        assert_eq!(requests(log), ["https://example.org/a.js"]);
    }
}
