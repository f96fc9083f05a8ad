//! Wraps the default `SQLite` VFS so that it fails on request, and counts writes, syncs and other operations by thread.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;
use std::sync::Once;

use rusqlite::ffi::{
    SQLITE_FULL, SQLITE_IOERR_DELETE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_TRUNCATE,
    SQLITE_IOERR_WRITE, SQLITE_OK, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find,
    sqlite3_vfs_register,
};

/// How the disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk is full.
    Full,
    /// The device reports an error.
    Broken,
    /// The process is killed.
    Killed,
}

thread_local! {
    /// The operation of this thread that fails, how it fails, and whether all later ones fail, too.
    static PLAN: Cell<Option<(u32, Fault, bool)>> = const { Cell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static READS: Cell<u32> = const { Cell::new(0) };
}

/// Number of reads of this thread since the last call.
pub(crate) fn reads() -> u32 {
    READS.replace(0)
}

/// Makes the operation with this number fail on this thread; `None` disables it. Returns the number of operations so
/// far.
pub(crate) fn plan(plan: Option<(u32, Fault, bool)>) -> u32 {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(register);
    PLAN.set(plan);
    COUNT.replace(0)
}

/// Ends this process as `kill -9` does.
pub(crate) fn die() -> ! {
    let kill = format!("kill -9 {}", std::process::id());
    drop(std::process::Command::new("sh").args(["-c", &kill]).status());
    unreachable!("this process was killed")
}

fn fails(broken: c_int, may_be_full: bool) -> Option<c_int> {
    let count = COUNT.get();
    COUNT.set(count + 1);
    let (at, fault, on) = PLAN.get()?;
    if count < at || (count > at && !on) {
        return None;
    }
    match fault {
        Fault::Broken => Some(broken),
        Fault::Full => may_be_full.then_some(SQLITE_FULL),
        Fault::Killed => die(),
    }
}

/// The file structure that `SQLite` uses; the real one follows it in memory.
#[repr(C)]
struct Wrapped {
    base: sqlite3_file,
}

fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: `register` requests memory for both.
    unsafe { file.cast::<Wrapped>().add(1).cast() }
}

/// Calls a method of the real file.
macro_rules! forward {
    ($name:ident($($argument:ident: $kind:ty),*) -> $result:ty) => {
        #[allow(non_snake_case, reason = "SQLite's names")]
        unsafe extern "C" fn $name(file: *mut sqlite3_file, $($argument: $kind),*) -> $result {
            let file = real(file);
            // SAFETY: SQLite passes a file that `open` opened.
            unsafe { (*(*file).pMethods).$name.unwrap()(file, $($argument),*) }
        }
    };
    ($name:ident($($argument:ident: $kind:ty),*) -> c_int, $fault:expr, $full:expr) => {
        #[allow(non_snake_case, reason = "SQLite's names")]
        unsafe extern "C" fn $name(file: *mut sqlite3_file, $($argument: $kind),*) -> c_int {
            if let Some(code) = fails($fault, $full) {
                return code;
            }
            let file = real(file);
            // SAFETY: as above.
            unsafe { (*(*file).pMethods).$name.unwrap()(file, $($argument),*) }
        }
    };
}

forward!(xClose() -> c_int);
forward!(xTruncate(size: sqlite3_int64) -> c_int, SQLITE_IOERR_TRUNCATE, false);
forward!(xSync(flags: c_int) -> c_int, SQLITE_IOERR_FSYNC, false);
forward!(xFileSize(size: *mut sqlite3_int64) -> c_int);
forward!(xLock(lock: c_int) -> c_int);
forward!(xUnlock(lock: c_int) -> c_int);
forward!(xCheckReservedLock(found: *mut c_int) -> c_int);
forward!(xFileControl(operation: c_int, argument: *mut c_void) -> c_int);
forward!(xSectorSize() -> c_int);
forward!(xDeviceCharacteristics() -> c_int);
forward!(xShmLock(offset: c_int, n: c_int, flags: c_int) -> c_int);
forward!(xShmBarrier() -> ());
forward!(xShmUnmap(delete: c_int) -> c_int);
forward!(xFetch(offset: sqlite3_int64, amount: c_int, page: *mut *mut c_void) -> c_int);
forward!(xUnfetch(offset: sqlite3_int64, page: *mut c_void) -> c_int);

