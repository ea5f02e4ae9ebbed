//! Questions of a program for the CPUs that it may use, which its parent answers: a filter of seccomp(2) whose calls wait for a listener
//! (seccomp_unotify(2)). The filter holds for all that the program starts. When the listener has gone, these calls fail with `ENOSYS`.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use libc::{c_long, c_ulong};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// The numbers of `linux/audit.h` for the calls of this processor; `None` where a filter is not known.
const NATIVE: Option<u32> = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// `SECCOMP_IOCTL_NOTIF_RECV` and `SECCOMP_IOCTL_NOTIF_SEND` of `linux/seccomp.h`: the direction, the size, the letter and the number.
const RECEIVE: c_ulong = 3 << 30 | (size_of::<libc::seccomp_notif>() as c_ulong) << 16 | 0x2100;
const SEND: c_ulong = 3 << 30 | (size_of::<libc::seccomp_notif_resp>() as c_ulong) << 16 | 0x2101;

/// Where in `struct seccomp_data` the call's number and the processor's are.
const NUMBER: u32 = 0;
const PROCESSOR: u32 = 4;

/// As many bytes as a mask of any kernel has, and eight times more.
const LONGEST_MASK: usize = 1 << 13;

/// Gives the calling process, and what it starts, a filter that lets its parent answer which CPUs it may use, and its parent the listener.
/// Without the right to do that it gives up that a program which it starts gets the rights of another user.
///
/// It neither takes memory nor locks, so it may be called between fork and exec. The parent is sent one byte: 1 with a listener, else 0.
pub fn offer(to: &UnixStream) -> io::Result<()> {
    let listener = filter();
    let said = [IoSlice::new(if listener.is_some() { &[1] } else { &[0] })];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let fds = listener.as_ref().map(|listener| [listener.as_fd()]);
    if let Some(fds) = &fds {
        beside.push(SendAncillaryMessage::ScmRights(fds));
    }
    sendmsg(to, &said, &mut beside, SendFlags::empty())?;
    Ok(())
}

/// What a child has offered.
pub fn take(from: &UnixStream) -> io::Result<Option<Listener>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let listener = beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok(listener.map(Listener))
}

fn filter() -> Option<OwnedFd> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD, 0, 0, PROCESSOR),
        step(IS, 0, 3, NATIVE?),
        step(LOAD, 0, 0, NUMBER),
        step(IS, 2, 0, libc::SYS_sched_getaffinity as u32),
        step(IS, 1, 0, libc::SYS_sched_setaffinity as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, 0, libc::SECCOMP_RET_USER_NOTIF),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    let install = || {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // SAFETY: `program` and the steps that it points to outlive the call, which only reads them; its length is theirs.
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) }
    };
    let mut fd = install();
    if fd < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EACCES) {
        // SAFETY: the call takes numbers only.
        let given_up = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        fd = if given_up == 0 { install() } else { -1 };
    }
    let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
    // SAFETY: the call has just opened it for its caller, and nothing else knows it.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Where the questions of a program arrive.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A thread that waits for an answer.
#[derive(Debug)]
pub struct Question {
    id: u64,
    pub tid: i32,
    /// The thread whose CPUs it asks for, or sets.
    pub of: i32,
    pub sets: bool,
    /// Where in its memory the mask is, and how many bytes that has.
    at: u64,
    room: usize,
}

impl Question {
    /// The CPUs that are to be set; `None` where they cannot be read.
    pub fn cpus(&self) -> Option<Vec<u32>> {
        let mut mask = [0; LONGEST_MASK];
        let is_read = read(self.tid, self.at, &mut mask[..self.room.min(LONGEST_MASK)]);
        let (words, _) = mask.as_chunks();
        is_read.then(|| super::affinity::ids(words.iter().copied().map(c_ulong::from_ne_bytes)))
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Listener {
    /// The next question: to be called when the listener is readable. `None` if the thread that asked has gone.
    pub fn ask(&self) -> io::Result<Option<Question>> {
        // SAFETY: all zeros is a value of this type, which has numbers only; the kernel takes no other.
        let mut asked: libc::seccomp_notif = unsafe { mem::zeroed() };
        // SAFETY: the request writes one value of this type, where the pointer points; it outlives the call.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), RECEIVE as _, &raw mut asked) } < 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ENOENT | libc::EINTR) => Ok(None),
                _ => Err(error),
            };
        }
        let [of, room, at, ..] = asked.data.args;
        // The kernel, too, takes these arguments for an `int`, 0 for the thread itself, and an `unsigned int`.
        let (tid, of, room) = (asked.pid as i32, of as i32, room as u32 as usize);
        let sets = c_long::from(asked.data.nr) == libc::SYS_sched_setaffinity;
        Ok(Some(Question { id: asked.id, tid, of: if of == 0 { tid } else { of }, sets, at, room }))
    }

    /// Lets the system answer.
    pub fn pass(&self, question: &Question) {
        self.send(question, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Answers that the CPUs are set.
    pub fn agree(&self, question: &Question) {
        self.send(question, 0, 0);
    }

    /// Answers that these are the CPUs; where that cannot be done, the system answers.
    pub fn show(&self, question: &Question, cpus: &[u32]) {
        let mask = super::affinity::as_kernel_writes(cpus, question.room);
        match mask.filter(|mask| write(question.tid, question.at, mask)) {
            Some(mask) => self.send(question, mask.len() as i64, 0),
            None => self.pass(question),
        }
    }

    fn send(&self, question: &Question, value: i64, flags: u32) {
        let answer = libc::seccomp_notif_resp { id: question.id, val: value, error: 0, flags };
        // SAFETY: the request reads one value of this type, where the pointer points; it outlives the call. It fails where the thread has gone.
        unsafe { libc::ioctl(self.0.as_raw_fd(), SEND as _, &raw const answer) };
    }
}

/// Whether the memory of another process could be written.
fn write(tid: i32, at: u64, bytes: &[u8]) -> bool {
    let own = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let other = libc::iovec { iov_base: at as *mut _, iov_len: bytes.len() };
    // SAFETY: the call reads `bytes`, which outlives it, and writes to another process only, where that has asked for it.
    let done = unsafe { libc::process_vm_writev(tid, &raw const own, 1, &raw const other, 1, 0) };
    usize::try_from(done) == Ok(bytes.len())
}

/// Whether the memory of a child can be reached that is a copy of this process.
pub fn reaches(child: i32) -> bool {
    static KNOWN: u8 = 1;
    let mut byte = [0];
    read(child, (&raw const KNOWN) as u64, &mut byte) && byte == [KNOWN]
}

/// Whether the memory of another process could be read.
fn read(tid: i32, at: u64, bytes: &mut [u8]) -> bool {
    let own = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let other = libc::iovec { iov_base: at as *mut _, iov_len: bytes.len() };
    // SAFETY: the call writes to `bytes`, no more than its length, which outlives it; of the other process it only reads.
    let done = unsafe { libc::process_vm_readv(tid, &raw const own, 1, &raw const other, 1, 0) };
    usize::try_from(done) == Ok(bytes.len())
}
