/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: a model in the words of TVM. */
#include "relay.h"
#include "tirc_context.h"

const char *
tirc_relay(struct tirc *t)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	relay_print(t->graph, &s);
	text = arena_strdup(&t->m->arena, s.data);
	strbuf_release(&s);
	return text;
}
