// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lab-ngtcp2: the two ends of a QUIC download in a trial of the lab, on ngtcp2 and GnuTLS.
 *
 *     lab-ngtcp2 serve port=5201 controller=cubic datagram_bytes=1472 log=FILE qlog=FILE
 *     lab-ngtcp2 get ADDRESS port=5201 seconds=20 [bytes=N] [client_port=N] datagram_bytes=1472 log=FILE qlog=FILE
 *
 * With workload=FILE objects=FILE the client requests objects by that plan; then the server has objects=FILE, too.
 *
 * An error is one line in place of the result, and exit status 1.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "ends.h"
#include "peer.h"

int main(int count, char **words)
{
	struct options options = { 0 };

	peer_end_upon_sigterm();
	if (count > 1 && !strcmp(words[1], "serve")) {
		options_parse(&options, count - 2, words + 2);
		serve(&options);
	} else if (count > 2 && !strcmp(words[1], "get")) {
		options_parse(&options, count - 3, words + 3);
		if (inet_pton(AF_INET, words[2], &options.server) != 1)
			fail("%s: must be an IPv4 address", words[2]);
		get(&options);
	} else {
		fail("must be serve or get, with options");
	}
	return EXIT_SUCCESS;
}
