/* SPDX-License-Identifier: Apache-2.0 */
/* The results of nodes that the interpreter has run, so that it runs no node
 * twice: tirc bisect runs many graphs of the same model on the same inputs, and
 * a pass changes few of the nodes. The key of a node is a digest of its
 * definition, as TVMScript, and of the elements of its inputs. */
#include "bisect.h"
#include "ops.h"
#include "sha256.h"

/* All kept results together have at most this many bytes. */
enum { MOST_BYTES = 1 << 29 };

void
node_results_init(struct node_results *r)
{
	*r = (struct node_results){ .bytes = 0 };
	arena_init(&r->arena);
	text_map_init(&r->of, &r->arena);
}

void
node_results_release(struct node_results *r)
{
	arena_release(&r->arena);
}

/* The elements of strings are not numbers: they are not kept. */
static bool
has_numbers(const struct tensor *t)
{
	return t == NULL || !t->is_string;
}

static bool
can_keep(const struct node *n)
{
	bool can = true;

	for (int i = 0; i < n->n_inputs; i++) {
		can &= has_numbers(n->inputs[i]);
	}
	for (int i = 0; i < n->n_outputs; i++) {
		can &= has_numbers(n->outputs[i]);
	}
	return can;
}

static void
add_value(struct sha256 *s, const struct value *v)
{
	if (v->data != NULL) {
		sha256_update(s, v->data, v->bytes);
	} else {
		sha256_update(s, &v->fill, sizeof v->fill);
	}
}

/* The digest of a node whose inputs have values; NULL after a diagnostic. */
static const char *
digest_of(struct arena *a, struct graph *g, const struct node *n)
{
	struct func *f = ops_function(g, n);
	struct strbuf text;
	struct sha256 s;

	if (f == NULL) {
		return NULL;
	}
	sha256_init(&s);
	strbuf_init(&text);
	func_print(f, SCRIPT_CURRENT, &text);
	sha256_update(&s, text.data, text.len + 1);
	strbuf_release(&text);
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] != NULL) {
			bool is_filled = n->inputs[i]->value->data == NULL;

			sha256_update(&s, &is_filled, sizeof is_filled);
			add_value(&s, n->inputs[i]->value);
		}
	}
	return sha256_whole(&s, a);
}

/* A copy of the value v that lives as long as the results r. */
static const struct value *
keep(struct node_results *r, const struct value *v)
{
	struct value *own = arena_copy(&r->arena, v, sizeof *v);

	own->mapped = false;
	if (v->data != NULL) {
		own->data = arena_copy(&r->arena, v->data, v->bytes);
	}
	r->bytes += (int64_t)v->bytes;
	return own;
}

bool
node_results_run(void *ctx, struct graph *g, const struct node *n)
{
	struct node_results *r = ctx;
	const char *digest;
	int at;

	if (!can_keep(n)) {
		return graph_run_node(g, n);
	}
	if (!graph_find_inputs(g, n)) {
		return false;
	}
	digest = digest_of(&r->arena, g, n);
	if (digest == NULL) {
		return false;
	}
	at = text_map_get(&r->of, digest, -1);
	if (at < 0) {
		if (!graph_run_node(g, n)) {
			return false;
		}
		if (r->bytes > MOST_BYTES) {
			return true;
		}
		at = r->values.n;
		text_map_add(&r->of, digest, at);
		for (int i = 0; i < n->n_outputs; i++) {
			vec_push(&r->arena, &r->values,
				 n->outputs[i] == NULL
					 ? NULL
					 : keep(r, n->outputs[i]->value));
		}
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] != NULL) {
			n->outputs[i]->value = r->values.data[at + i];
		}
	}
	return true;
}
