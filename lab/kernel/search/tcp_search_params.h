/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TCP_SEARCH_PARAMS_H
#define TCP_SEARCH_PARAMS_H

#include "search_core.h"

/* The module parameters as they are now, for one flow to keep. */
void tcp_search_params_get(struct search_params *params);

#endif /* TCP_SEARCH_PARAMS_H */
