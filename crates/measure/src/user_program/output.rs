//! What a program prints, read as it arrives: a program may print more than there is memory.

use std::mem;

use charz_data::escape::one_line;
use charz_data::{NO_MATCH, ProgramValue, quote};
use charz_launch::Stream;

use crate::harness::MOST_REPETITIONS;

use super::printed::{self, Printed};
use super::value::{self, Readers};

/// What follows where the first of several groups is no number.
const OTHER_GROUPS: &str = "; the first group is the number: write (?:…) for the groups before it";

/// What a program answers: when it started and ended by `CLOCK_MONOTONIC`, in nanoseconds, and how many operations it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) work: u64,
}

/// A line of the program's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Ready,
    Answer(Answer),
    /// It begins like an answer and is none: why, as a clause.
    Wrong(String),
    /// Anything else is the program's own affair.
    Other,
}

impl Said {
    pub(super) fn of(line: &[u8]) -> Self {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line == "ready" {
            return Said::Ready;
        }
        if !line.starts_with(|first: char| first.is_ascii_digit()) {
            return Said::Other;
        }
        let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some([start_ns, end_ns, _]) if end_ns <= start_ns => {
                Said::Wrong(format!("its answer {} does not end after its start", quote(line)))
            }
            Some([_, _, 0]) => Said::Wrong(format!("its answer {} counts no work", quote(line))),
            Some(&[start_ns, end_ns, work]) => Said::Answer(Answer { start_ns, end_ns, work }),
            _ => Said::Wrong(format!("its answer {} is not START_NS END_NS WORK, three whole numbers", quote(line))),
        }
    }
}

/// A line of more than twice this is looked at in parts.
const LONGEST_LINE: usize = 1 << 16;
/// So much of a part is in the next one too: what an expression matches there is whole in one of them.
const OVERLAP: usize = 1 << 13;
/// The longest number that a part may begin in.
const LONGEST_NUMBER: usize = 64;
/// The largest JSON document.
const LARGEST_JSON: usize = 16 << 20;
/// So much of an output of which no line is read is kept for messages.
const TAIL: usize = 1 << 13;
/// The most characters of a line in a message.
const SHOWN: usize = 200;

fn is_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// What lines are looked at for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sought {
    matched: bool,
    numbered: bool,
    verified: bool,
    last: bool,
}

/// What is kept of the output of one run.
pub(super) struct Output<'a> {
    readers: &'a Readers,
    lines: [Vec<u8>; 2],
    /// The beginning of the last line with text of either stream.
    last: [Vec<u8>; 2],
    /// What the expression found last.
    matched: Option<Result<Printed, String>>,
    /// The last line of standard output that may have a number.
    numbered: Vec<u8>,
    verified: bool,
    json: Vec<u8>,
    ready: bool,
    answers: Vec<Answer>,
    wrong: Option<String>,
}

impl<'a> Output<'a> {
    pub(super) fn new(readers: &'a Readers) -> Self {
        Output {
            readers,
            lines: Default::default(),
            last: Default::default(),
            matched: None,
            numbered: Vec::new(),
            verified: readers.verify.is_none(),
            json: Vec::new(),
            ready: false,
            answers: Vec::new(),
            wrong: None,
        }
    }

