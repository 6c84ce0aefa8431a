internal import CLinux

/// What the process does about itself as a whole.
package enum ThisProcess {
    /// Lets no other process of the same user trace it, read its memory, or take its descriptors (prctl(2),
    /// PR_SET_DUMPABLE). There are no memory images of it then, either.
    package static func hideFromPeers() {
        // Fails for unknown values only.
        _ = linux_set_dumpable(0)
    }
}
