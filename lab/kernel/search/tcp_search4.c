// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search4": SEARCH 4.0, delivered bytes against sent ones, then a drain. */
#define SEARCH_NAME "search4"
#define SEARCH_VERSION SEARCH_4
#define SEARCH_DRAINS
#include "tcp_search.h"
