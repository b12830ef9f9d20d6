// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's own BBR (version 1), compiled as the modules of the lab are. */
#include KERNEL_BBR_SOURCE
