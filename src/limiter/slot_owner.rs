//! Who holds a slot, and whether that process still lives.

use std::fs;

/// A name for one gate of this process: the id of the process, the time it started (ids are used again), its space
/// of ids (containers), and what tells this gate from others of the process.
pub(super) fn this() -> String {
    let pid = std::process::id();
    format!("{pid}:{}:{}:{:x}", start_of(pid).unwrap_or_default(), space(), fastrand::u64(..))
}

/// Whether the process of that name has ended. Where this system cannot tell, the answer is no, and the lease of
/// the slot decides.
pub(super) fn is_gone(owner: &str) -> bool {
    let Some((process, _gate)) = owner.rsplit_once(':') else { return false };
    let mut parts = process.splitn(3, ':');
    let (Some(pid), Some(start), Some(owners_space)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    if start.is_empty() || owners_space != space() {
        return false;
    }
    start_of(pid).is_none_or(|now| now != start)
}

/// When a process started, in ticks since the machine did; `None` where there is no such process, where it only
/// waits to be buried, and on systems without `/proc`.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so the fields are counted from its end: the state is the third
    // field of proc(5), the start the twenty-second.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

fn space() -> String {
    fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_living_process_is_told_from_a_dead_and_from_a_namesake() {
        let me = this();
        assert!(!is_gone(&me));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = format!("{}:{}:{}:1", child.id(), start_of(child.id()).unwrap(), space());
        assert!(!is_gone(&owner));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&owner));
        assert!(is_gone(&format!("{}:1:{}:1", std::process::id(), space())), "another process had this id before");
        assert!(!is_gone("1:1:another container:1"), "the lease decides there");
    }
}
