//! Which NUMA nodes the memory of the calling thread comes from.

use std::io;

use libc::{c_long, c_ulong};

const BITS: usize = c_ulong::BITS as usize;

/// Takes memory that the calling thread touches first, and that its children do, from these nodes and no other: of several from
/// each in turn, page by page. The policy survives `execve` (set_mempolicy(2)).
pub fn place(nodes: &[u32]) -> io::Result<()> {
    let policy = if nodes.len() > 1 { libc::MPOL_INTERLEAVE } else { libc::MPOL_BIND };
    let mut words: Vec<c_ulong> = vec![0; nodes.iter().max().map_or(1, |max| *max as usize / BITS + 1)];
    for node in nodes {
        words[*node as usize / BITS] |= 1 << (*node as usize % BITS);
    }
    // The kernel takes the number of bits less one.
    let bits = (words.len() * BITS + 1) as c_ulong;
    let policy = policy as c_long;
    // SAFETY: the mask is as long as `bits` less one; the kernel only reads it, and it outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_set_mempolicy, policy, words.as_ptr(), bits) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
