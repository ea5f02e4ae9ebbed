//! Which CPUs a thread may run on. rustix and the C library's `cpu_set_t` end at CPU 1023; the kernel takes masks of any length.

use std::io;

use libc::{c_ulong, pid_t};

const BITS: usize = c_ulong::BITS as usize;

/// The CPUs as words of a mask, bit 0 of the first word being CPU 0.
fn words(ids: &[u32]) -> Vec<c_ulong> {
    let mut words = vec![0; ids.iter().max().map_or(1, |max| *max as usize / BITS + 1)];
    for id in ids {
        words[*id as usize / BITS] |= 1 << (*id as usize % BITS);
    }
    words
}

/// Lets a thread, 0 for the calling one, run on these CPUs only.
pub fn set(tid: pid_t, ids: &[u32]) -> io::Result<()> {
    let words = words(ids);
    // SAFETY: the pointer and the length are those of `words`, which outlives the call; the kernel only reads it.
    let done = unsafe { libc::sched_setaffinity(tid, size_of_val(&words[..]), words.as_ptr().cast()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The mask that the kernel would write for these CPUs where there is so much room; `None` where it would refuse, or one is beyond its mask
/// (sched_setaffinity(2), "C library/kernel differences").
pub fn as_kernel_writes(ids: &[u32], room: usize) -> Option<Vec<u8>> {
    let mut own: [c_ulong; 1024] = [0; 1024];
    let room = room.min(size_of_val(&own));
    // SAFETY: the pointer is that of `own`, and the length at most its own; it outlives the call, and the kernel writes no more than that.
    let written = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, room, own.as_mut_ptr()) };
    let mut bytes: Vec<u8> = words(ids).into_iter().flat_map(c_ulong::to_ne_bytes).collect();
    let written = usize::try_from(written).ok().filter(|written| bytes.len() <= *written)?;
    bytes.resize(written, 0);
    Some(bytes)
}

/// The CPUs that a thread, 0 for the calling one, may run on, ascending; `None` where the system does not say.
pub fn get(tid: pid_t) -> Option<Vec<u32>> {
    // As many CPUs as any kernel can be built for, and eight times more.
    let mut words: [c_ulong; 1024] = [0; 1024];
    // SAFETY: the pointer and the length are those of `words`, which outlives the call; the kernel writes no more than the length.
    let code = unsafe { libc::sched_getaffinity(tid, size_of_val(&words), words.as_mut_ptr().cast()) };
    (code == 0).then(|| ids(words))
}

/// The CPUs of a mask, ascending.
pub fn ids(words: impl IntoIterator<Item = c_ulong>) -> Vec<u32> {
    let of_word = |(at, word): (usize, c_ulong)| {
        (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * BITS + bit)
    };
    let set = words.into_iter().enumerate().filter(|(_, word)| *word != 0);
    set.flat_map(of_word).map(|id| id as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_written_as_the_kernel_does_in_any_room() {
        let own = get(0).unwrap();
        for room in [0, 4, 8, 12, 16, 128, 1024, 8192] {
            let mut words: [c_ulong; 1024] = [0; 1024];
            // SAFETY: the pointer is that of `words`, and the length at most its own; it outlives the call.
            let size = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, room, words.as_mut_ptr()) };
            let bytes: Vec<u8> = words.into_iter().flat_map(c_ulong::to_ne_bytes).collect();
            let kernel = usize::try_from(size).ok().map(|size| bytes[..size].to_vec());
            assert_eq!(as_kernel_writes(&own, room), kernel, "{room}");
        }
        assert_eq!(as_kernel_writes(&[1 << 16], 8192), None);
    }

    #[test]
    fn a_mask_has_room_for_any_id() {
        let words = words(&[0, 63, 64, 1025]);
        // The list in `/proc` has those that are offline too.
        let listed = charz_system::Status::of_thread().cpus().unwrap();
        assert!(get(0).is_some_and(|own| !own.is_empty() && own.iter().all(|id| listed.contains(id))));
        assert_eq!(get(i32::MAX), None);
        assert_eq!((words.len(), words[0], words[1], words[16]), (17, 1 | 1 << 63, 1, 2));
        assert_eq!(ids(words), [0, 63, 64, 1025]);
    }
}
