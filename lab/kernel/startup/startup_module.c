// SPDX-License-Identifier: GPL-2.0-or-later
/* tcp_startup_core: the cores of the start-up family, which its senders and their tests share. */
#include <linux/module.h>

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Start-up algorithms of congestion control: the cores");
