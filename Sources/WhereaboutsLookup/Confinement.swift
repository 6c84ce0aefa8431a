internal import CSeccomp
import Glibc

/// What the process gives up for ever before it reads its first request.
enum Confinement {
    /// - Returns: what could not be given up.
    static func enter() -> [String] {
        var faults: [String] = []
        // Requests hold keys, and where the machine is.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 { faults.append("memory images remain") }
        if confine_prctl(PR_SET_DUMPABLE, 0) != 0 { faults.append("others of the user may trace it") }
        // Where the service started it, it dies with the service, even while it is stopped.
        if confine_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL)) != 0 { faults.append("it may outlive the service") }
        return faults + confineThread()
    }

    /// The part that is the calling thread's alone, and that of threads which it starts.
    static func confineThread() -> [String] {
        guard confine_prctl(PR_SET_NO_NEW_PRIVS, 1) == 0 else { return ["new privileges remain possible"] }
        var faults: [String] = []
        if !FileRules.apply() { faults.append("files remain readable, as far as they are to the user") }
        if !CallFilter.apply() { faults.append("every system call remains possible") }
        return faults
    }
}

/// Landlock: of all files only those that names and certificates are looked up in.
enum FileRules {
    /// Whether the kernel has Landlock, and has it switched on.
    static var isSupported: Bool { landlock_version() > 0 }

    /// Everything that `version` of the interface can forbid (linux/landlock.h): 13 rights from the first one on, then
    /// linking elsewhere, truncating, and commands to devices.
    private static func rights(_ version: Int32) -> UInt64 {
        switch version {
        case 1: (1 << 13) - 1
        case 2: (1 << 14) - 1
        case 3, 4: (1 << 15) - 1
        default: (1 << 16) - 1
        }
    }

    private static let readFile: UInt64 = 1 << 2
    private static let readFolder: UInt64 = 1 << 3

    /// Folders where files get replaced stand for them, because a rule is about the very file that is there now.
    private static let readable = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
        "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",
        "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies", "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates", "/usr/share/pki", "/usr/share/crypto-policies",
        "/var/lib/ca-certificates", "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache",
    ]

    /// A kernel without Landlock is nobody's fault.
    static func apply() -> Bool {
        let version = landlock_version()
        guard version > 0 else { return true }
        var rules = landlock_rules()
        rules.handled_access_fs = rights(version)
        // Of TCP ports none can be offered; of others' processes none can be signalled, and none be reached by a
        // socket without a file.
        if version >= 4 { rules.handled_access_net = 1 }
        if version >= 6 { rules.scoped = 3 }
        let ruleset = landlock_create(&rules)
        guard ruleset >= 0 else { return false }
        defer { close(ruleset) }
        let certificates = getenv("SSL_CERT_FILE").map { [String(cString: $0)] } ?? []
        for path in readable + certificates where !allow(path, in: ruleset) { return false }
        return landlock_restrict(ruleset) == 0
    }

    /// O_PATH, which is one of those that the C library shows on demand only.
    private static let pathOnly: Int32 = 0x20_0000

    private static func allow(_ path: String, in ruleset: Int32) -> Bool {
        let descriptor = open(path, pathOnly | O_CLOEXEC)
        // What is not there need not be read.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        return landlock_allow(ruleset, descriptor, isFolder ? readFile | readFolder : readFile) == 0
    }
}

/// seccomp: the system calls of glibc's resolver, OpenSSL and libcurl. Any other one is as if the kernel lacked it, so
/// that the libraries do without where they can.
enum CallFilter {
    private static let allowed = [
        // Memory and threads.
        "brk", "munmap", "mremap", "madvise", "futex", "futex_time64", "set_robust_list", "rseq", "membarrier",
        "sched_yield", "sched_getaffinity", "exit", "exit_group", "restart_syscall",
        "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
        // Open files.
        "read", "readv", "pread64", "write", "writev", "close", "lseek", "_llseek", "fstat", "fstat64", "fstatat64",
        "newfstatat", "statx", "stat", "lstat", "stat64", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "getdents64", "fcntl", "fcntl64", "poll", "ppoll", "ppoll_time64", "pipe2", "eventfd2",
        // Connections.
        "connect", "accept", "accept4", "getsockname", "getpeername", "getsockopt", "setsockopt", "sendto", "sendmsg",
        "sendmmsg", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64", "shutdown",
        // What the process is, and what time it is.
        "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getrandom", "uname", "sysinfo", "alarm",
        "setitimer", "clock_gettime", "clock_gettime64", "clock_getres", "clock_nanosleep", "clock_nanosleep_time64",
        "nanosleep", "gettimeofday", "time",
    ]

    /// Calls with what their arguments may be: those named must be the value in the bits of the mask.
    private static let conditional: [(call: String, arguments: [(index: UInt32, mask: UInt64, value: UInt64)])] = [
        // Never writing, never making a file.
        ("openat", [(2, UInt64(O_ACCMODE | O_CREAT | O_TRUNC | 0x40_0000 /* O_TMPFILE */), UInt64(O_RDONLY))]),
        // No memory both writable and executable, none that becomes executable.
        ("mmap", [(2, UInt64(PROT_WRITE), 0)]), ("mmap", [(2, UInt64(PROT_EXEC), 0)]),
        ("mmap2", [(2, UInt64(PROT_WRITE), 0)]), ("mmap2", [(2, UInt64(PROT_EXEC), 0)]),
        ("mprotect", [(2, UInt64(PROT_EXEC), 0)]),
        // No socket of the machine's own kind: the bus would take the process for the daemon, whose user it has.
        ("socket", [(0, number, UInt64(AF_INET))]), ("socket", [(0, number, UInt64(AF_INET6))]),
        ("socketpair", [(0, number, UInt64(AF_UNIX))]),
        ("ioctl", [(1, number, UInt64(FIONREAD))]), ("ioctl", [(1, number, UInt64(FIONBIO))]),
        // Threads, not processes. Of clone3, whose arguments a filter cannot see, there is no need then.
        ("clone", [(0, threadFlags, threadFlags)]),
        // Limits are read, not set.
        ("prlimit64", [(2, .max, 0)]),
    ]

    /// All of an argument that is an `int`.
    private static let number: UInt64 = 0xFFFF_FFFF

    /// CLONE_VM | CLONE_SIGHAND | CLONE_THREAD (linux/sched.h).
    private static let threadFlags: UInt64 = 0x100 | 0x800 | 0x10000

    static func apply() -> Bool {
        guard let filter = seccomp_init(failure(ENOSYS)) else { return false }
        defer { seccomp_release(filter) }
        for name in allowed where !add(filter, SCMP_ACT_ALLOW, name) { return false }
        for (name, arguments) in conditional {
            let rules = arguments.map {
                scmp_arg_cmp(arg: $0.index, op: SCMP_CMP_MASKED_EQ, datum_a: $0.mask, datum_b: $0.value)
            }
            guard add(filter, SCMP_ACT_ALLOW, name, rules) else { return false }
        }
        return seccomp_load(filter) == 0
    }

    private static func failure(_ code: Int32) -> UInt32 { 0x0005_0000 | UInt32(code) }

    private static func add(
        _ filter: scmp_filter_ctx, _ action: UInt32, _ name: String, _ arguments: [scmp_arg_cmp] = []
    ) -> Bool {
        let number = seccomp_syscall_resolve_name(name)
        // Not every architecture has every call.
        guard number != __NR_SCMP_ERROR else { return true }
        return seccomp_rule_add_array(filter, action, number, UInt32(arguments.count), arguments) == 0
    }
}