    /// Takes what has arrived. A program that waits for its reader takes longer, so nothing is done with a line that no number comes from, and
    /// only the end of the output is kept for messages.
    pub(super) fn push(&mut self, from: Stream, bytes: &[u8]) {
        if self.readers.need_no_line() {
            let tail = &mut self.lines[from as usize];
            if tail.len() + bytes.len() > LONGEST_LINE {
                let kept = TAIL.saturating_sub(bytes.len());
                tail.drain(..tail.len().saturating_sub(kept));
            }
            tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
            return;
        }
        if from == Stream::Out && matches!(self.readers.value, ProgramValue::Json(_)) {
            let room = (LARGEST_JSON + 1).saturating_sub(self.json.len());
            self.json.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        bytes.chunks(LONGEST_LINE).for_each(|bytes| self.push_lines(from, bytes));
    }

    /// A carriage return ends a line too: a progress bar prints over what it printed before.
    fn push_lines(&mut self, from: Stream, bytes: &[u8]) {
        let Some(last) = bytes.iter().rposition(is_end) else { return self.push_piece(from, bytes) };
        let (whole, rest) = bytes.split_at(last + 1);
        // The line that has begun ends first.
        let begun = if self.lines[from as usize].is_empty() { None } else { whole.iter().position(is_end) };
        let (first, lines) = whole.split_at(begun.map_or(0, |end| end + 1));
        self.push_piece(from, first);
        self.look_at_lines(from, lines);
        self.push_piece(from, rest);
    }

    fn push_piece(&mut self, from: Stream, piece: &[u8]) {
        let line = &mut self.lines[from as usize];
        line.extend_from_slice(piece);
        if piece.last().is_some_and(is_end) {
            self.end_line(from);
        } else if line.len() > 2 * LONGEST_LINE {
            self.cut_line(from);
        }
    }

    fn cut_line(&mut self, from: Stream) {
        let mut line = mem::take(&mut self.lines[from as usize]);
        self.look_at(from, &line);
        let cut = line.len() - OVERLAP;
        // The rest of a number is none, and a line does not begin here.
        let is_of_number = |byte: &&u8| byte.is_ascii_alphanumeric() || b".,+-".contains(*byte);
        let rest = line[cut..].iter().take(LONGEST_NUMBER).take_while(is_of_number).count();
        line.splice(..cut + rest, *b"... ");
        self.lines[from as usize] = line;
    }

    fn end_line(&mut self, from: Stream) {
        let mut line = mem::take(&mut self.lines[from as usize]);
        let text = line.strip_suffix(b"\n").or_else(|| line.strip_suffix(b"\r"));
        self.look_at(from, text.unwrap_or(&line));
        line.clear();
        // Its room serves the next line.
        self.lines[from as usize] = line;
    }

    /// Looks at whole lines from the last one back, up to that which decides. The program may wait for its reader: most lines are looked at by a
    /// search in all of them, or not at all.
    fn look_at_lines(&mut self, from: Stream, lines: &[u8]) {
        let each = || lines.split(is_end).filter(|line| !line.is_empty());
        // Each of its lines counts, in their order.
        if self.readers.value == ProgramValue::Protocol {
            return each().for_each(|line| self.look_at(from, line));
        }
        let (mut sought, mut rest) = (self.sought(from), each().rev());
        // The last one decides as often as not.
        rest.next().into_iter().for_each(|line| self.seek(from, line, &mut sought));
        if (sought.matched || sought.verified) && value::is_plain(lines) {
            sought.matched &= Readers::may_match(self.readers.regex.as_ref(), lines);
            sought.verified &= Readers::may_match(self.readers.verify.as_ref(), lines);
        }
        while sought != Sought::default()
            && let Some(line) = rest.next()
        {
            self.seek(from, line, &mut sought);
        }
    }

    fn look_at(&mut self, from: Stream, line: &[u8]) {
        let mut sought = self.sought(from);
        self.seek(from, line, &mut sought);
    }

    /// What the next lines of a stream may decide.
    fn sought(&self, from: Stream) -> Sought {
        Sought {
            matched: self.readers.regex.is_some(),
            numbered: self.readers.value == ProgramValue::Last && from == Stream::Out,
            verified: !self.verified,
            last: true,
        }
    }

    /// Looks for these in a line; what is found is sought no more.
    fn seek(&mut self, from: Stream, line: &[u8], sought: &mut Sought) {
        let line = &*value::without_escapes(line);
        if line.trim_ascii().is_empty() {
            return;
        }
        if let Some(expression) = self.readers.regex.as_ref().filter(|_| sought.matched)
            && let Some(found) = expression.line.last(line)
        {
            let whole = found.group(0);
            let places = found.first_group().or(whole.clone()).zip(whole);
            let taken = places.map(|(at, whole)| printed::taken_of_bytes(line, at, whole, self.readers.locale));
            let explained = |why| if found.has_groups() { format!("{why}{OTHER_GROUPS}") } else { why };
            self.matched = taken.map(|taken| taken.map_err(explained));
            sought.matched = false;
        }
        if sought.numbered && printed::may_have_a_number(line) {
            self.numbered.clear();
            self.numbered.extend_from_slice(line);
            sought.numbered = false;
        }
        if self.readers.value == ProgramValue::Protocol && from == Stream::Out {
            self.hear(Said::of(line));
        }
        if sought.verified && self.readers.verify.as_ref().is_some_and(|verify| verify.line.is_match(line)) {
            (self.verified, sought.verified) = (true, false);
        }
        if sought.last {
            let last = &mut self.last[from as usize];
            last.clear();
            last.extend_from_slice(&line[..line.len().min(4 * SHOWN)]);
            sought.last = false;
        }
    }

    fn hear(&mut self, said: Said) {
        match said {
            Said::Ready => self.ready = true,
            // No more are asked for.
            Said::Answer(answer) if (self.answers.len() as u64) < MOST_REPETITIONS => self.answers.push(answer),
            Said::Wrong(why) => self.wrong = Some(why),
            Said::Answer(_) | Said::Other => {}
        }
    }

    /// Whether the program has said by the line protocol that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        self.ready
    }

