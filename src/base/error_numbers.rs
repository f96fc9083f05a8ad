//! Numbers of system errors as C and Python's `errno` have them, on every system.

use std::io;

const ENOENT: i32 = 2;
/// A lack of memory.
pub const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EEXIST: i32 = 17;
const EXDEV: i32 = 18;
const ENOTDIR: i32 = 20;
const EINVAL: i32 = 22;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const EPIPE: i32 = 32;
const ENOTEMPTY: i32 = 41;

/// Codes of Windows and the C error numbers that its C library and Python map them to. All other codes are
/// `EINVAL` there (<https://github.com/python/cpython/blob/main/PC/errmap.h>).
const WINDOWS_NUMBERS: &[(i32, &[i32])] = &[
    (ENOENT, &[2, 3, 15, 53, 67, 123, 161, 206]),
    (ENOMEM, &[7, 8, 9, 14, 1455]),
    (EACCES, &[5, 16, 19, 21, 32, 33, 65, 82, 83, 108, 167, 1920]),
    (EEXIST, &[80, 183]),
    (EXDEV, &[17]),
    (ENOTDIR, &[267]),
    (EMFILE, &[4]),
    (ENOSPC, &[39, 112, 1295]),
    (EPIPE, &[109, 232]),
    (ENOTEMPTY, &[145]),
];

/// Codes of Windows sockets, which `errno` of Python has unchanged.
const SOCKET_CODES: std::ops::Range<i32> = 10_000..12_000;

/// The C error number of a system error. `None` if the system did not cause it.
#[must_use]
pub fn error_number(cause: &io::Error) -> Option<i32> {
    let code = cause.raw_os_error()?;
    Some(if cfg!(windows) { windows_number(code) } else { code })
}

fn windows_number(code: i32) -> i32 {
    if SOCKET_CODES.contains(&code) {
        return code;
    }
    WINDOWS_NUMBERS.iter().find(|(_, codes)| codes.contains(&code)).map_or(EINVAL, |(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_windows_are_the_numbers_that_python_has() {
        let cases = [
            ("a missing folder", 3, 2),
            ("denied access", 5, 13),
            ("a file that another process uses", 32, 13),
            ("an existing file", 183, 17),
            ("a full disk", 112, 28),
            ("no memory, which is no defect of an archive", 8, ENOMEM),
            ("a port in use", 10_048, 10_048),
            ("any other code", 1, 22),
        ];
        for (name, code, number) in cases {
            assert_eq!(windows_number(code), number, "{name}");
        }
    }

    #[test]
    fn missing_file_has_the_same_number_on_every_system() {
        let cause = std::fs::File::open("there is no such folder/a.zip").unwrap_err();
        assert_eq!(error_number(&cause), Some(2));
        assert_eq!(error_number(&io::Error::other("not of the system")), None);
    }
}
