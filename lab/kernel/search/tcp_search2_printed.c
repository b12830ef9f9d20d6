// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search2_printed": SEARCH 2.0, Algorithm 1 as the thesis prints it. */
#define SEARCH_NAME "search2_printed"
#define SEARCH_VERSION SEARCH_2_PRINTED
#include "tcp_search.h"
