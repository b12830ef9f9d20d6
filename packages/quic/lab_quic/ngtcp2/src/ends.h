/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"

/* Serve one connection to its end. */
void serve(const struct options *options);

/* Download, and print what was received as JSON. */
void get(const struct options *options);
