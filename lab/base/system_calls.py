# SPDX-License-Identifier: GPL-2.0-or-later
"""What a virtual kernel and a build may call of the host; the lists were measured with strace over the lab's tests.

None has sockets (but a pair that a kernel or cargo makes for itself), keys, namespaces, mounts, System V memory,
io_uring, or the limits, memory and tracing of processes that it did not start. A virtual kernel changes files by
descriptors only: Landlock does not see chmod(2) and utime(2).
Neither makes a file that runs with its owner's rights: what a build writes is the user's own, where others may see it.
"""

from collections.abc import Iterable

from lab.base.seccomp import Rule, at_most, calls, equal, masked, without

NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* of clone(2)
CLONE_PARENT = 0x8000
SET_USER_BITS = 0o6000  # setuid and setgid
WRITABLE = 0o022  # for group and others
MOST_PID = 1 << 22  # of 64-bit Linux; a negative one is a whole group
F_SETOWN = 8  # whom a descriptor sends signals
F_OF_DESCRIPTORS = (*range(F_SETOWN), 10, 36, 37, 38, 1030)  # flags, locks, copies, and which signal
F_OF_PIPES = (1031, 1032, 1033, 1034)  # sizes, seals
TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FICLONE = (
    *(0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5451),
    0x40049409,
)
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
PTRACE_ATTACH = 16  # below it: what a tracer asks of its child
PTRACE_OLDSETOPTIONS = 21
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_SET_MODE_FILTER = 1
BESIDE_PARENT = 0x8411  # CLONE_PARENT, CLONE_FILES and SIGCHLD: the new process stays below who watches the kernel
AF_UNIX, ADDR_NO_RANDOMIZE = 1, 0x40000
PTRACE_RANGES = ((~7, 24), (~0, 32), (~3, 0x4200), (~1, 0x4204))  # (mask, value); no SEIZE, which is 0x4206

FILES = """access close dup dup2 dup3 faccessat faccessat2 fallocate fdatasync fstat fstatfs fsync ftruncate getdents64
    lseek lstat newfstatat pread64 preadv pwrite64 pwritev read readlink readlinkat readv stat statfs statx write
    writev link linkat rename renameat renameat2 rmdir symlink symlinkat unlink unlinkat"""
MEMORY = "brk madvise memfd_create mprotect mremap msync munmap"
TIME = """clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time timer_create timer_delete
    timer_getoverrun timer_gettime timer_settime"""
SIGNALS = """alarm pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend
    rt_sigtimedwait sigaltstack"""
PROCESSES = """arch_prctl execve execveat exit exit_group fork futex get_robust_list getcpu getegid geteuid getgid
    getgroups getpgid getpgrp getpid getppid getresgid getresuid getrandom getrlimit getrusage getsid gettid getuid
    membarrier rseq sched_getaffinity sched_yield set_robust_list set_tid_address sysinfo times umask uname vfork wait4
    waitid"""
EVENTS = """epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 pipe pipe2 poll ppoll pselect6
    select"""
DROPPING = "capget capset setgid setgroups setresgid setresuid setuid"  # setpriv: root's own rights, to nobody's
PR_OF_RIGHTS = (23, 24, 27, 28, 47)  # bounding set, secure bits, ambient set
BUILDING = """chdir chown copy_file_range fadvise64 fchdir fchown fchownat flock futimesat getcwd getpriority getxattr
    fgetxattr lgetxattr listxattr flistxattr llistxattr lchown mincore mlock munlock prctl sched_getparam
    sched_getscheduler sched_get_priority_max sched_get_priority_min sched_setaffinity sendfile setitimer getitimer
    setpgid setrlimit setsid splice sync_file_range tee tgkill tkill truncate utime utimensat utimes vmsplice"""


