/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few types and 64-bit divisions of the kernel that the core needs, in user space too. */
#ifndef SEARCH_SHIM_H
#define SEARCH_SHIM_H

#ifdef __KERNEL__

#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/types.h>

#define search_export EXPORT_SYMBOL_GPL

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))
#define search_export(name) _Static_assert(true, #name)

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#endif /* __KERNEL__ */

/*
 * BPF's verifier knows no bound of what is read from memory, and accepts neither an index nor a
 * loop without one: lab/kernel/bpf defines these two otherwise before.
 */
#ifndef search_slot_below_end
#define search_slot_below_end(slot) (slot)
#define search_for(i, from, below) for (i = from; i < (below); i++)
#endif

#endif /* SEARCH_SHIM_H */
