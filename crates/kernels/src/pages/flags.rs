//! `pages-flags` and `pages-flags-each`: what it takes to learn what each page of the machine's memory is used for.
//!
//! Linux keeps a word of flags for each page frame in `/proc/kpageflags` (Documentation/admin-guide/mm/pagemap.rst), for root only. A
//! worker reads the words of a part of memory and counts the frames by use, as `memstat` of Solaris lists them: with the words of many
//! frames by one call, which was one of four changes there that made it up to 484 times as fast together, or with a call for each.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use charz_data::params::SIZE;
use charz_data::{Bytes, Card, Family, Metric, Work};

use crate::kernel::{Axes, Error, Sizes, Worker};
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::mmap::base_page;
use crate::watch::Watch;

const FILE: &str = "/proc/kpageflags";
const WORD: usize = size_of::<u64>();

/// The words of a call, where it reads many.
const MANY: usize = 2048;

/// Bits of a word: the frame is on a list of reclaim, the kernel's own for small objects, free, mapped by programs, without a file, and
/// has no memory.
const LRU: u64 = 1 << 5;
const SLAB: u64 = 1 << 7;
const FREE: u64 = 1 << 10;
const MAPPED: u64 = 1 << 11;
const ANONYMOUS: u64 = 1 << 12;
const NONE: u64 = 1 << 20;

const CARD: Card = Card::new("", Family::Memory, "", Metric::time_per_gib("bytes of the pages whose flags are read"))
    .params(&[&SIZE])
    .source("S. Sistare, on the scalability of Solaris 11: wicked fast memstat");

kernels! {
    reading, MANY => CARD
        .named("pages-flags", "reads what the system uses each page of memory for, 2048 pages a call, and counts them by use");
    reading, 1 => CARD.named("pages-flags-each", "does as pages-flags with a call for each page");
}

const fn reading(card: &'static Card, words: usize) -> PlainKernel<usize> {
    let kernel = PlainKernel::new(
        card,
        words,
        |kernel, _| Bytes((kernel.data * WORD) as u64),
        |kernel, params, _| {
            let (name, words) = (kernel.name(), kernel.data);
            let frames = params.size_bytes / base_page() as u64;
            if frames == 0 {
                return Err(kernel.unavailable(format_args!("needs at least a page of {} bytes", base_page())));
            }
            stage("pread", Extent::Each(Work::bytes(frames * base_page() as u64)), move |rank| {
                let (file, words) = (File::open(FILE).map_err(refused)?, vec![0; words * WORD]);
                Ok(Box::new(Reader {
                    name,
                    file,
                    words,
                    first: rank as u64 * frames,
                    frames,
                    uses: Uses::default(),
                    wrong: None,
                }))
            })
        },
    );
    let kernel = kernel.check(|kernel| {
        File::open(FILE).and_then(|file| file.read_exact_at(&mut [0; WORD], 0)).map_err(|error| {
            kernel.unavailable(format_args!("reads {FILE}, which root alone may ({error}): run it as root"))
        })
    });
    kernel.axes(Axes { sizes: Sizes::Fixed(128 << 20), ..Axes::NONE })
}

fn refused(error: io::Error) -> Error {
    Error::Refused(format!("{FILE} cannot be read: {error}"))
}

/// Frames by use: without memory, free, the kernel's, of files, of programs, and others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses([u64; 6]);

impl Uses {
    fn count(&mut self, flags: u64) {
        let has = |bits: u64| flags & bits != 0;
        let class = match () {
            () if has(NONE) => 0,
            () if has(FREE) => 1,
            () if has(SLAB) => 2,
            () if has(ANONYMOUS) => 4,
            () if has(LRU | MAPPED) => 3,
            () => 5,
        };
        self.0[class] += 1;
    }
}

struct Reader {
    name: &'static str,
    file: File,
    words: Vec<u8>,
    /// The frame that it begins with; after the last one of the machine it goes on with the first.
    first: u64,
    frames: u64,
    uses: Uses,
    wrong: Option<Error>,
}

impl Reader {
    fn read(&mut self, watch: &Watch) -> io::Result<u64> {
        let (mut done, mut frame) = (0, self.first);
        while done < self.frames && !watch.should_stop() {
            let wanted = self.words.len().min((self.frames - done) as usize * WORD);
            let read = self.file.read_at(&mut self.words[..wanted], frame * WORD as u64)?;
            if read == 0 {
                if frame == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                frame = 0;
            }
            let words = self.words[..read].chunks_exact(WORD).filter_map(|word| word.try_into().ok());
            words.for_each(|word| self.uses.count(u64::from_ne_bytes(word)));
            (done, frame) = (done + (read / WORD) as u64, frame + (read / WORD) as u64);
        }
        Ok(done)
    }
}

impl Worker for Reader {
    fn prepare(&mut self) {
        (self.uses, self.wrong) = (Uses::default(), None);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let done = self.read(watch).unwrap_or_else(|error| {
            self.wrong = Some(refused(error));
            // A run that was refused counts as a whole one, so it is verified.
            self.frames
        });
        Work::bytes(done * base_page() as u64)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.wrong.take().map_or(Ok(()), Err)?;
        let counted = self.uses.0.iter().sum::<u64>();
        Error::unless(counted > 0 && self.uses.0[0] < counted, self.name, || {
            format!("none of {counted} frames has memory")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_counted_once_by_its_use() {
        let mut uses = Uses::default();
        // As a frame of a file that programs map, one of a program's own, a free one, one of small objects, a hole, and a table of pages.
        for flags in [LRU | MAPPED, LRU | MAPPED | ANONYMOUS, FREE, SLAB, NONE, 1 << 26] {
            uses.count(flags);
        }
        assert_eq!(uses, Uses([1; 6]));
    }

    #[test]
    fn after_the_last_frame_comes_the_first() {
        let (file, words) = (tempfile::tempfile().unwrap(), vec![0; 2 * WORD]);
        file.write_all_at(&[FREE, SLAB, NONE].map(u64::to_ne_bytes).concat(), 0).unwrap();
        let mut reader = Reader { name: "", file, words, first: 2, frames: 5, uses: Uses::default(), wrong: None };
        assert_eq!(reader.read(&crate::tests::watch(None)).unwrap(), 5);
        assert_eq!(reader.uses, Uses([2, 2, 1, 0, 0, 0]), "2 and 0 1, 2 and 0");
    }
}
