//! Gives a process a session of its own.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Gives the child a session of its own, and on Linux, `with_thread`, its end with the thread that starts it.
pub(crate) fn own_session(child: &mut Command, with_thread: bool) {
    #[cfg(not(target_os = "linux"))]
    let _ = with_thread;
    let between = move || {
        rustix::process::setsid()?;
        #[cfg(target_os = "linux")]
        if with_thread {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only the system calls setsid and prctl are made, which are
    // async-signal-safe.
    #[expect(unsafe_code, reason = "a session of its own needs a step between fork and exec")]
    unsafe {
        child.pre_exec(between);
    }
}