def kernel(pid: int | None = None) -> list[Rule]:
    """Return what a virtual kernel may call; `pid`: its own, where other processes are in sight."""
    owner = [equal(2, pid)] if pid is not None else []
    sender = [equal(0, pid)] if pid is not None else [at_most(0, MOST_PID)]
    return [
        *_common(),
        *_other_versions(),
        *calls("fchmod", without(1, SET_USER_BITS | WRITABLE)),  # what it reads may belong to the user
        *calls("fchown"),
        *calls("utimensat", equal(1, 0)),  # of an open file
        *calls("fcntl", equal(1, F_SETOWN), *owner),
        *calls("tgkill", *sender),
        *calls("ptrace", at_most(0, PTRACE_ATTACH - 1)),
        *(rule for mask, value in PTRACE_RANGES for rule in calls("ptrace", masked(0, mask, value))),
        *calls("prctl", at_most(0, 16)),  # names, signals and states of this process
        *calls("mmap", without(3, MAP_ANONYMOUS)),
        *calls("mmap", masked(3, MAP_SHARED | MAP_ANONYMOUS, MAP_ANONYMOUS)),  # memory that can be counted: watched.py
    ]


def trapping_kernel(pid: int | None = None) -> list[Rule]:
    """Return what a virtual kernel may call that traps its programs by filters of its own (seccomp=auto, Linux 7).

    It sends them its memory over a socket, and shares pages with them, which nothing counts: none with code of a user.
    """
    return [
        *kernel(pid),
        *calls("seccomp", equal(0, SECCOMP_SET_MODE_FILTER)),
        *calls("recvmsg sendmsg"),
        *calls("mmap", masked(3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)),
    ]


def _other_versions() -> list[Rule]:
    """Return what kernels other than 6.12 need: 6.1, and 7.2 and later."""
    return [
        *calls("ptrace", equal(0, PTRACE_OLDSETOPTIONS)),
        *calls("clone", equal(0, BESIDE_PARENT)),
        *calls("close_range signalfd4"),
        *calls("personality", equal(0, ADDR_NO_RANDOMIZE)),
        *calls("prctl", equal(0, PR_SET_NO_NEW_PRIVS)),
        *calls("socketpair", equal(0, AF_UNIX)),  # a pipe of two ways: no call of sockets is allowed on it
    ]


def build() -> list[Rule]:
    """Return what a build may call; it has its own view of files and processes."""
    return [
        *_common(),
        *calls(f"{BUILDING} mmap"),
        *calls("socketpair", equal(0, AF_UNIX)),  # cargo reads from one whether a compiler began
        *calls("recvfrom sendto", equal(4, 0)),  # without an address
        *calls("chmod fchmod", without(1, SET_USER_BITS)),
        *calls("fchmodat fchmodat2", without(2, SET_USER_BITS)),
        *_each("ioctl", 1, (TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FICLONE)),
        *_each("fcntl", 1, (F_SETOWN, *F_OF_PIPES)),
    ]


def dropping(rules: list[Rule]) -> list[Rule]:
    """Return the rules of a program that root starts: setpriv first gives up root's rights."""
    return [*rules, *calls(DROPPING), *_each("prctl", 0, PR_OF_RIGHTS)]


def _each(call: str, argument: int, values: Iterable[int]) -> list[Rule]:
    """Return rules that allow a call with one of some values."""
    return [rule for value in values for rule in calls(call, equal(argument, value))]


def _common() -> list[Rule]:
    return [
        *calls(" ".join((FILES, MEMORY, TIME, SIGNALS, PROCESSES, EVENTS))),
        *calls("open", without(2, SET_USER_BITS)),  # openat2 has its mode in memory, which no filter reads
        *calls("openat", without(3, SET_USER_BITS)),
        *calls("creat mkdir mknod", without(1, SET_USER_BITS)),
        *calls("mkdirat mknodat", without(2, SET_USER_BITS)),
        *calls("clone", without(0, NEW_NAMESPACES | CLONE_PARENT)),
        *calls("kill", at_most(0, MOST_PID)),
        *calls("prlimit64", equal(0, 0)),
        *_each("fcntl", 1, F_OF_DESCRIPTORS),
        *_each("ioctl", 1, (TCGETS, TIOCGWINSZ)),
    ]
