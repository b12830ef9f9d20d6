/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FUNCTIONS_SLOW_START_H
#define FUNCTIONS_SLOW_START_H

#include <net/tcp.h>

void slow_start_left(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, const char *cause);
void slow_start_reducing(struct sock *sk, bool *reducing);
void slow_start_reduced(struct sock *sk, u8 new_state, bool *reducing);

#endif
