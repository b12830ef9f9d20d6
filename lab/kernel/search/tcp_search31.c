// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search31": SEARCH 3.1, as 2.0, in the private bytes of the socket. */
#define SEARCH_NAME "search31"
#define SEARCH_VERSION SEARCH_31
#define SEARCH_IN_SOCKET
#include "tcp_search.h"