    pub(super) fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// How it broke the line protocol, as a clause.
    pub(super) fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// The last lines, which need not end.
    pub(super) fn end(&mut self) {
        if self.readers.need_no_line() {
            for from in [Stream::Out, Stream::Err] {
                let tail = mem::take(&mut self.lines[from as usize]);
                self.push_lines(from, &tail[tail.len().saturating_sub(TAIL)..]);
            }
        }
        [Stream::Out, Stream::Err].into_iter().for_each(|from| self.end_line(from));
    }

    /// The number of a run that took so long, by its [end](Output::end).
    ///
    /// # Errors
    /// Why there is none: a sentence.
    pub(super) fn value(&self, seconds: f64) -> Result<Printed, String> {
        let none = |what: String| match self.said() {
            Some(line) => format!("{what}; its last line is {line}"),
            None => format!("{what}; it printed nothing"),
        };
        let timed = |value: f64| value::measurable(value).map(|value| Printed { value, unit: None });
        let printed = match &self.readers.value {
            ProgramValue::Wall => return timed(seconds),
            ProgramValue::Work(operations) => return timed(*operations as f64 / seconds),
            ProgramValue::Regex(regex) => {
                self.matched.clone().unwrap_or_else(|| Err(none(format!("{NO_MATCH} {}", quote(regex)))))?
            }
            ProgramValue::Last => {
                let line = String::from_utf8_lossy(&self.numbered);
                let none = || Err(none("the program printed no value: no line of its output has a number".into()));
                printed::last(&line, self.readers.locale).unwrap_or_else(none)?
            }
            ProgramValue::Json(_) if self.json.len() > LARGEST_JSON => {
                return Err(format!(
                    "the program printed more than the {} MiB of JSON that are read",
                    LARGEST_JSON >> 20
                ));
            }
            ProgramValue::Json(_) if self.json.trim_ascii().is_empty() => {
                return Err(none("the program printed no JSON".into()));
            }
            ProgramValue::Json(path) => value::json_at(&self.json, path, self.readers.locale)?,
            ProgramValue::Protocol => return Err("the program answers by the line protocol".into()),
        };
        let value = value::measurable(value::in_unit(&printed, self.readers.unit)?)?;
        Ok(Printed { value, ..printed })
    }

