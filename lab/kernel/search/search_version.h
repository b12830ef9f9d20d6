/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of SEARCH in user space.  A version's file, tcp_search*.c, defines its name
 * and parameters and includes tcp_search.h, which in user space is this header alone: it
 * puts a pointer to them into a section, and the linker makes one array of all files'
 * sections.  So a new file is a new version of libsearch_replay.so, too.
 */
#ifndef SEARCH_VERSION_H
#define SEARCH_VERSION_H

#include "search_core.h"

struct search_version {
	const char *name;	/* of the congestion control */
	struct search_params params;
	bool compact;		/* a flow's state lies in its socket */
};

/* The linker defines both ends of a section whose name is an identifier. */
extern const struct search_version *const __start_search_versions[];
extern const struct search_version *const __stop_search_versions[];

#ifdef SEARCH_NAME

static const struct search_version search_version = {
	.name = SEARCH_NAME,
	.params = SEARCH_VERSION,
#ifdef SEARCH_IN_SOCKET
	.compact = true,
#endif
};

[[gnu::section("search_versions"), gnu::used]]
static const struct search_version *const search_version_entry = &search_version;

#endif /* SEARCH_NAME */

#endif /* SEARCH_VERSION_H */
