/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the frame of hystartpp.c names, without a kernel: `make functions` calls your four functions alone. */
#ifndef FUNCTIONS_MODULE_H
#define FUNCTIONS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX UINT32_MAX
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(value, low, high) min(max(value, low), high)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp_t(type, value, low, high) clamp((type)(value), (type)(low), (type)(high))
#define __read_mostly
#define __init
#define __exit
#define THIS_MODULE NULL
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), "a flow has room for 104 bytes")
#define module_init(function)
#define module_exit(function)
#define MODULE_LICENSE(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_AUTHOR(text)
#define pr_info(...)

#endif
