// SPDX-License-Identifier: GPL-2.0-or-later
/* The cores by name.  Each version of SEARCH that needs nothing of the kernel's sockets is one. */
#include "quic_core.h"
#include "search_replay.h"

static const struct quic_core *const quic_cores[] = {
	&quic_hystartpp,
	&quic_rapid_start,
	&quic_careful_resume,
	&quic_bbr3,
};

static bool quic_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const struct quic_core *quic_search_named(const char *name, u32 *params)
{
	struct search_params version;
	bool compact;
	size_t i;

	if (!search_version_named(name, &version, &compact) || compact || version.epoch_blind_ms)
		return NULL;
	for (i = 0; i < sizeof(version) / sizeof(u32); i++)
		params[i] = ((const u32 *)&version)[i];

	return &quic_search;
}

const struct quic_core *quic_core_named(const char *name, u32 *params)
{
	size_t i;
	u32 j;

	for (i = 0; i < ARRAY_SIZE(quic_cores); i++) {
		if (!quic_same(name, quic_cores[i]->name))
			continue;
		for (j = 0; j < quic_cores[i]->params_count; j++)
			params[j] = quic_cores[i]->initial[j];
		return quic_cores[i];
	}

	return quic_search_named(name, params);
}
