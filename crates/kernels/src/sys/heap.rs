//! Allocators: the C library's, and others out of shared libraries, each a pair of functions like `malloc` and `free`.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::sync::OnceLock;

#[derive(Debug)]
pub struct Heap {
    malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

/// A heap by its type.
///
/// # Safety
/// [`Allocator::heap`] gives the same heap whenever it is asked for, and what a thread allocates there any other may free.
///
/// ```compile_fail
/// # use charz_kernels::sys::heap::{Allocator, Heap, System};
/// enum Other {}
/// impl Allocator for Other {
///     const FILE: &'static str = "";
///     const PACKAGE: &'static str = "";
///     fn heap() -> Result<&'static Heap, &'static str> {
///         System::heap()
///     }
/// }
/// ```
pub unsafe trait Allocator: 'static {
    const FILE: &'static str;
    const PACKAGE: &'static str;

    fn heap() -> Result<&'static Heap, &'static str>;
}

pub enum System {}

// SAFETY: the heap is one, and free(3) takes what any thread allocated.
unsafe impl Allocator for System {
    const FILE: &'static str = "libc";
    const PACKAGE: &'static str = "libc6";

    #[inline]
    fn heap() -> Result<&'static Heap, &'static str> {
        static SYSTEM: Heap = Heap { malloc: libc::malloc, free: libc::free };
        Ok(&SYSTEM)
    }
}

/// mimalloc, whose functions have names of their own.
pub enum Mimalloc {}

// SAFETY: a library is loaded once, and its free takes what any thread allocated.
unsafe impl Allocator for Mimalloc {
    const FILE: &'static str = "libmimalloc.so.2";
    const PACKAGE: &'static str = "libmimalloc2.0";

    #[inline]
    fn heap() -> Result<&'static Heap, &'static str> {
        static LIBRARY: Library = Library::new(c"libmimalloc.so.2", c"mi_malloc", c"mi_free");
        LIBRARY.heap()
    }
}

/// jemalloc, whose functions are named as the C library's.
pub enum Jemalloc {}

// SAFETY: as above.
unsafe impl Allocator for Jemalloc {
    const FILE: &'static str = "libjemalloc.so.2";
    const PACKAGE: &'static str = "libjemalloc2";

    #[inline]
    fn heap() -> Result<&'static Heap, &'static str> {
        static LIBRARY: Library = Library::new(c"libjemalloc.so.2", c"malloc", c"free");
        LIBRARY.heap()
    }
}

/// Why a program that carries its C library has no other allocators.
pub const LINKED_STATICALLY: &str = "this charz is linked statically and loads no libraries";

/// An allocator in a shared library, which is loaded when it is first asked for, and then stays.
///
/// Nothing else of the process allocates through it: its names are not seen by others (`RTLD_LOCAL`).
struct Library {
    file: &'static CStr,
    malloc: &'static CStr,
    free: &'static CStr,
    loaded: OnceLock<Result<Heap, String>>,
}

impl Library {
    const fn new(file: &'static CStr, malloc: &'static CStr, free: &'static CStr) -> Library {
        Library { file, malloc, free, loaded: OnceLock::new() }
    }

    #[inline]
    fn heap(&'static self) -> Result<&'static Heap, &'static str> {
        self.loaded.get_or_init(|| self.load()).as_ref().map_err(String::as_str)
    }

    fn load(&self) -> Result<Heap, String> {
        // The library would bring a second C library, which knows nothing of the threads of the one that is linked in.
        if cfg!(target_feature = "crt-static") {
            return Err(LINKED_STATICALLY.into());
        }
        // SAFETY: the name is a string of C. Both libraries are made to be loaded into any process: their initialisers set up their own
        // data and replace nothing.
        let library = unsafe { libc::dlopen(self.file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let library = NonNull::new(library).ok_or_else(complaint)?;
        let (malloc, free) = (symbol(library, self.malloc)?, symbol(library, self.free)?);
        // SAFETY: the library declares the function so: `void *malloc(size_t)`; it is never unloaded.
        let malloc = unsafe { mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(usize) -> *mut c_void>(malloc) };
        // SAFETY: the library declares the function so: `void free(void *)`; it is never unloaded.
        let free = unsafe { mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_void)>(free) };
        Ok(Heap { malloc, free })
    }
}

fn symbol(library: NonNull<c_void>, name: &CStr) -> Result<NonNull<c_void>, String> {
    // SAFETY: the handle is that of a library that was loaded and is never unloaded, and the name is a string of C.
    NonNull::new(unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) }).ok_or_else(complaint)
}

