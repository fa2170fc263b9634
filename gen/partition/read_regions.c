/* SPDX-License-Identifier: Apache-2.0 */
/* Backends, matches and regions of a partition. */
#include "reading.h"

bool
read_regions(struct reading *in, struct json root)
{
	(void)root;
	return !in->r.failed;
}
