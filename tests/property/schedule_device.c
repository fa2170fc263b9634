/* SPDX-License-Identifier: Apache-2.0 */
/* Trials as kernels; see schedule_batch.h. Where launches are the host's, the
 * host function is gone through here, and what it launches is written as a
 * plan, with every extent and argument a number. */
#include "schedule_batch.h"

#include <stdlib.h>

#include "analyse.h"
#include "host_device.h"

/* What devices have, and the emulation of one on the CPU. */
static const struct device_limits limits = { 1024, 48 << 10 };

static int64_t
value_at(struct module *m, const struct expr *e, const struct var_map *map)
{
	struct analyser a;
	int64_t v = 0;

	analyser_init(&a, m);
	expr_is_int(simplify(&a, expr_substitute(m, e, map)), &v);
	return v;
}

/* The scalar parameter as a number. */
static void
map_size(struct module *m, const struct func *f, int size, struct var_map *map)
{
	for (int i = 0; i < f->params.n; i++) {
		struct var *v = f->params.data[i].var;

		if (!f->params.data[i].buffer) {
			map->from[map->n] = v;
			map->to[map->n++] = expr_int(m, v->type, size);
		}
	}
}

static size_t
bytes_of(struct module *m, const struct buffer *b, const struct var_map *map)
{
	int64_t n = (int64_t)dtype_bytes(b->type) * b->type.lanes;

	/* Rows may be longer than what is in them. */
	if (b->strides && b->ndim > 0) {
		return (size_t)(n * value_at(m, b->shape[0], map) *
				value_at(m, b->strides[0], map));
	}
	for (int d = 0; d < b->ndim; d++) {
		n *= value_at(m, b->shape[d], map);
	}
	return (size_t)n;
}

enum { MAX_BOUND = 64 };

bool
device_run(struct batch *b, struct trial *t, struct func *f,
	   const struct run_arg *args, int n_args, struct batch_entry *x)
{
	struct run_arg all[RANDOM_MAX_ARGS + MAX_BETWEEN];
	struct var *from[MAX_BOUND];
	const struct expr *to[MAX_BOUND];
	struct var_map map = { from, to, 0 };
	struct device_limits own = limits;
	struct host_device split;
	int n;
	bool good;

	if (t->target) {
		own.max_threads = t->target->max_threads;
		own.shared_bytes = t->target->shared_bytes;
	}
	if (!lower_split_host_device(t->m, f, &own, NULL, &split)) {
		t->trouble = t->target ? TROUBLE_LOWER : TROUBLE_NONE;
		return false;
	}
	n = split.host->params.n;
	if (n - n_args > MAX_BETWEEN) {
		return false;
	}
	memcpy(all, args, sizeof *all * (size_t)n_args);
	map_size(t->m, f, x->size, &map);
	x->n_between = n - n_args;
	for (int i = n_args; i < n; i++) {
		size_t bytes = bytes_of(t->m, split.host->params.data[i].buffer,
					&map);

		x->between[i - n_args] = bytes;
		all[i] = (struct run_arg){ .data = malloc(bytes + 1) };
		memset(all[i].data, 0xFF, bytes);
	}
	good = trial_only_source(t) || interp_run_races(split.host, all, n);
	if (!good) {
		t->trouble = TROUBLE_RACE;
	}
	for (int i = n_args; i < n; i++) {
		free(all[i].data);
	}
	b->n_kernels += split.n_launches;
	return good;
}

/* name<<<grid, block>>>(…) becomes emulate(name, grid, block)(…). */
void
device_print_host(const char *text, FILE *out)
{
	for (;;) {
		const char *at = strstr(text, "<<<"), *name = at;
		const char *end = at ? strstr(at, ">>>") : NULL;

		if (!end) {
			fputs(text, out);
			return;
		}
		while (name > text && strchr(" \t\n", name[-1]) == NULL) {
			name--;
		}
		fprintf(out, "%.*semulate(%.*s, %.*s)", (int)(name - text),
			text, (int)(at - name), name, (int)(end - at - 3),
			at + 3);
		text = end + 3;
	}
}

/* -- a plan */

struct planner {
	const struct batch *b;
	struct module *m;
	const struct func *host;
	struct var_map map; /* what the size and loops of the host are */
	int first;          /* number of the host's first buffer */
	int *params;
	FILE *out;
	bool failed;
};