/// What the dynamic linker said last on this thread.
fn complaint() -> String {
    // SAFETY: the call takes nothing and changes nothing of ours.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker gives no reason".into();
    }
    // SAFETY: it is a string of C, which stays until this thread's next call of the dynamic linker.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Memory of an allocator with a word at each of its ends, given back when dropped.
pub struct Object<A: Allocator> {
    start: NonNull<u8>,
    bytes: u32,
    allocator: PhantomData<fn() -> A>,
}

// SAFETY: the memory is owned, and any thread may free what another allocated.
unsafe impl<A: Allocator> Send for Object<A> {}

/// Bytes of the smallest object: two words.
pub const LEAST: u32 = 16;

impl<A: Allocator> Object<A> {
    /// An object of so many bytes, at least [`LEAST`]. `None` where the allocator has no more, or there is no such allocator.
    #[inline]
    pub fn new(bytes: u32) -> Option<Self> {
        let (heap, bytes) = (A::heap().ok()?, bytes.max(LEAST));
        // SAFETY: the function is an allocator's, which takes any size.
        let start = unsafe { (heap.malloc)(bytes as usize) };
        let object = Object { start: NonNull::new(start.cast())?, bytes, allocator: PhantomData };
        for end in object.ends() {
            // SAFETY: both words lie within the memory, which is as long as was asked for and this object's alone.
            unsafe { end.write_unaligned(object.word()) };
        }
        Some(object)
    }

    /// Whether it still holds what it was made with.
    #[inline]
    pub fn is_whole(&self) -> bool {
        let words = self.ends().map(|end| {
            // SAFETY: both words lie within the memory, and were written when it was made.
            unsafe { end.read_unaligned() }
        });
        words == [self.word(); 2]
    }

    /// The word at its two ends. No two live objects have the same.
    fn word(&self) -> u64 {
        self.start.as_ptr().addr() as u64 ^ u64::from(self.bytes) << 48
    }

    fn ends(&self) -> [*mut u64; 2] {
        let start = self.start.as_ptr();
        [start.cast(), start.wrapping_add(self.bytes as usize - 8).cast()]
    }
}

impl<A: Allocator> Drop for Object<A> {
    #[inline]
    fn drop(&mut self) {
        if let Ok(heap) = A::heap() {
            // SAFETY: the memory came from this heap's other function, as the heap is always the same, and is not used any more.
            unsafe { (heap.free)(self.start.as_ptr().cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_apart<A: Allocator>() {
        if A::heap().is_err() {
            return;
        }
        let objects: Vec<_> = (0..1000).map(|i| Object::<A>::new(i % 300).unwrap()).collect();
        assert!(objects.iter().all(Object::is_whole));
        // SAFETY: the word lies within the object, which no other code uses.
        unsafe { objects[500].ends()[1].write_unaligned(0) };
        let broken: Vec<_> = (0..1000).filter(|i| !objects[*i].is_whole()).collect();
        assert_eq!(broken, [500], "{}", A::FILE);
        std::thread::scope(|scope| scope.spawn(|| drop(objects)).join().unwrap());
    }

    #[test]
    fn objects_lie_apart_and_show_what_was_done_to_them() {
        check_apart::<System>();
        check_apart::<Mimalloc>();
        check_apart::<Jemalloc>();
    }

    #[test]
    fn a_missing_library_or_function_is_reported() {
        static NONES: Library = Library::new(c"libnobody-has-this.so.7", c"malloc", c"free");
        static NAMELESS: Library = Library::new(c"libc.so.6", c"malloc_of_nobody", c"free");
        let is_static = cfg!(target_feature = "crt-static");
        for (library, part) in [(&NONES, "libnobody-has-this.so.7"), (&NAMELESS, "malloc_of_nobody")] {
            let (reason, part) = (library.heap().unwrap_err(), if is_static { LINKED_STATICALLY } else { part });
            assert!(reason.contains(part), "{reason}");
        }
    }
}
