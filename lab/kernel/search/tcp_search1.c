// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search1": SEARCH 1.0, delivered bytes against sent ones. */
#define SEARCH_NAME "search1"
#define SEARCH_VERSION SEARCH_1
#include "tcp_search.h"
