//! Colours by what they are for.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    /// Text and what is as strong.
    Ink,
    /// Less prominent text: units, notes.
    Soft,
    Grid,
    Paper,
    /// The colour of a series, by its place from 0.
    Series(usize),
    /// The ground of a part of a machine, by how deep it lies, from 0.
    MachineDiagram(usize),
    /// A colour that represents a number: the same by day and by night.
    Fixed([u8; 3]),
}

/// Eight colours that people with colour blindness distinguish: Okabe and Ito, "Color Universal Design" (2008), with yellow, which
/// is too light for a line on white, made darker.
const SERIES: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#a89a00"];

/// Grounds that lie upon each other, from the outside in.
const NEST: [&str; 5] = ["#eef2f6", "#e2e9f1", "#d5e0ec", "#c8d6e6", "#ffffff"];

impl Paint {
    pub(super) const SERIES: usize = SERIES.len();

    /// As the value of an attribute: a variable of the page around with a fallback, or the fallback alone.
    pub(super) fn written(self, is_inline: bool) -> String {
        let (name, colour) = match self {
            Paint::Ink => ("ink".to_owned(), "#222222"),
            Paint::Soft => ("soft".to_owned(), "#5c6166"),
            Paint::Grid => ("grid".to_owned(), "#e0e3e6"),
            Paint::Paper => ("paper".to_owned(), "#ffffff"),
            Paint::Series(at) => (format!("s{}", at % SERIES.len() + 1), SERIES[at % SERIES.len()]),
            Paint::MachineDiagram(at) => {
                let at = at.min(NEST.len() - 1);
                (format!("nest{at}"), NEST[at])
            }
            Paint::Fixed([red, green, blue]) => return format!("#{red:02x}{green:02x}{blue:02x}"),
        };
        if is_inline { format!("var(--{name},{colour})") } else { colour.to_owned() }
    }
}

/// A colour for a fraction from 0 to 1: from dark blue over grey to yellow. Its lightness grows evenly, so it is readable in grey,
/// and it needs no red against green. Six stations of cividis (Nuñez, Anderton, Renslow, PLOS ONE 13(7), 2018).
pub(super) fn heat(fraction: f64) -> [u8; 3] {
    const STATIONS: [[f64; 3]; 6] = [
        [0.0, 34.0, 78.0],
        [53.0, 69.0, 108.0],
        [102.0, 105.0, 112.0],
        [148.0, 142.0, 119.0],
        [200.0, 184.0, 102.0],
        [254.0, 232.0, 56.0],
    ];
    let place = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) } * (STATIONS.len() - 1) as f64;
    let below = (place as usize).min(STATIONS.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|at| (STATIONS[below][at] * (1.0 - part) + STATIONS[below + 1][at] * part).round() as u8)
}

/// Whether dark letters can be read on a colour; else light ones can.
pub(super) fn is_light(colour: [u8; 3]) -> bool {
    // Where black and white letters have the same contrast.
    luminance(colour) > 0.179
}

/// The relative luminance of a colour from 0 to 1, as WCAG 2.2 defines it.
fn luminance([red, green, blue]: [u8; 3]) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_change_colours_but_need_not() {
        assert_eq!(Paint::Series(8).written(true), "var(--s1,#0072b2)");
        assert_eq!(Paint::Series(1).written(false), "#d55e00");
        assert_eq!(Paint::Fixed([0, 255, 16]).written(true), "#00ff10");
    }

    /// By day and by night; WCAG 2.2 asks for 4.5.
    #[test]
    fn letters_can_be_read_on_every_ground_of_a_page() {
        let style = include_str!("../html/page.css");
        let colour = |name: &str, night: usize| {
            let begin = format!("--{name}: light-dark(");
            let line = style.lines().find(|line| line.trim_start().starts_with(&begin)).unwrap();
            let hex = line.split('#').nth(1 + night).unwrap();
            [0, 2, 4].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        };
        let grounds = ["paper", "raised", "doubt-ground", "nest0", "nest1", "nest2", "nest3", "nest4"];
        let texts = ["ink", "soft", "link", "doubt", "bad"];
        for (night, text, ground) in [0, 1]
            .into_iter()
            .flat_map(|night| texts.iter().flat_map(move |text| grounds.map(|ground| (night, text, ground))))
        {
            let [one, other] = [text, ground].map(|name| luminance(colour(name, night)) + 0.05);
            let contrast = one.max(other) / one.min(other);
            assert!(contrast >= 4.5, "{text} on {ground}: {contrast}");
        }
    }

    #[test]
    fn heat_grows_lighter_all_the_way() {
        let light = |fraction| heat(fraction).map(f64::from).iter().zip([0.3, 0.59, 0.11]).map(|(a, b)| a * b).sum();
        let all: Vec<f64> = (0..=100).map(|at| light(f64::from(at) / 100.0)).collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
        assert_eq!([heat(-1.0), heat(f64::NAN), heat(2.0)], [heat(0.0), heat(0.0), heat(1.0)]);
        assert!(is_light(heat(1.0)) && !is_light(heat(0.0)));
    }
}
