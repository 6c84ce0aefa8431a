import EventLoop

/// The loop's timer, in files that know Foundation's, too.
typealias LoopTimer = Timer
