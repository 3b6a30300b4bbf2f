//! The processes of a run: who they are, and how all of them are ended.

use super::environment::MARKER_VAR;
use std::collections::HashMap;
use std::time::Duration;

/// Processes by id, each with what tells it from a later one of the same id.
pub(super) type Known = HashMap<i32, u64>;

/// How long a child may take to end by itself after SIGTERM.
pub(super) const GRACE: Duration = Duration::from_secs(3);
/// How long those that outlived their parent may take.
pub(super) const SHORT_GRACE: Duration = Duration::from_millis(500);
/// What not even SIGKILL ends in this time sits in the kernel, and waiting for it would hang the caller.
pub(super) const KERNEL: Duration = Duration::from_secs(10);

/// Every process that belongs to a run: the descendants of its child, those noted before, and those
/// with the run's marker in their environment.
///
/// `child`: absent when it was reaped, since its id may then be another process's.
/// `after`: only processes with a larger id are looked at (see [`unwrapped`]).
pub(super) fn members(child: Option<i32>, run_id: &str, noted: &Known, after: Option<i32>) -> Known {
    let all = os::processes(after);
    let marker = format!("{MARKER_VAR}={run_id}");
    let mut found = Known::new();
    // What this process started itself is another run's child: an orphan of this run has another parent.
    let own = std::process::id() as i32;
    for process in all.iter().filter(|process| Some(process.id) != child && process.parent != own) {
        let same = noted.get(&process.id) == Some(&process.born);
        if same || os::has_entry(process.id, |entry| entry == marker.as_bytes()) {
            found.insert(process.id, process.born);
        }
    }
    with_descendants(found, child, &all)
}

/// These processes and all that they started, and what `child` did.
fn with_descendants(mut found: Known, child: Option<i32>, all: &[Process]) -> Known {
    // A parent's id is mostly smaller, but not always: until nothing new is found.
    loop {
        let before = found.len();
        for process in all {
            let below = Some(process.parent) == child || found.contains_key(&process.parent);
            if Some(process.id) != child && below {
                found.insert(process.id, process.born);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Ends every process of a mark and all that they started: SIGTERM, then SIGKILL after half a second. Says
/// whether nobody is left.
///
/// A process is of the mark when its environment has `NAME=MARK` of one of `names`, or a marker of a run
/// that begins with `MARK.`. Nobody is found where the system shows no environments (macOS). The caller
/// itself and what it descends from are never ended.
pub fn end_marked(mark: &str, names: &[&str]) -> bool {
    let began = std::time::Instant::now();
    let mut signal = Signal::Term;
    loop {
        let left = marked(mark, names);
        if left.is_empty() {
            return true;
        }
        if began.elapsed() > KERNEL {
            return false;
        }
        signal_each(&left, signal);
        std::thread::sleep(Duration::from_millis(20));
        if began.elapsed() > SHORT_GRACE {
            signal = Signal::Kill;
        }
    }
}

/// Every living process of a mark, by [`end_marked`]'s rule.
fn marked(mark: &str, names: &[&str]) -> Known {
    let all = os::processes(None);
    let run = format!("{MARKER_VAR}={mark}.");
    let own: Vec<String> = names.iter().map(|name| format!("{name}={mark}")).collect();
    let is =
        |entry: &[u8]| entry.starts_with(run.as_bytes()) || own.iter().any(|own| own.as_bytes() == entry);
    let of_it = all.iter().filter(|process| os::has_entry(process.id, is));
    let found = of_it.map(|process| (process.id, process.born)).collect();
    let mut found = with_descendants(found, None, &all);
    let mut above = Some(std::process::id() as i32);
    while let Some(id) = above {
        found.remove(&id);
        above = all.iter().find(|process| process.id == id).map(|process| process.parent).filter(|p| *p > 1);
    }
    found
}

/// The child's id when every process that began after it has a larger one: ids have not begun again
/// since, and the time was too short for a whole round.
pub(super) fn unwrapped(child: i32, lifetime: Duration) -> Option<i32> {
    (lifetime < Duration::from_millis(500) && os::last_id()? >= child).then_some(child)
}

/// Sends a signal to the child's process group.
pub(super) fn signal_group(child: i32, signal: Signal) {
    if let Some(group) = rustix::process::Pid::from_raw(child) {
        let _ = rustix::process::kill_process_group(group, signal.into());
    }
}

/// Sends a signal to each of these processes that is still the same one.
pub(super) fn signal_each(processes: &Known, signal: Signal) {
    for (id, born) in processes {
        os::signal(*id, *born, signal);
    }
}

/// The signals that end a process: asking and not asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Term,
    Kill,
}

impl From<Signal> for rustix::process::Signal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Term => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        }
    }
}

