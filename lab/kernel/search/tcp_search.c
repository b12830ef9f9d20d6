// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search": the version this lab recommends (search_versions.h says why). */
#define SEARCH_NAME "search"
#define SEARCH_VERSION SEARCH_BEST
#include "tcp_search.h"
