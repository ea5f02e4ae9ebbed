//! `compress-pipeline`: chunks that all workers compress, and one of them writes in their order.
//!
//! It is how Solaris dumps the memory of a system that has crashed (S. Sistare, Fast Crash Dump, 2011): one thread goes through memory in
//! chunks of 4 MB, others compress them, and it writes what they give back. Here that thread compresses too while there is nothing to
//! write. A worker takes the next chunk when it is done with one, so no worker waits before the last chunk is taken. The memory grows with
//! the workers, so each has several chunks, however many they are.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use charz_data::params::SIZE;
use charz_data::{Bytes, Card, Family, Metric, Params, Work};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use super::folder::Folder;
use super::team::{Member, Over, Team, part};
use charz_kernels::kernel::{Axes, Error, Sizes, Worker};
use charz_kernels::plain::{Extent, PlainKernel, kernels, stage};
use charz_kernels::watch::Watch;

/// The most bytes of a chunk, as in the source.
const CHUNK: usize = 4 << 20;

/// Chunks of a worker, at least: what one does alone at the end is a small part of its run.
const CHUNKS: usize = 8;

/// What is compressed between two looks at the watch: at most 100 µs.
const PIECE: usize = 16 << 10;

/// Different words of the memory that is compressed, each of 8 bytes: it shrinks to about a third.
const WORDS: usize = 1024;

kernels! {
    compressing => Card::new(
        "compress-pipeline",
        Family::Workload,
        "compresses memory chunk by chunk (deflate, level 1; 8 chunks a worker, or more of 4 MiB) as all workers do, while the first one \
         writes the results to a file in their order",
        Metric::bytes("of memory that is compressed"),
    )
    .uncounted_traffic(
        "the file system takes what is written, its type is in brackets; the folder is TMPDIR, or /var/tmp without it. The disk is not \
         waited for, and the file has no name",
    )
    .params(&[&SIZE])
    .source("S. Sistare, Fast Crash Dump (weblog, July 2011)")
    .shares_work(true)
    .blocks_in_kernel(true);
}

const fn compressing(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, params: &Params| Bytes(params.size_bytes.saturating_mul(2));
    let kernel = PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let (name, share) = (kernel.name(), params.size_bytes);
        let bytes = usize::try_from(share.saturating_mul(workers as u64)).unwrap_or(usize::MAX);
        let folder = Folder::find(name)?;
        let variant = folder.file_system();
        let file = folder.file(0).map_err(|error| folder.refusal(name, &error))?;
        let pipeline = Arc::new(Pipeline::new(name, (folder, file), bytes, chunk_bytes(share), workers)?);
        stage(variant, Extent::Together(Work::bytes(share)), move |rank| {
            Ok(Box::new(Compressor::new(Arc::clone(&pipeline), rank)))
        })
    });
    kernel.axes(Axes { sizes: Sizes::Fixed(8 << 20), ..Axes::NONE })
}

/// The bytes of a chunk where each worker has so many bytes.
fn chunk_bytes(share: u64) -> usize {
    usize::try_from(share / CHUNKS as u64).unwrap_or(usize::MAX).clamp(PIECE, CHUNK)
}

#[derive(Debug, Default)]
struct Chunk {
    input: Vec<u8>,
    output: Vec<u8>,
}

struct Pipeline {
    name: &'static str,
    folder: Folder,
    file: File,
    team: Team,
    workers: usize,
    bytes: usize,
    chunk_bytes: usize,
    /// Locked by the worker that compresses it, later by the one that writes it.
    chunks: Box<[Mutex<Chunk>]>,
    compressed: Box<[AtomicBool]>,
    /// The chunk that is taken next.
    next: AtomicUsize,
    /// Why the file could not be written.
    refused: Mutex<Option<Error>>,
}

impl Pipeline {
    fn new(
        name: &'static str,
        (folder, file): (Folder, File),
        bytes: usize,
        chunk_bytes: usize,
        workers: usize,
    ) -> Result<Self, Error> {
        let chunks = bytes.div_ceil(chunk_bytes);
        Ok(Pipeline {
            name,
            folder,
            file,
            team: Team::of(workers)?,
            workers,
            bytes,
            chunk_bytes,
            chunks: (0..chunks).map(|_| Mutex::default()).collect(),
            compressed: (0..chunks).map(|_| AtomicBool::new(false)).collect(),
            next: AtomicUsize::new(0),
            refused: Mutex::new(None),
        })
    }