static int
place_of(const struct planner *p, const struct var *v)
{
	for (int i = 0, k = 0; i < p->host->params.n; i++) {
		if (p->host->params.data[i].var == v &&
		    p->host->params.data[i].buffer) {
			return p->first + k;
		}
		k += p->host->params.data[i].buffer != NULL;
	}
	return -1;
}

static void
plan_launch(struct planner *p, const struct expr *call)
{
	int places[RANDOM_MAX_ARGS + MAX_BETWEEN + MAX_BOUND];

	for (int i = 7; i < call->n_args; i++) {
		const struct expr *e = call->args[i];

		places[i - 7] = e->kind == EXPR_VAR ? place_of(p, e->u.var)
						    : -1;
		if (places[i - 7] < 0) {
			p->failed |= dtype_bytes(e->type) != 4;
			places[i - 7] = (*p->params)++;
			fprintf(p->out, "scalar %lld\n",
				(long long)value_at(p->m, e, &p->map));
		}
	}
	fprintf(p->out, "launch %s", call->args[0]->u.text);
	for (int i = 1; i < 7; i++) {
		fprintf(p->out, " %lld",
			(long long)value_at(p->m, call->args[i], &p->map));
	}
	for (int i = 7; i < call->n_args; i++) {
		fprintf(p->out, " %d", places[i - 7]);
	}
	fprintf(p->out, "\n");
}

static void
plan(struct planner *p, const struct stmt *s)
{
	int64_t first, n;

	switch (s->kind) {
	case STMT_FOR:
		first = value_at(p->m, s->args[0], &p->map);
		n = value_at(p->m, s->args[1], &p->map);
		p->map.from[p->map.n++] = s->u.loop.var;
		for (int64_t i = 0; i < n && !p->failed; i++) {
			p->map.to[p->map.n - 1] = expr_int(p->m,
							   s->u.loop.var->type,
							   first + i);
			plan(p, s->children[0]);
		}
		p->map.n--;
		break;
	case STMT_LET:
		p->map.from[p->map.n] = s->u.var;
		p->map.to[p->map.n] = expr_substitute(p->m, s->args[0],
						      &p->map);
		p->map.n++;
		plan(p, s->children[0]);
		p->map.n--;
		break;
	case STMT_IF:
		if (value_at(p->m, s->args[0], &p->map)) {
			plan(p, s->children[0]);
		} else if (s->n_children > 1 && s->children[1]) {
			plan(p, s->children[1]);
		}
		break;
	case STMT_EVALUATE:
		if (s->args[0]->kind == EXPR_CALL &&
		    s->args[0]->u.intrin == INTRIN_LAUNCH) {
			plan_launch(p, s->args[0]);
		}
		break;
	case STMT_SEQ:
	case STMT_ATTR:
		for (int i = 0; i < s->n_children; i++) {
			plan(p, s->children[i]);
		}
		break;
	default:
		p->failed = true;
		break;
	}
}

static bool
write_buffer(struct planner *p, const struct buffer *buffer, const void *data,
	     size_t bytes)
{
	FILE *f = fopen(arena_printf(&p->m->arena, "%s/%d.in", p->b->folder,
				     *p->params),
			"wb");

	fprintf(p->out, "buffer %s %zu\n", dtype_name(buffer->type), bytes);
	++*p->params;
	for (size_t i = 0; f && i < bytes; i++) {
		putc(data ? ((const unsigned char *)data)[i] : 0xFF, f);
	}
	return f && fclose(f) == 0;
}

bool
device_print_plan(const struct batch *b, int number, const struct func *host,
		  int *params, FILE *out)
{
	const struct batch_entry *x = &b->entries[number];
	struct var *from[MAX_BOUND];
	const struct expr *to[MAX_BOUND];
	struct planner p = { .b = b,
			     .m = host->module,
			     .host = host,
			     .map = { from, to, 0 },
			     .first = *params,
			     .params = params,
			     .out = out };
	int k = 0;

	map_size(p.m, host, x->size, &p.map);
	for (int i = 0; i < host->params.n; i++) {
		const struct buffer *buffer = host->params.data[i].buffer;
		bool given = k < x->n_params;

		if (!buffer) {
			continue;
		}
		p.failed |= !write_buffer(&p, buffer, given ? x->in[k] : NULL,
					  given ? x->bytes[k]
						: x->between[k - x->n_params]);
		k++;
	}
	plan(&p, host->body);
	fprintf(out, "output %d trials.out\n", p.first + x->output);
	return !p.failed;
}