/// A living process; one that only waits to be reaped is none.
pub(super) struct Process {
    id: i32,
    parent: i32,
    born: u64,
}

#[cfg(target_os = "linux")]
mod os {
    use super::{Process, Signal};
    use std::fs;
    use std::io::Read;

    pub(super) fn processes(after: Option<i32>) -> Vec<Process> {
        // None began after it, so there is nothing to look at.
        if after.is_some() && after == last_id() {
            return Vec::new();
        }
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| after.is_none_or(|after| *id > after)).filter_map(process).collect()
    }

    fn process(id: i32) -> Option<Process> {
        // One read gives all of it: three times what the longest line has.
        let mut buffer = [0; 2048];
        let len = fs::File::open(format!("/proc/{id}/stat")).ok()?.read(&mut buffer).ok()?;
        let stat = String::from_utf8_lossy(&buffer[..len]);
        // The name in parentheses may hold anything; the fields after the last one are plain.
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let state = *fields.first()?;
        (state != "Z" && state != "X").then_some(())?;
        Some(Process { id, parent: fields.get(1)?.parse().ok()?, born: fields.get(19)?.parse().ok()? })
    }

    pub(super) fn has_entry(id: i32, is: impl Fn(&[u8]) -> bool) -> bool {
        // No size is told, so that room for most is there from the beginning.
        let mut environment = Vec::with_capacity(32 << 10);
        let file = fs::File::open(format!("/proc/{id}/environ"));
        let _ = file.and_then(|mut file| file.read_to_end(&mut environment));
        environment.split(|b| *b == 0).any(is)
    }

    pub(super) fn last_id() -> Option<i32> {
        fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().next_back()?.parse().ok()
    }

    /// By a descriptor of the process, so that a recycled id is never signalled.
    pub(super) fn signal(id: i32, born: u64, signal: Signal) {
        let Some(pid) = rustix::process::Pid::from_raw(id) else { return };
        let Ok(handle) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
            return;
        };
        if process(id).is_some_and(|p| p.born == born) {
            let _ = rustix::process::pidfd_send_signal(handle, signal.into());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    //! By `ps`: descendants alone, since other systems show no environment. Not run by the tests.
    use super::{Process, Signal};

    pub(super) fn processes(_after: Option<i32>) -> Vec<Process> {
        let Ok(out) = std::process::Command::new("ps").args(["-axo", "pid=,ppid=,stat="]).output() else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let line = |line: &str| {
            let mut fields = line.split_ascii_whitespace();
            let (id, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            (!fields.next()?.starts_with('Z')).then_some(Process { id, parent, born: 0 })
        };
        text.lines().filter_map(line).collect()
    }

    pub(super) fn has_entry(_: i32, _: impl Fn(&[u8]) -> bool) -> bool {
        false
    }

    pub(super) fn last_id() -> Option<i32> {
        None
    }

    pub(super) fn signal(id: i32, _: u64, signal: Signal) {
        if let Some(pid) = rustix::process::Pid::from_raw(id) {
            let _ = rustix::process::kill_process(pid, signal.into());
        }
    }
}
