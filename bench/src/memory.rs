//! The memory of this process, as Linux tells it.

use std::fs;

/// A page, on the machines that this is measured on.
const PAGE: u64 = 4_096;

/// The memory of this process that is really there, in bytes: its resident set, as in `/proc/self/statm`.
///
/// That is what a machine runs out of: it includes what the allocator keeps for itself, and it costs the workloads nothing,
/// which an allocator that counts would.
///
/// # Errors
///
/// Says that there is no such file here: this is measured on Linux alone.
pub(crate) fn resident() -> Result<u64, String> {
    let statm = fs::read_to_string("/proc/self/statm").map_err(|error| {
        format!("/proc/self/statm: {error} (memory is measured on Linux alone)")
    })?;
    statm
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .map(|pages| pages * PAGE)
        .ok_or_else(|| format!("/proc/self/statm reads {statm:?}"))
}