    /// Whether `--verify` was found; what was not, as a clause.
    pub(super) fn verified(&self) -> Result<(), String> {
        let expression = self.readers.verify.as_ref().filter(|_| !self.verified);
        expression.map_or(Ok(()), |verify| {
            let said = self.said().map(|line| format!("; its last line is {line}")).unwrap_or_default();
            Err(format!("no line of its output matches --verify {}{said}", quote(verify.line.as_str())))
        })
    }

    /// The last line of standard error, else of standard output, quoted.
    pub(super) fn said(&self) -> Option<String> {
        let [out, err] = &self.last;
        let line = [err, out].into_iter().find(|line| !line.is_empty())?;
        let line: String = one_line(String::from_utf8_lossy(line).trim()).chars().take(SHOWN).collect();
        Some(format!("{line:?}"))
    }
}

#[cfg(test)]
mod tests {
    use charz_data::{Better, Program, ReportedUnit};
    use proptest::prelude::*;

    use super::*;

    fn readers(value: ProgramValue, verify: Option<&str>) -> Readers {
        let unit = ReportedUnit::new("x", Better::Higher).unwrap();
        let verify = verify.map(str::to_owned);
        Readers::of(&Program { verify, ..Program::new("x", value, unit) }, 8).unwrap()
    }

    /// The value of an output that arrives in these pieces.
    fn value(value: ProgramValue, pieces: &[(Stream, &[u8])]) -> Result<f64, String> {
        let readers = readers(value, None);
        let mut output = Output::new(&readers);
        pieces.iter().for_each(|(from, bytes)| output.push(*from, bytes));
        output.end();
        output.value(2.0).map(|printed| printed.value)
    }

    fn rate() -> ProgramValue {
        ProgramValue::Regex(r"rate: (\S+)".into())
    }

    #[test]
    fn the_last_match_of_either_stream_counts() {
        let found = value(rate(), &[(Stream::Out, b"rate: 1\nrate: 2 rate: 3\n"), (Stream::Err, b"rate: 4")]);
        assert_eq!(found, Ok(4.0));
        assert_eq!(
            value(ProgramValue::Regex("[0-9]+".into()), &[(Stream::Out, b"a 17 b")]),
            Ok(17.0),
            "without a group"
        );
    }

    #[test]
    fn other_values() {
        assert_eq!(value(ProgramValue::Wall, &[]), Ok(2.0));
        assert_eq!(value(ProgramValue::Work(10), &[]), Ok(5.0));
        assert_eq!(value(ProgramValue::Last, &[(Stream::Out, b"1 2\n\nend\n"), (Stream::Err, b"9\n")]), Ok(2.0));
        assert_eq!(
            value(ProgramValue::Json("a".into()), &[(Stream::Err, b"x"), (Stream::Out, b"{\"a\":\n3}")]),
            Ok(3.0)
        );
    }

