/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included before a user's code. The plain kernel has no CONFIG_BUG: there BUG() would loop, WARN_ON() print nothing. */
#if !defined(CONFIG_BUG) && !defined(__ASSEMBLY__)
#define HAVE_ARCH_BUG
#define BUG()									\
	do {									\
		printk(KERN_EMERG "BUG: BUG() or BUG_ON() in %s\n", __func__);	\
		dump_stack();							\
		panic("BUG()");							\
	} while (0)

#define OWN_WARN(condition, text...) ({						\
	static bool __said;	/* once at each place, as a log is bounded */	\
	bool __is_so = !!(condition);						\
	if (unlikely(__is_so) && !__said) {					\
		__said = true;							\
		printk(KERN_WARNING "WARNING: " text);				\
		dump_stack();							\
		barrier();	/* a jump to it leaves no frame to name */	\
	}									\
	unlikely(__is_so);							\
})
#define HAVE_ARCH_WARN_ON
#define WARN_ON(condition) OWN_WARN(condition, "%s\n", #condition)
#define WARN(condition, format...) OWN_WARN(condition, format)
#endif