    fn chunk(&self, number: usize) -> MutexGuard<'_, Chunk> {
        self.chunks[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunks that a worker makes and verifies.
    fn own(&self, rank: usize) -> impl Iterator<Item = (usize, MutexGuard<'_, Chunk>)> {
        part(rank, self.workers, self.chunks.len()).map(|number| (number, self.chunk(number)))
    }

    fn refuse(&self, error: &io::Error) {
        let error = self.folder.refusal(self.name, error);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Where the writer is.
#[derive(Default)]
struct Written {
    chunks: usize,
    bytes: u64,
}

struct Compressor {
    pipeline: Arc<Pipeline>,
    rank: usize,
    deflate: Compress,
}

impl Compressor {
    /// Makes its part of the memory, which so lies where it runs.
    fn new(pipeline: Arc<Pipeline>, rank: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let words: Vec<u64> = (0..WORDS).map(|_| random.u64(..)).collect();
        let mut random = fastrand::Rng::with_seed(rank as u64 + 2);
        for (number, mut chunk) in pipeline.own(rank) {
            let bytes = pipeline.chunk_bytes.min(pipeline.bytes - number * pipeline.chunk_bytes);
            let mut word = || words[random.usize(..WORDS)].to_ne_bytes();
            chunk.input = (0..bytes.div_ceil(8)).flat_map(|_| word()).take(bytes).collect();
            // What cannot be compressed gets a few bytes longer.
            chunk.output = vec![0; bytes + bytes / 64 + PIECE];
        }
        Compressor { pipeline, rank, deflate: Compress::new(Compression::fast(), false) }
    }

    /// Compresses what no other has taken, and writes if it is the first worker. Adds what it has compressed to `done`.
    fn work(&mut self, member: &Member<'_>, done: &mut u64) -> Result<(), Over> {
        let pipeline = Arc::clone(&self.pipeline);
        let (all, mut written) = (pipeline.chunks.len(), Written::default());
        let is_ready = |number: usize| number < all && pipeline.compressed[number].load(Ordering::Acquire);
        loop {
            while self.rank == 0 && is_ready(written.chunks) {
                self.write(&mut written, member)?;
            }
            member.look()?;
            // Relaxed: the number alone is taken, and a chunk's contents are behind its lock.
            let number = pipeline.next.fetch_add(1, Ordering::Relaxed);
            if number >= all {
                break;
            }
            *done += self.compress(&mut pipeline.chunk(number), member)?;
            pipeline.compressed[number].store(true, Ordering::Release);
        }
        while self.rank == 0 && written.chunks < all {
            member.wait(|| is_ready(written.chunks))?;
            self.write(&mut written, member)?;
        }
        Ok(())
    }

    fn compress(&mut self, chunk: &mut Chunk, member: &Member<'_>) -> Result<u64, Over> {
        let Chunk { input, output } = chunk;
        self.deflate.reset();
        output.clear();
        let mut rest = input.as_slice();
        while !rest.is_empty() {
            member.look()?;
            let piece = &rest[..PIECE.min(rest.len())];
            let how = if piece.len() == rest.len() { FlushCompress::Finish } else { FlushCompress::None };
            let before = self.deflate.total_in();
            if self.deflate.compress_vec(piece, output, how).is_err() {
                break;
            }
            rest = &rest[(self.deflate.total_in() - before) as usize..];
        }
        Ok((input.len() - rest.len()) as u64)
    }

    fn write(&self, written: &mut Written, member: &Member<'_>) -> Result<(), Over> {
        let chunk = self.pipeline.chunk(written.chunks);
        for piece in chunk.output.chunks(PIECE * 4) {
            member.look()?;
            if let Err(error) = self.pipeline.file.write_all_at(piece, written.bytes) {
                self.pipeline.refuse(&error);
                return Err(member.leave());
            }
            written.bytes += piece.len() as u64;
        }
        written.chunks += 1;
        Ok(())
    }
}

impl Worker for Compressor {
    fn prepare(&mut self) {
        let pipeline = &self.pipeline;
        if self.rank == 0 {
            pipeline.team.open();
            // Relaxed, and below: the workers begin their runs only after all have prepared, by other means.
            pipeline.next.store(0, Ordering::Relaxed);
            *pipeline.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        for (number, mut chunk) in pipeline.own(self.rank) {
            chunk.output.clear();
            pipeline.compressed[number].store(false, Ordering::Relaxed);
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let pipeline = Arc::clone(&self.pipeline);
        let mut done = 0;
        // A run that was refused is reported when it is verified.
        let _ = self.work(&Member::new(self.rank, &pipeline.team, watch), &mut done);
        Work::bytes(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let pipeline = &self.pipeline;
        if let Some(error) = &*pipeline.refused.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.clone());
        }
        let (own, mut at) = (part(self.rank, pipeline.workers, pipeline.chunks.len()), 0);
        for number in 0..pipeline.chunks.len() {
            let chunk = pipeline.chunk(number);
            if own.contains(&number) {
                let mut written = vec![0; chunk.output.len()];
                let read = pipeline.file.read_exact_at(&mut written, at);
                let mut input = Vec::with_capacity(chunk.input.len() + 1);
                let inflated = Decompress::new(false).decompress_vec(&written, &mut input, FlushDecompress::Finish);
                Error::unless(read.is_ok() && inflated.is_ok() && input == chunk.input, pipeline.name, || {
                    format!("what was written of chunk {number} gives back something else")
                })?;
            }
            at += chunk.output.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use proptest::prelude::*;

    use super::*;
    use charz_kernels::tests::{together, watch};

    const NAME: &str = "compress-pipeline";

    fn pipeline(bytes: usize, chunk_bytes: usize, workers: usize, file: Option<File>) -> Arc<Pipeline> {
        let folder = Folder::find(NAME).unwrap();
        let file = file.unwrap_or_else(|| folder.file(0).unwrap());
        Arc::new(Pipeline::new(NAME, (folder, file), bytes, chunk_bytes, workers).unwrap())
    }

    /// Two runs of all workers, with what is done to each between a run and its verification: bytes compressed, and the verdicts.
    fn runs(pipeline: &Arc<Pipeline>, spoil: impl Fn(&Pipeline) + Sync) -> Vec<(u64, Result<(), Error>)> {
        let workers = pipeline.workers;
        let mut all: Vec<_> = (0..workers).map(|rank| Compressor::new(Arc::clone(pipeline), rank)).collect();
        let mut run = || {
            all.iter_mut().for_each(Worker::prepare);
            let cells: Vec<_> = all.iter_mut().map(Mutex::new).collect();
            let done = together(workers, |rank| cells[rank].lock().unwrap().run(&watch(None)).bytes.0);
            spoil(pipeline);
            let verdicts = cells.iter().map(|one| one.lock().unwrap().verify());
            (done.iter().sum(), verdicts.collect())
        };
        (0..2).map(|_| run()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn everything_is_compressed_once_and_written_in_its_order(
            bytes in 1..200_000_usize, chunk_bytes in 5_000..50_000_usize, workers in 1..6_usize,
        ) {
            let pipeline = pipeline(bytes, chunk_bytes, workers, None);
            for (done, verdict) in runs(&pipeline, |_| ()) {
                prop_assert_eq!((done, verdict), (bytes as u64, Ok(())));
            }
        }
    }

    #[test]
    fn every_worker_has_several_chunks_however_many_workers_there_are() {
        let Sizes::Fixed(size) = KERNELS[0].axes().sizes else { panic!("the size is fixed") };
        for workers in [1, 5, 16, 17, 300] {
            let pipeline = pipeline(size as usize * workers, chunk_bytes(size), workers, None);
            assert!(pipeline.chunks.len() >= CHUNKS * workers, "{workers}");
            let stage = KERNELS[0].stage(&Params { size_bytes: size, ..Params::SMALL }, workers).unwrap();
            assert_eq!(stage.work().bytes.0, size, "the block grows with them");
        }
    }

    #[test]
    fn a_byte_that_is_written_wrongly_is_noticed() {
        let pipeline = pipeline(100_000, 30_000, 2, None);
        for (_, verdict) in runs(&pipeline, |pipeline| pipeline.file.write_all_at(&[0xff; 8], 20_000).unwrap()) {
            assert!(matches!(verdict, Err(Error::Wrong(_))), "{verdict:?}");
        }
    }

    #[test]
    fn a_full_disk_ends_the_run_of_all_in_a_sentence() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let pipeline = pipeline(100_000, 10_000, 3, Some(full));
        for (_, verdict) in runs(&pipeline, |_| ()) {
            assert!(matches!(&verdict, Err(Error::Refused(why)) if why.contains("make room")), "{verdict:?}");
        }
    }
}
