/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the fields of a message of a queue. */
#include <string.h>

#include "queue.h"

void
queue_put(struct arena *a, struct queue_message *m, const char *name,
	  const void *data, size_t bytes)
{
	struct queue_field f = { name, data, bytes };

	vec_push(a, &m->fields, f);
}

void
queue_put_text(struct arena *a, struct queue_message *m, const char *name,
	       const char *text)
{
	queue_put(a, m, name, text, strlen(text));
}

const char *
queue_text(struct arena *a, const struct queue_message *m, const char *name)
{
	for (int i = 0; i < m->fields.n; i++) {
		const struct queue_field *f = &m->fields.data[i];

		if (strcmp(f->name, name) == 0) {
			return memchr(f->data, 0, f->bytes) == NULL
				       ? arena_strndup(a, f->data, f->bytes)
				       : NULL;
		}
	}
	return NULL;
}
