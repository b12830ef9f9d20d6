// SPDX-License-Identifier: GPL-2.0-or-later
// A header that moved in Linux 6.12.
#include <linux/module.h>
#include <asm/unaligned.h>

MODULE_LICENSE("GPL");
