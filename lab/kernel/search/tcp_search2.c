// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search2": SEARCH 2.0 as its code was published, of which the thesis reports. */
#define SEARCH_NAME "search2"
#define SEARCH_VERSION SEARCH_2
#include "tcp_search.h"
