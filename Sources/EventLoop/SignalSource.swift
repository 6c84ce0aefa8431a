internal import CLinux
import Glibc

/// Turns Unix signals into calls on the loop. Make it before any thread starts: the signals are blocked in the
/// calling thread and inherited so.
@ServiceActor
package final class SignalSource {
    private let descriptor: FileDescriptor
    private var watch: Watch?

    /// Calls `handler` with the signal's number for each arrival of one of `signals`.
    package init(_ signals: [Int32], handler: @escaping @ServiceActor (Int32) -> Void) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = FileDescriptor(
            adopting: signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK)))
        let raw = descriptor.raw
        watch = Watch(raw, for: .readable) { _ in
            var info = signalfd_siginfo()
            while read(raw, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size {
                handler(Int32(info.ssi_signo))
            }
        }
    }
}
