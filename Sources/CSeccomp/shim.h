#include <errno.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Swift calls no function of a variable number of arguments. */

static inline int confine_prctl(int option, unsigned long value) { return prctl(option, value, 0, 0, 0); }

/* Landlock has no functions in the C library. The numbers are the same on every architecture; the structure is that of
   version 6 of the interface, of which older kernels take any beginning as long as the rest is zero. */

struct landlock_rules {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

static inline int landlock_version(void) { return (int)syscall(444, (void *)0, 0, 1); }

static inline int landlock_create(const struct landlock_rules *rules) {
    return (int)syscall(444, rules, sizeof *rules, 0);
}

static inline int landlock_allow(int ruleset, int path, uint64_t access) {
    struct {
        uint64_t allowed_access;
        int32_t parent_fd;
    } __attribute__((packed)) rule = {access, path};
    return (int)syscall(445, ruleset, 1, &rule, 0);
}

static inline int landlock_restrict(int ruleset) { return (int)syscall(446, ruleset, 0); }
