//! Lists of what a sweep varies of a cell's memory.

use charz_kernels::{PageKind, Params};
use charz_topology::MemoryPolicy;

use super::convert::choice;
use super::layers::Layers;
use super::quantities::{count, size, steps};
use super::spelling::AxesArgs;
use crate::exit::Error;
use crate::plan::{Asked, AskedSizes, MOST_BYTES, MOST_CHAINS};

/// The size of a block where a kernel is about memory.
pub(super) const BLOCK: &str = "256MiB";
/// The same in a coarse look.
pub(super) const QUICK_BLOCK: &str = "128MiB";

/// What was asked for, and the parameters with its single values; `block` is the size of a block that is about memory.
pub(super) fn axes(args: &AxesArgs, block: &str, layers: &Layers) -> Result<(Asked, Params), Error> {
    let sizes = match args.size.as_str() {
        "levels" => Some(AskedSizes::Levels),
        "curve" => Some(AskedSizes::Curve),
        text if text.split(',').any(|word| ["auto", "levels", "curve"].contains(&word)) && text != "auto" => {
            return Err(Error::bad_input(format!(
                "--size: {text:?} has a word for several sizes beside others; name it alone, or sizes only"
            )));
        }
        _ => layers.blame("--size", list("--size", &args.size, size))?.map(AskedSizes::List),
    };
    let policy = |text: &str| choice("--pages", text, PageKind::ALL.map(|policy| (policy.name(), policy)));
    let asked = Asked {
        sizes,
        pages: layers.blame("--pages", list("--pages", &args.pages, policy))?,
        strides: layers.blame("--stride", list("--stride", &args.stride, stride))?,
        chains: layers.blame("--chains", list("--chains", &args.chains, chains))?,
        memory: layers.blame("--memory", list("--memory", &args.memory, place))?,
        delays: layers.blame("--delay", list("--delay", &args.delay, |text| steps("--delay", text)))?,
    };
    let size = match &asked.sizes {
        Some(AskedSizes::List(sizes)) => single(Some(sizes)),
        _ => None,
    };
    let params = Params {
        size_bytes: size.map_or_else(|| self::size(block), Ok)?,
        pages: single(asked.pages.as_ref()).unwrap_or_default(),
        stride_bytes: single(asked.strides.as_ref()).unwrap_or(Params::SMALL.stride_bytes),
        chains: single(asked.chains.as_ref()).unwrap_or(Params::SMALL.chains),
        delay: single(asked.delays.as_ref()).unwrap_or(Params::SMALL.delay),
        ..Params::SMALL
    };
    Ok((asked, params))
}

/// `auto`, or pieces between commas, each of which stands there once.
fn list<T: PartialEq>(
    flag: &str,
    text: &str,
    piece: impl Fn(&str) -> Result<T, Error>,
) -> Result<Option<Vec<T>>, Error> {
    if text == "auto" {
        return Ok(None);
    }
    let mut values = Vec::new();
    for word in text.split(',') {
        let value = piece(word)?;
        if values.contains(&value) {
            return Err(Error::bad_input(format!("{flag}: {word:?} stands there twice; name it once")));
        }
        if values.len() == MOST_VALUES {
            return Err(Error::bad_input(format!("{flag}: there are more than {MOST_VALUES} values; name fewer")));
        }
        values.push(value);
    }
    Ok(Some(values))
}

/// The most values of one parameter: each multiplies the cells.
const MOST_VALUES: usize = 256;

/// The one value that all cells have.
fn single<T: Copy>(list: Option<&Vec<T>>) -> Option<T> {
    match list.map(Vec::as_slice) {
        Some(&[one]) => Some(one),
        _ => None,
    }
}

fn stride(text: &str) -> Result<u64, Error> {
    const LINE: u64 = 64;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(bytes @ 1..=MOST_BYTES) if digits && bytes.is_multiple_of(LINE) => Ok(bytes),
        Ok(bytes @ 1..=MOST_BYTES) if digits => Err(Error::bad_input(format!(
            "--stride: {text:?} is not a multiple of {LINE} bytes, a cache line; the next one is {}",
            bytes.next_multiple_of(LINE)
        ))),
        _ => Err(Error::bad_input(format!(
            "--stride: {text:?} is not a number of bytes from {LINE} to {MOST_BYTES}; example: --stride 256"
        ))),
    }
}

fn place(text: &str) -> Result<MemoryPolicy, Error> {
    text.parse().map_err(|what| Error::bad_input(format!("--memory: {what}")))
}

fn chains(text: &str) -> Result<u64, Error> {
    count("--chains", text, MOST_CHAINS as usize).map(|chains| chains as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(size: &str, pages: &str, stride: &str) -> Result<(Asked, Params), Error> {
        let args = AxesArgs { pages: pages.into(), stride: stride.into(), ..AxesArgs::with_size(size) };
        axes(&args, BLOCK, &Layers::default())
    }

    #[test]
    fn one_value_is_the_plans_and_several_are_varied() {
        let (asked, params) = read("auto", "auto", "auto").unwrap();
        assert_eq!((asked, params.size_bytes, params.pages), (Asked::default(), 256 << 20, PageKind::Transparent));
        let (asked, params) = read("1MiB", "4k,2m", "128").unwrap();
        assert_eq!(asked.sizes, Some(AskedSizes::List(vec![1 << 20])));
        assert_eq!(asked.pages, Some(vec![PageKind::Small, PageKind::Huge2M]));
        assert_eq!((params.size_bytes, params.pages, params.stride_bytes), (1 << 20, PageKind::Transparent, 128));
        let (asked, params) = read("curve", "4k", "64,4096").unwrap();
        assert_eq!((asked.sizes, asked.strides), (Some(AskedSizes::Curve), Some(vec![64, 4096])));
        assert_eq!((params.size_bytes, params.pages), (256 << 20, PageKind::Small));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        #[track_caller]
        fn check(result: Result<(Asked, Params), Error>, word: &str) {
            let sentence = result.expect_err("accepted").to_string();
            assert!(sentence.contains(word) && !sentence.contains('\n'), "{sentence}");
        }
        check(read("1MiB,1024KiB", "auto", "auto"), "twice");
        check(read("", "auto", "auto"), "--size");
        check(read("level", "auto", "auto"), "--size");
        check(read("auto", "4k,8k", "auto"), "8k");
        check(read("auto", "auto", "100"), "128");
        check(read("auto", "auto", "64,0"), "--stride");
        let many: Vec<String> = (1..=300).map(|n| (64 * n).to_string()).collect();
        check(read("auto", "auto", &many.join(",")), "256");
        let places = |memory: &str| {
            axes(&AxesArgs { memory: memory.into(), ..AxesArgs::with_size("auto") }, BLOCK, &Layers::default())
        };
        check(places("local,far"), "\"far\"");
        check(places("node:0,node:0"), "twice");
        check(places("node:x"), "--memory");
        let node = places("interleaved,node:3").unwrap().0.memory;
        assert_eq!(node, Some(vec![MemoryPolicy::Interleaved, MemoryPolicy::Node(3)]));
    }
}
