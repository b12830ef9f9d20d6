// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search2": SEARCH 2.0, delivered bytes against twice those of one RTT ago. */
#define SEARCH_NAME "search2"
#define SEARCH_VERSION SEARCH_2
#include "tcp_search.h"
