//! `stat`, `sched` and `schedstat` of a thread or process, below `/proc/PID` or `/proc/thread-self`.

/// The file `stat`, as in proc_pid_stat(5): `13064 (a name) R 1 …`. The name may hold blanks and parentheses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat<'a> {
    /// The name without its parentheses.
    pub name: &'a str,
    /// From the third field on.
    fields: Vec<&'a str>,
}

impl<'a> Stat<'a> {
    /// All is missing where the text is not that of such a file.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let Some((head, fields)) = text.rsplit_once(')') else { return Stat::default() };
        Stat { name: head.split_once('(').map_or("", |(_, name)| name), fields: fields.split_whitespace().collect() }
    }

    /// Fields are counted from 1, as in the manual page.
    fn field(&self, number: usize) -> Option<u64> {
        self.fields.get(number - 3)?.parse().ok()
    }

    /// Whether it is a thread of the kernel, which no user can stop.
    #[must_use]
    pub fn is_of_kernel(&self) -> Option<bool> {
        const PF_KTHREAD: u64 = 0x0020_0000;
        Some(self.field(9)? & PF_KTHREAD != 0)
    }

    /// Page faults that took no reading from a disk.
    #[must_use]
    pub fn minor_faults(&self) -> Option<u64> {
        self.field(10)
    }

    /// Page faults that waited for a disk.
    #[must_use]
    pub fn major_faults(&self) -> Option<u64> {
        self.field(12)
    }

    /// The processor time, its own and the kernel's for it, in ticks of 10 ms.
    #[must_use]
    pub fn ticks(&self) -> Option<u64> {
        Some(self.field(14)?.saturating_add(self.field(15)?))
    }

    /// When it began, in ticks of 10 ms since the system started.
    #[must_use]
    pub fn begun(&self) -> Option<u64> {
        self.field(22)
    }

    /// The CPU that it ran on last.
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        u32::try_from(self.field(39)?).ok()
    }
}

/// The number of moves from one CPU to another, from `sched`: `se.nr_migrations    :    12`. Kernels without scheduler statistics do not
/// count them.
#[must_use]
pub fn migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find_map(|line| line.strip_prefix("se.nr_migrations"))?;
    line.trim_start().strip_prefix(':')?.trim().parse().ok()
}

/// The nanoseconds that the thread ran, and those that it waited for a CPU though it could have run, from `schedstat` (kernel
/// documentation, `scheduler/sched-stats`).
#[must_use]
pub fn times_ns(schedstat: &str) -> [Option<u64>; 2] {
    let mut numbers = schedstat.split_whitespace().map(|number| number.parse().ok());
    [numbers.next().flatten(), numbers.next().flatten()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_does_not_move_the_fields() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let text = format!("17 (a) R (b) (c) {}", fields.join(" "));
        let stat = Stat::new(&text);
        assert_eq!((stat.name, stat.cpu()), ("a) R (b) (c", Some(39)));
        assert_eq!((stat.minor_faults(), stat.major_faults()), (Some(10), Some(12)));
        assert_eq!((stat.ticks(), stat.begun(), stat.is_of_kernel()), (Some(29), Some(22), Some(false)));
        assert_eq!(Stat::new("17 (a) S 1").cpu(), None);
        assert_eq!(Stat::new(""), Stat::default());
    }

    #[test]
    fn threads_of_the_kernel_are_known() {
        assert_eq!(Stat::new("7 (kworker) S 2 0 0 0 -1 2129984 0 0 0 0 900 80").is_of_kernel(), Some(true));
    }

    #[test]
    fn scheduler_statistics_may_be_missing() {
        assert_eq!(migrations("cat (1, #threads: 1)\nse.nr_migrations      :       12\n"), Some(12));
        assert_eq!(migrations("se.exec_start : 1\n"), None);
        assert_eq!(times_ns("464010 54871 2\n"), [Some(464_010), Some(54_871)]);
        assert_eq!(times_ns("\n"), [None; 2]);
    }
}
