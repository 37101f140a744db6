//! Huge pages for weights.

/// Smaller buffers hardly gain.
#[cfg(all(feature = "system", target_os = "linux"))]
const SMALLEST: usize = 4 << 20;

/// A vector of `len` times `value`, on huge pages where the system has them: a product walks over
/// hundreds of megabytes of weights, and with small pages the processor looks up an address for
/// every 4 kB of them.
///
/// Only a hint: without huge pages everything works, a little slower.
pub(crate) fn filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(len);
    advise(values.spare_capacity_mut());
    values.resize(len, value);
    values
}

#[cfg(all(feature = "system", target_os = "linux"))]
fn advise<T>(room: &mut [T]) {
    const PAGE: usize = 4096;
    let bytes = size_of_val(room);
    let start = room.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    if bytes < SMALLEST || skipped >= bytes {
        return;
    }
    // SAFETY: the range lies within memory we own and starts on a page; advice about the size of
    // pages does not change what the memory holds.
    unsafe {
        let start = start.add(skipped).cast();
        libc::madvise(start, (bytes - skipped) / PAGE * PAGE, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(all(feature = "system", target_os = "linux")))]
fn advise<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_vectors_hold_what_was_asked_for() {
        for len in [0, 1, 1000, 3 << 20] {
            let values = filled(7_u16, len);
            assert_eq!(values.len(), len);
            assert!(values.iter().all(|&value| value == 7));
        }
    }
}