    #[test]
    fn what_is_missing_is_named_with_what_was_printed() {
        for (read, printed, words) in [
            (rate(), &b"hello\n"[..], ["no line matches", "hello"]),
            (rate(), b"", ["no line matches", "nothing"]),
            (rate(), b"rate: NaN\n", ["NaN", "not a number"]),
            (rate(), b"rate: -inf\n", ["inf", "infinite"]),
            (ProgramValue::Last, b"warm-up 5\nrate nan\n", ["NaN", "not a number"]),
            (ProgramValue::Last, b"none\n", ["no line", "none"]),
            (ProgramValue::Json("a".into()), b" \n", ["no JSON", "nothing"]),
        ] {
            let why = value(read, &[(Stream::Out, printed)]).unwrap_err();
            assert!(words.iter().all(|word| why.contains(word)) && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn an_expression_to_verify_is_looked_for_in_every_line() {
        let readers = readers(ProgramValue::Wall, Some("^ok on {threads}$"));
        let mut output = Output::new(&readers);
        output.push(Stream::Err, b"not ok\n");
        let why = output.verified().unwrap_err();
        assert!(why.contains("^ok on 8$") && why.contains("not ok"), "{why}");
        output.push(Stream::Out, b"ok on 8\r\nmore\n");
        assert_eq!(output.verified(), Ok(()));
    }

    #[test]
    fn of_an_output_that_gives_no_number_the_end_is_kept() {
        let readers = readers(ProgramValue::Wall, None);
        let mut output = Output::new(&readers);
        for piece in 0..1000 {
            output.push(Stream::Out, "x".repeat(piece * 997 % (3 * LONGEST_LINE)).as_bytes());
            assert!(output.lines[0].len() <= 4 * LONGEST_LINE, "{}", output.lines[0].len());
        }
        output.push(Stream::Out, b"\nlast words\n\n");
        output.push(Stream::Err, b"failed: ");
        output.push(Stream::Err, b"no file");
        output.end();
        assert_eq!(output.said().as_deref(), Some("\"failed: no file\""));
        assert_eq!(output.last[0], b"last words");
        assert_eq!(output.value(2.0).map(|printed| printed.value), Ok(2.0));
    }

    #[test]
    fn endless_output_takes_bounded_memory() {
        let readers = readers(rate(), None);
        let mut output = Output::new(&readers);
        let piece = vec![b'x'; 1 << 20];
        (0..64).for_each(|_| output.push(Stream::Out, &piece));
        output.push(Stream::Out, b"\nrate: 5\n");
        assert!(output.lines.iter().all(|line| line.capacity() <= 4 * LONGEST_LINE));
        assert_eq!(output.value(1.0).unwrap().value, 5.0);
    }

    #[test]
    fn a_number_is_found_wherever_it_is_in_a_long_line() {
        let cut = 3 * LONGEST_LINE - OVERLAP;
        for place in [0, LONGEST_LINE, 5 * LONGEST_LINE].into_iter().chain((cut - 20..cut).step_by(3)) {
            let mut line = ". ".repeat(3 * LONGEST_LINE).into_bytes();
            line.splice(place..place + 20, *b" rate: 123456789012 ");
            for read in [ProgramValue::Last, rate()] {
                assert_eq!(value(read, &[(Stream::Out, &line)]), Ok(123_456_789_012.0), "at {place}");
            }
        }
    }

    #[test]
    fn a_long_progress_bar_hides_no_number_behind_it() {
        let bar: String = (0..100_000).map(|step| format!("\r{step} of 100000")).collect();
        let end = b"\rrate: 7\n";
        for (read, last) in [(ProgramValue::Last, 7.0), (rate(), 7.0)] {
            assert_eq!(value(read, &[(Stream::Out, bar.as_bytes()), (Stream::Out, end)]), Ok(last));
        }
    }

    proptest! {
        #[test]
        fn lines_that_arrive_together_are_read_as_one_by_one(
            lines in proptest::collection::vec("(rate: [1-9]{1,3}|ok|x rate: 7|\x1b\\[1mrate: 8|\r|[a-z ]{0,5}){0,2}", 1..12)
        ) {
            for read in [ProgramValue::Regex("^rate: ([0-9]+)$".into()), ProgramValue::Last, ProgramValue::Wall] {
                let readers = readers(read, Some("^ok$"));
                let [mut together, mut alone] = [(), ()].map(|()| Output::new(&readers));
                together.push(Stream::Out, lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
                for line in &lines {
                    line.bytes().chain([b'\n']).for_each(|byte| alone.push(Stream::Out, &[byte]));
                }
                let of = |output: &Output<'_>| (output.value(1.0), output.verified(), output.said());
                prop_assert_eq!(of(&together), of(&alone));
            }
        }

        #[test]
        fn the_pieces_in_which_it_arrives_do_not_matter(cuts in proptest::collection::vec(0_usize..40, 0..6)) {
            let text = b"rate: 1\nnoise\nrate: 2.5 MB/s\nend";
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| (Stream::Out, &text[pair[0]..pair[1]])).collect();
            prop_assert_eq!(value(rate(), &pieces), Ok(2.5));
        }
    }
}
