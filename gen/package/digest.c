/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the digest of weights, word by word. */
#include "digest.h"

#include "packer.h"

void
digest_start(struct digest *d)
{
	*d = (struct digest){ .value = BLOB_DIGEST_START };
}

static void
add_word(struct digest *d)
{
	uint64_t word = 0;

	for (int i = 7; i >= 0; i--) {
		word = word << 8 | d->rest[i];
	}
	d->value = (d->value ^ word) * BLOB_DIGEST_FACTOR;
	d->value ^= d->value >> 32;
	d->n_rest = 0;
}

void
digest_add(struct digest *d, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n > 0 && d->n_rest != 0) {
		d->rest[d->n_rest++] = *p++;
		n--;
		if (d->n_rest == 8) {
			add_word(d);
		}
	}
	for (; n >= 8; p += 8, n -= 8) {
		memcpy(d->rest, p, 8);
		add_word(d);
	}
	for (; n > 0; n--) {
		d->rest[d->n_rest++] = *p++;
	}
}

uint64_t
digest_end(struct digest *d)
{
	if (d->n_rest > 0) {
		memset(d->rest + d->n_rest, 0, 8 - d->n_rest);
		add_word(d);
	}
	return d->value;
}
