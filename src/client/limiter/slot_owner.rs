//! Identity of the process that owns a slot, and whether that process still runs.

use std::fs;

/// Identifies one shared state of this process: the process id, its start time (ids are reused), its pid namespace
/// (containers), and a random number for several states in one process.
pub(super) fn current() -> String {
    let pid = std::process::id();
    format!("{pid}:{}:{}:{:x}", start_time(pid).unwrap_or_default(), pid_namespace(), fastrand::u64(..))
}

/// Whether the owner's process has ended. Returns false if this system cannot determine it; then the lease of the slot
/// decides.
pub(super) fn is_gone(owner: &str) -> bool {
    let Some((process, _state)) = owner.rsplit_once(':') else { return false };
    let mut fields = process.splitn(3, ':');
    let (Some(pid), Some(start), Some(owner_namespace)) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    if start.is_empty() || owner_namespace != pid_namespace() {
        return false;
    }
    start_time(pid).is_none_or(|now| now != start)
}

/// When a process started, in clock ticks since boot. `None` if there is no such process, if it is a zombie, and on
/// systems without `/proc`.
fn start_time(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain any character, so fields are counted from its end. The state is field 3, the
    // start time field 22 (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>).
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

fn pid_namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn ended_process_and_reused_id_are_gone() {
        let me = current();
        assert!(!is_gone(&me));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = format!("{}:{}:{}:1", child.id(), start_time(child.id()).unwrap(), pid_namespace());
        assert!(!is_gone(&owner));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&owner));
        assert!(
            is_gone(&format!("{}:1:{}:1", std::process::id(), pid_namespace())),
            "another process had this id before"
        );
        assert!(!is_gone("1:1:another container:1"), "the lease decides there");
    }
}
