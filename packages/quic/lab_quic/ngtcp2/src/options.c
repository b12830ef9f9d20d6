// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_DATAGRAM_BYTES 1200 /* RFC 9000, section 14 */
#define MOST_DATAGRAM_BYTES 65507 /* of UDP over IPv4 */

void fail(const char *format, ...)
{
	va_list values;

	printf("lab-ngtcp2: ");
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	printf("\n");
	exit(EXIT_FAILURE);
}

static uint64_t number(const char *name, const char *value, uint64_t most)
{
	char *end;
	uint64_t found;

	errno = 0;
	found = strtoull(value, &end, 10);
	if (errno || *value < '0' || *value > '9' || *end || found > most)
		fail("%s=%s: must be a whole number within its range", name, value);
	return found;
}

static ngtcp2_cc_algo controller(const char *value)
{
	if (!strcmp(value, "cubic"))
		return NGTCP2_CC_ALGO_CUBIC;
	if (!strcmp(value, "reno"))
		return NGTCP2_CC_ALGO_RENO;
	if (!strcmp(value, "bbr"))
		return NGTCP2_CC_ALGO_BBR;
	fail("controller=%s: must be cubic, reno or bbr", value);
}

static void set(struct options *options, const char *name, const char *value)
{
	if (!strcmp(name, "port"))
		options->port = number(name, value, UINT16_MAX);
	else if (!strcmp(name, "client_port"))
		options->client_port = number(name, value, UINT16_MAX);
	else if (!strcmp(name, "datagram_bytes"))
		options->datagram_bytes = number(name, value, MOST_DATAGRAM_BYTES);
	else if (!strcmp(name, "key"))
		options->key = number(name, value, UINT8_MAX);
	else if (!strcmp(name, "seconds"))
		options->seconds = number(name, value, UINT32_MAX);
	else if (!strcmp(name, "bytes"))
		options->bytes = number(name, value, UINT64_MAX);
	else if (!strcmp(name, "controller"))
		options->controller = controller(value);
	else if (!strcmp(name, "log"))
		options->log = value;
	else if (!strcmp(name, "qlog"))
		options->qlog = value;
	else if (!strcmp(name, "workload"))
		options->workload = value;
	else if (!strcmp(name, "objects"))
		options->objects = value;
	else
		fail("%s: must be an option of lab-ngtcp2", name);
}

void options_parse(struct options *options, int count, char **words)
{
	options->controller = NGTCP2_CC_ALGO_CUBIC;
	options->log = options->qlog = "";
	for (int at = 0; at < count; at++) {
		char *equals = strchr(words[at], '=');

		if (!equals)
			fail("%s: must be an option, name=value", words[at]);
		*equals = '\0';
		set(options, words[at], equals + 1);
	}
	if (options->datagram_bytes < LEAST_DATAGRAM_BYTES)
		fail("datagram_bytes=%u: must be at least %d (RFC 9000, section 14)", options->datagram_bytes,
		     LEAST_DATAGRAM_BYTES);
}
