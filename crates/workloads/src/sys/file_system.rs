//! Which file system a folder is on.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The numbers by which the kernel distinguishes its file systems: linux/magic.h, and the sources of those that are not in there.
#[rustfmt::skip]
const KINDS: &[(u32, &str)] = &[
    (0xEF53, "ext2, ext3 or ext4"), (0x5846_5342, "XFS"), (0x9123_683E, "Btrfs"), (0xF2F5_2010, "F2FS"),
    (0xCA45_1A4E, "bcachefs"), (0x2FC1_2FC1, "ZFS"), (0x0102_1994, "tmpfs: in memory"),
    (0x8584_58F6, "ramfs: in memory"), (0x794C_7630, "overlayfs"), (0x6573_5546, "FUSE"), (0x0102_1997, "9P"),
    (0x6969, "NFS"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB2"), (0x00C3_6400, "Ceph"), (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"), (0x1983_0326, "BeeGFS"),
];

/// The type of the file system that a path is on.
///
/// # Errors
/// The error of `statfs`; a path with a zero byte is `InvalidInput`.
pub fn kind(path: &Path) -> io::Result<&'static str> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut found = MaybeUninit::uninit();
    // SAFETY: the path ends with a zero byte and outlives the call; the memory is for one answer.
    if unsafe { libc::statfs(path.as_ptr(), found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, and wrote the answer.
    let found = unsafe { found.assume_init() };
    // The field is wider than the number on some architectures, and signed on most.
    let number = found.f_type as u32;
    Ok(KINDS.iter().find(|(of, _)| *of == number).map_or("another file system", |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_on_file_systems() {
        assert_eq!(kind(Path::new("/proc/self/no such file")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(kind(Path::new("/a\0b")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(kind(Path::new("/")).is_ok());
        // Linux mounts a tmpfs there for POSIX shared memory; a container may lack it.
        if Path::new("/dev/shm").exists() {
            assert_eq!(kind(Path::new("/dev/shm")).unwrap(), "tmpfs: in memory");
        }
    }
}
