// SPDX-License-Identifier: GPL-2.0-or-later
/* tcp_search_core: what the modules of all versions share, the core and its tracepoints. */
#include <linux/module.h>

#include "search_core.h"

#define CREATE_TRACE_POINTS
#include "search_trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(search_bin);
EXPORT_TRACEPOINT_SYMBOL_GPL(search_ack);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SEARCH: Slow start Exit At Right CHokepoint, the algorithm");
