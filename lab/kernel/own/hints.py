# SPDX-License-Identifier: GPL-2.0-or-later
"""What to do about complaints that users of congestion control modules meet on Linux 6.12."""

import re

SIGNATURES = {
    "cong_control": "void (*)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs), since Linux 6.10",
    "cong_avoid": "void (*)(struct sock *sk, u32 ack, u32 acked)",
    "ssthresh": "u32 (*)(struct sock *sk)",
    "pkts_acked": "void (*)(struct sock *sk, const struct ack_sample *sample)",
    "in_ack_event": "void (*)(struct sock *sk, u32 flags)",
    "set_state": "void (*)(struct sock *sk, u8 new_state)",
    "undo_cwnd": "u32 (*)(struct sock *sk)",
    "init": "void (*)(struct sock *sk)",
    "release": "void (*)(struct sock *sk)",
}
HOOKS = "; ".join(f".{name} is {signature}" for name, signature in SIGNATURES.items() if name in ("cong_control",))
HINTS = (
    (
        r"sizeof.*ICSK_CA_PRIV_SIZE|BUILD_BUG_ON failed.*(CA_PRIV|104)",
        "a socket has 104 bytes for the state: allocate the rest in init (kzalloc, GFP_ATOMIC) and free it in release",
    ),
    (
        r"incompatible (pointer type|function pointer)",
        f"the hook's arguments must be those of struct tcp_congestion_ops: {HOOKS}",
    ),
    (r"initializer-string for array of .char. is too long", "an algorithm's name has at most 15 characters"),
    (
        r"has no member named .*(icsk_ca_priv)",
        "use inet_csk_ca(sk)",
    ),
    (r"missing MODULE_LICENSE", 'add MODULE_LICENSE("GPL")'),
    (
        r"GPL-incompatible module|GPL-only symbol",
        'the kernel gives congestion control to modules of a GPL licence only: MODULE_LICENSE("GPL")',
    ),
    (r'"tcp_(?!register|unregister)\w+".*undefined!', "the kernel does not export this function to modules: copy it"),
    (r"undefined!", "no module may use it: the kernel does not export it, or its file is missing in obj-m"),
    (r"implicit declaration of function .prandom_u32", "use get_random_u32()"),
    (r"implicit declaration of function .(tcp_time_stamp|tcp_jiffies32)\b", "use tcp_jiffies32"),
    (r"implicit declaration of function .(del_timer|del_timer_sync)", "use timer_delete(), timer_delete_sync()"),
    (r"has no member named .snd_cwnd", "use tcp_snd_cwnd(tp) and tcp_snd_cwnd_set(tp, ...)"),
    (r"No such file or directory", "only headers of the kernel, of the module's folder, and slow_start.h are there"),
)
COMPILED = [(re.compile(pattern), hint) for pattern, hint in HINTS]


def hint_of(message: str) -> str:
    """Return the hint for a message, in brackets; empty where none is known."""
    return next((f" ({hint})" for pattern, hint in COMPILED if pattern.search(message)), "")
