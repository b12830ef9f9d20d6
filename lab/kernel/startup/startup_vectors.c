// SPDX-License-Identifier: GPL-2.0-or-later
/* The cores in user space compute what startup_vectors.h has. */
#include "startup_vectors.h"

/* The name of the first vector that a core does not compute as it should; NULL: none. */
const char *startup_vector_that_fails(void);

#define RETURN_A_FAILURE(test, vectors, holds)		\
	for (i = 0; i < ARRAY_SIZE(vectors); i++)	\
		if (!holds(&vectors[i]))		\
			return vectors[i].name;

const char *startup_vector_that_fails(void)
{
	size_t i;

	STARTUP_VECTORS(RETURN_A_FAILURE)

	return NULL;
}