#[allow(non_snake_case, reason = "SQLite's names")]
unsafe extern "C" fn xRead(file: *mut sqlite3_file, to: *mut c_void, amount: c_int, offset: sqlite3_int64) -> c_int {
    READS.set(READS.get() + 1);
    let file = real(file);
    // SAFETY: as above.
    unsafe { (*(*file).pMethods).xRead.unwrap()(file, to, amount, offset) }
}

/// A failed write has written half of the data.
#[allow(non_snake_case, reason = "SQLite's names")]
unsafe extern "C" fn xWrite(
    file: *mut sqlite3_file,
    from: *const c_void,
    amount: c_int,
    offset: sqlite3_int64,
) -> c_int {
    let fault = fails(SQLITE_IOERR_WRITE, true);
    let file = real(file);
    let amount = if fault.is_some() { amount / 2 } else { amount };
    // SAFETY: as above.
    let code = unsafe { (*(*file).pMethods).xWrite.unwrap()(file, from, amount, offset) };
    fault.unwrap_or(code)
}

#[allow(non_snake_case, reason = "SQLite's names")]
unsafe extern "C" fn xShmMap(
    file: *mut sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    page: *mut *mut c_void,
) -> c_int {
    if extend != 0
        && let Some(code) = fails(SQLITE_IOERR_SHMSIZE, true)
    {
        return code;
    }
    let file = real(file);
    // SAFETY: as above.
    unsafe { (*(*file).pMethods).xShmMap.unwrap()(file, region, size, extend, page) }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 3,
    xClose: Some(xClose),
    xRead: Some(xRead),
    xWrite: Some(xWrite),
    xTruncate: Some(xTruncate),
    xSync: Some(xSync),
    xFileSize: Some(xFileSize),
    xLock: Some(xLock),
    xUnlock: Some(xUnlock),
    xCheckReservedLock: Some(xCheckReservedLock),
    xFileControl: Some(xFileControl),
    xSectorSize: Some(xSectorSize),
    xDeviceCharacteristics: Some(xDeviceCharacteristics),
    xShmMap: Some(xShmMap),
    xShmLock: Some(xShmLock),
    xShmBarrier: Some(xShmBarrier),
    xShmUnmap: Some(xShmUnmap),
    xFetch: Some(xFetch),
    xUnfetch: Some(xUnfetch),
};

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: `register` put the real VFS into `pAppData` of a copy that is never freed.
    unsafe {
        let system: *mut sqlite3_vfs = (*vfs).pAppData.cast();
        let inner = real(file);
        let code = (*system).xOpen.unwrap()(system, name, inner, flags, out);
        (*file).pMethods = if (*inner).pMethods.is_null() { std::ptr::null() } else { &raw const METHODS };
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    if let Some(code) = fails(SQLITE_IOERR_DELETE, false) {
        return code;
    }
    // SAFETY: as in `open`.
    unsafe {
        let system: *mut sqlite3_vfs = (*vfs).pAppData.cast();
        (*system).xDelete.unwrap()(system, name, sync)
    }
}

/// Wraps the default VFS of the system and makes the wrapper the default.
fn register() {
    // SAFETY: SQLite owns the found structure and never frees it. The copy is leaked, since it must also stay. The
    // methods that are not replaced use only fields that the copy has from the original.
    unsafe {
        let system = sqlite3_vfs_find(std::ptr::null());
        let mut wrapped = *system;
        wrapped.szOsFile += c_int::try_from(size_of::<Wrapped>()).unwrap();
        wrapped.zName = c"failing".as_ptr();
        wrapped.pAppData = system.cast();
        wrapped.pNext = std::ptr::null_mut();
        wrapped.xOpen = Some(open);
        wrapped.xDelete = Some(delete);
        assert_eq!(sqlite3_vfs_register(Box::into_raw(Box::new(wrapped)), 1), SQLITE_OK);
    }
}
