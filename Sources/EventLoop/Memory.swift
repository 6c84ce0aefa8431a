internal import CLinux

/// The process's heap.
package enum Memory {
    /// Gives the pages that are free back to the system, which the allocator does by itself only from the heap's end.
    ///
    /// Takes about a millisecond for each ten megabytes.
    package static func releaseUnused() { malloc_trim(0) }
}
