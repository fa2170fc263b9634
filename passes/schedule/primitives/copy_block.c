/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that copy, and the legality checks for inserting a copy between a
 * block and its buffer. */
#include "copy_block.h"
#include "block_init.h"
#include "index_map_inverse.h"
#include "iterate.h"
#include "text_map.h"

struct stmt *
block_around(struct stmt *s)
{
	while (s && s->kind != STMT_BLOCK) {
		s = s->parent;
	}
	return s;
}

struct stmt *
sole_writer(struct func *f, const struct buffer *b)
{
	struct stmt *block = NULL;
	struct access_list all = accesses_of(f, f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		struct stmt *at = block_around(all.list.data[i].at);

		if (!access_writes(&all.list.data[i])) {
			continue;
		}
		if (block && block != at) {
			return NULL;
		}
		block = at;
	}
	return block;
}

static bool
touched_below(struct func *f, struct stmt *s, const struct buffer *b,
	      bool writes)
{
	struct access_list all = accesses_of(f, s, b);

	for (int i = 0; i < all.list.n; i++) {
		if (writes ? access_writes(&all.list.data[i])
			   : all.list.data[i].load != NULL) {
			return true;
		}
	}
	return false;
}

bool
writes_below(struct func *f, struct stmt *s, const struct buffer *b)
{
	return touched_below(f, s, b, true);
}

bool
reads_below(struct func *f, struct stmt *s, const struct buffer *b)
{
	return touched_below(f, s, b, false);
}

/* -- arguments */

const struct buffer *
read_arg(const struct stmt *block, const struct sched_value *index)
{
	return block->u.block->reads[index->u.ival].buffer;
}

const struct buffer *
write_arg(const struct stmt *block, const struct sched_value *index)
{
	return block->u.block->writes[index->u.ival].buffer;
}

const struct buffer *
buffer_arg(const struct stmt *block, const struct sched_value *value,
	   bool *writes)
{
	*writes = strcmp(value->items[0].u.text, "write") == 0;
	return *writes ? write_arg(block, &value->items[1])
		       : read_arg(block, &value->items[1]);
}

/* -- names and twins */

/* The name, cut if it is long: each copy of a copy adds a word. */
static const char *
short_name(struct edit *e, const char *name)
{
	enum { LONGEST = 80 };

	return strlen(name) <= LONGEST
		       ? name
		       : arena_strndup(&e->m->arena, name, LONGEST);
}

const char *
free_block_name(struct edit *e, const char *given)
{
	const char *name = short_name(e, given), *text = name;
	struct text_map taken;
	struct arena tmp;
	struct stmt *s;

	arena_init(&tmp);
	text_map_init(&taken, &tmp);
	for (struct stmt_iter it = stmt_each_of(e->f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		text_map_add(&taken, s->u.block->name, 1);
	}
	for (int i = 1; text_map_get(&taken, text, 0) != 0; i++) {
		text = arena_printf(&e->m->arena, "%s_%d", name, i);
	}
	arena_release(&tmp);
	return text;
}

/* Adds the names of all buffers of the function to `names`. */
static void
buffer_names(const struct func *f, struct text_map *names)
{
	struct stmt_iter it = stmt_each(f->body);
	const struct stmt *s;

	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer) {
			text_map_add(names, f->params.data[i].buffer->name, 1);
		}
	}
	while ((s = stmt_next(&it)) != NULL) {
		if (s->kind == STMT_ALLOC) {
			text_map_add(names, s->u.buffer->name, 1);
		}
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_allocs; i++) {
			text_map_add(names, s->u.block->allocs[i]->name, 1);
		}
	}
}

const char *
free_buffer_name(struct edit *e, const char *given)
{
	const char *name = short_name(e, given), *text = name;
	struct text_map taken;
	struct arena tmp;

	arena_init(&tmp);
	text_map_init(&taken, &tmp);
	buffer_names(e->f, &taken);
	for (int i = 2; text_map_get(&taken, text, 0) != 0; i++) {
		text = arena_printf(&e->m->arena, "%s%d", name, i);
	}
	arena_release(&tmp);
	return text;
}

const struct buffer *
buffer_variant(struct edit *e, const struct buffer *b, const char *name,
	       const char *scope, int ndim, const struct expr *const *shape)
{
	struct buffer_spec spec = {
		.name = free_buffer_name(e, name),
		.type = b->type,
		.ndim = ndim < 0 ? b->ndim : ndim,
		.shape = shape ? shape : b->shape,
		.scope = scope ? arena_strdup(&e->m->arena, scope) : b->scope,
	};

	return buffer_new(e->m, &spec);
}

/* -- accesses */

static bool
is_iter(const struct stmt *block, const struct var *v)
{
	for (int i = 0; i < block->u.block->n_iters; i++) {
		if (block->u.block->iters[i].var == v) {
			return true;
		}
	}
	return false;
}

/* Does e load, or use variables other than sizes and iter vars of the block? */
static bool
is_foreign(const struct expr *e, const struct stmt *block)
{
	bool found = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		found |= e->kind == EXPR_LOAD ||
			 (e->kind == EXPR_VAR && !e->u.var->is_dim &&
			  !is_iter(block, e->u.var));
	}
	return found;
}

const struct expr *const *
common_index(struct edit *e, struct stmt *block, const struct buffer *b)
{
	struct access_list all = { 0 };
	bool foreign = false;
	const struct expr *const *index = NULL;

	for (int i = 0; i < 2; i++) {
		if (block->children[i]) {
			access_collect(e->f, block->children[i], b, &all);
		}
	}
	for (int i = 0; i < all.list.n; i++) {
		index = i ? index : all.list.data[0].index;
		for (int d = 0; d < b->ndim; d++) {
			foreign |= is_foreign(index[d], block);
			if (all.list.data[i].index[d] != index[d]) {
				edit_fail(e,
					  "block %s accesses %s at several "
					  "indices; all must be the same",
					  block->u.block->name, b->name);
				return NULL;
			}
		}
	}
	if (!index) {
		edit_fail(e,
			  "block %s does not access %s itself; name the "
			  "inner block that does",
			  block->u.block->name, b->name);
		return NULL;
	}
	if (foreign) {
		edit_fail(e,
			  "block %s accesses %s at an index that uses more "
			  "than its iter vars; blockize less or name another "
			  "buffer",
			  block->u.block->name, b->name);
		return NULL;
	}
	return index;
}

static void
bind_domains(struct analyser *a, const struct stmt *block)
{
	for (int i = 0; i < block->u.block->n_iters; i++) {
		const struct iter_var *it = &block->u.block->iters[i];

		analyser_bind(a, it->var, it->min, it->extent);
	}
}

bool
index_in_bounds(struct edit *e, const struct stmt *block,
		const struct expr *load, const struct buffer *b,
		const struct expr *const *index)
{
	struct module *m = e->m;
	struct analyser a;

	analyser_init(&a, m);
	bind_domains(&a, block);
	for (; load != NULL && load->kind == EXPR_IF; load = load->args[1]) {
		analyser_assume(&a, load->args[0]);
	}
	for (int d = 0; d < b->ndim; d++) {
		if (!prove(&a, expr_le(m, expr_i32(m, 0), index[d])) ||
		    !prove(&a, expr_lt(m, index[d], b->shape[d]))) {
			return false;
		}
	}
	return true;
}

static bool
bound_below(const struct expr *x, const struct stmt *s, const struct stmt *top)
{
	for (; s; s = s == top ? NULL : s->parent) {
		if ((s->kind == STMT_FOR && expr_uses_var(x, s->u.loop.var)) ||
		    (s->kind == STMT_LET && expr_uses_var(x, s->u.var))) {
			return true;
		}
	}
	return false;
}

const struct expr *
conditions_outside(struct edit *e, const struct stmt *block,
		   const struct stmt *at, const struct stmt *top)
{
	struct module *m = e->m;
	const struct expr *outside = expr_bool(m, true);
	struct conjuncts all = { 0 };
	struct analyser a;

	for (const struct stmt *p = at; p; p = p == top ? NULL : p->parent) {
		if (p->kind == STMT_IF || p->kind == STMT_WHILE) {
			return NULL;
		}
	}
	analyser_init(&a, m);
	analyser_enter_domains(&a, block);
	expr_conjuncts(m, block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];

		if (!bound_below(c, block->parent, top)) {
			outside = expr_and(m, outside, c);
		} else if (!prove(&a, c)) {
			return NULL;
		}
	}
	return outside;
}

bool
runs_through(struct edit *e, const struct stmt *block, int i)
{
	const struct iter_var *iter = &block->u.block->iters[i];
	const struct stmt *scope = scope_of(block);
	VEC(struct iter_var) loops = { 0 };
	const struct expr *min, *max, *last;
	struct analyser a;

	analyser_init(&a, e->m);
	for (const struct stmt *p = block->parent; p != scope; p = p->parent) {
		if (p->kind == STMT_FOR) {
			struct iter_var loop = { p->u.loop.var, p->args[0],
						 p->args[1], ITER_SPATIAL };

			vec_push(&e->m->arena, &loops, loop);
		}
	}
	last = expr_add(e->m, iter->min,
			expr_sub(e->m, iter->extent, expr_i32(e->m, 1)));
	return analyse_cover(&a, block->args[i + 1], loops.data, loops.n, &min,
			     &max) &&
	       min && max && prove(&a, expr_le(e->m, min, iter->min)) &&
	       prove(&a, expr_le(e->m, last, max));
}

/* May iter var i not take all values of its domain? If the loops that drive it have
 * constant extents, it must be certain: they miss an end of the domain, or the binding
 * is constant although the domain has several values. Otherwise that it takes all
 * values must be. */
static bool
leaves_values_out(struct edit *e, const struct stmt *block, int i)
{
	const struct iter_var *it = &block->u.block->iters[i];
	struct module *m = e->m;
	struct analyser a;
	struct bounds b, first, last;
	bool moves = false, known = true;

	analyser_init(&a, m);
	for (const struct stmt *p = block->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR) {
			analyser_bind(&a, p->u.loop.var, p->args[0],
				      p->args[1]);
			if (expr_uses_var(block->args[i + 1], p->u.loop.var)) {
				moves = true;
				known &= p->args[1]->kind == EXPR_INT;
			}
		}
	}
	if (!moves && !expr_is_value(it->extent, 1)) {
		return true;
	}
	if (!known) {
		return !runs_through(e, block, i);
	}
	b = analyse_bounds(&a, block->args[i + 1]);
	first = analyse_bounds(&a, it->min);
	last = analyse_bounds(&a, expr_sub(m, expr_add(m, it->min, it->extent),
					   expr_int(m, it->min->type, 1)));
	return b.min > first.max || b.max < last.min;
}

bool
runs_everywhere(struct edit *e, const struct stmt *block, const struct stmt *at)
{
	const struct expr *rest = conditions_outside(e, block, at,
						     scope_of(block));

	for (int i = 0; i < block->u.block->n_iters; i++) {
		if (leaves_values_out(e, block, i)) {
			return false;
		}
	}
	return rest && expr_is_value(rest, 1);
}

struct stmt *
binding_loop(const struct stmt *block, int i)
{
	const struct expr *value = block->args[i + 1];

	for (struct stmt *p = block->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR && p->u.loop.var->expr == value) {
			return p;
		}
	}
	return NULL;
}

bool
trivial_bindings(const struct stmt *block)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		struct stmt *loop = binding_loop(block, i);

		if (!loop || loop->args[0] != b->iters[i].min ||
		    loop->args[1] != b->iters[i].extent) {
			return false;
		}
		for (int k = 0; k < i; k++) {
			if (block->args[k + 1] == block->args[i + 1]) {
				return false;
			}
		}
	}
	return true;
}

/* -- blocks that store */

struct iter_var *
fresh_iters(struct edit *e, const struct iter_var *like, int n)
{
	struct iter_var *list = arena_array(&e->m->arena, struct iter_var,
					    n + 1);

	for (int i = 0; i < n; i++) {
		list[i] = like[i];
		list[i].var = var_new(e->m, like[i].var->name,
				      like[i].var->type);
		list[i].kind = ITER_SPATIAL;
	}
	return list;
}

struct iter_var *
dim_iters(struct edit *e, const struct buffer *b,
	  const struct expr *const *index)
{
	struct arena *arena = &e->m->arena;
	struct iter_var *list = arena_array(arena, struct iter_var,
					    b->ndim + 1);

	for (int d = 0; d < b->ndim; d++) {
		const char *name = arena_printf(arena, "v_i%d", d);

		if (index && index[d]->kind == EXPR_VAR) {
			name = index[d]->u.var->name;
		}
		list[d].var = var_new(e->m, name, b->shape[d]->type);
		list[d].min = expr_int(e->m, b->shape[d]->type, 0);
		list[d].extent = b->shape[d];
		list[d].kind = ITER_SPATIAL;
	}
	return list;
}

struct stmt *
store_nest(struct edit *e, const char *name, const struct iter_var *iters,
	   int n_iters, const struct expr *predicate, const struct buffer *to,
	   const struct expr *const *index, const struct expr *value,
	   struct stmt **block)
{
	struct arena *arena = &e->m->arena;
	struct block b = { .name = free_block_name(e, name),
			   .n_iters = n_iters };
	const struct expr **bind = arena_exprs(arena, n_iters + 1);
	struct range *ranges = arena_array(arena, struct range, n_iters + 1);
	struct stmt *copy, *nest;

	b.iters = arena_array(arena, struct iter_var, n_iters + 1);
	for (int i = 0; i < n_iters; i++) {
		b.iters[i] = iters[i];
		bind[i] = iters[i].min;
		ranges[i].min = iters[i].min;
		ranges[i].extent = iters[i].extent;
	}
	copy = stmt_block(e->f, &b, NULL, bind, NULL,
			  stmt_store(e->f, to, value, index, to->ndim));
	block_refresh(e->f, copy);
	nest = nest_for_block(e->f, copy, ranges, NULL, true);
	if (predicate) {
		struct var_map map = { .n = n_iters };
		struct analyser a;

		map.from = arena_array(arena, struct var *, n_iters + 1);
		map.to = arena_exprs(arena, n_iters + 1);
		for (int i = 0; i < n_iters; i++) {
			map.from[i] = iters[i].var;
			map.to[i] = copy->args[i + 1];
		}
		predicate = expr_substitute(e->m, predicate, &map);
		analyser_at(&a, e->m, copy);
		stmt_set_arg(e->f, copy, 0,
			     simplify(&a, expr_and(e->m, copy->args[0],
						   predicate)));
	}
	if (block) {
		*block = copy;
	}
	return nest;
}

void
insert_beside(struct edit *e, struct stmt *at, struct stmt *added, bool after)
{
	struct stmt_place place = stmt_place_of(at);
	struct stmt *pair[2];

	pair[after ? 0 : 1] = at;
	pair[after ? 1 : 0] = added;
	stmt_put(e->f, place, stmt_seq(e->f, pair, 2));
}

void
refresh_inside(struct edit *e, struct stmt *block)
{
	struct stmt_list inner = { 0 };

	for (int i = 0; i < 2; i++) {
		if (block->children[i]) {
			blocks_below(e->f, block->children[i], &inner);
		}
	}
	for (int i = 0; i < inner.list.n; i++) {
		refresh_inside(e, inner.list.data[i]);
	}
	if (inner.list.n == 0) {
		/* this also refreshes the blocks around the block */
		block_refresh(e->f, block);
	}
}

void
buffer_follow(struct edit *e, const struct buffer *from,
	      const struct buffer *to)
{
	struct func *f = e->f;
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		const struct block *b;

		if (scope_owns(s, from)) {
			struct block copy = *s->u.block;
			const struct buffer **list =
				arena_copy(&f->module->arena, copy.allocs,
					   sizeof(*copy.allocs) *
						   (size_t)copy.n_allocs);

			for (int i = 0; i < copy.n_allocs; i++) {
				list[i] = list[i] == from ? to : list[i];
			}
			copy.allocs = list;
			stmt_set_block(f, s, &copy);
		}
		b = s->u.block;
		for (int i = 0; i < b->n_reads + b->n_writes; i++) {
			const struct region *r =
				i < b->n_reads ? &b->reads[i]
					       : &b->writes[i - b->n_reads];

			if (r->buffer == from) {
				block_refresh(f, s);
				break;
			}
		}
	}
}

/* Do all writes of the buffer come before `top`, and is none of them in
 * `top`? */
static bool
is_ready(struct edit *e, const struct buffer *b, const struct stmt *top)
{
	bool ready = true;
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		const struct stmt *at = all.list.data[i].at;

		ready &= !access_writes(&all.list.data[i]) ||
			 (!stmt_contains(top, at) &&
			  stmt_before(e->f, at, top));
	}
	return ready;
}

bool
inputs_ready(struct edit *e, const struct expr *x, const struct stmt *top,
	     const struct buffer *but)
{
	bool ready = true;

	for (struct expr_iter it = expr_each_of(x, EXPR_LOAD);
	     (x = expr_next(&it));) {
		ready &= x->u.buffer == but || is_ready(e, x->u.buffer, top);
	}
	return ready;
}

static const struct expr *
without_offset(const struct expr *x)
{
	int64_t n;

	return x->kind == EXPR_ADD && expr_is_int(x->args[1], &n) ? x->args[0]
								  : x;
}

bool
stores_distinct_elements(struct edit *e, const struct stmt *block,
			 const struct stmt *store)
{
	const struct block *b = block->u.block;
	struct arena *arena = &e->m->arena;
	struct var **vars = arena_array(arena, struct var *, b->n_iters + 1);
	const struct expr **extents = arena_exprs(arena, b->n_iters + 1);
	const struct expr **index = arena_exprs(arena, store->n_args);
	struct analyser a;
	struct index_map *map;
	const char *why;
	int n = 0;

	analyser_init(&a, e->m);
	bind_domains(&a, block);
	for (int d = 1; d < store->n_args; d++) {
		index[d - 1] = without_offset(simplify(&a, store->args[d]));
	}
	for (int i = 0; i < b->n_iters; i++) {
		bool used = false;

		for (int d = 1; d < store->n_args; d++) {
			used |= expr_uses_var(index[d - 1], b->iters[i].var);
		}
		if (used) {
			vars[n] = b->iters[i].var;
			extents[n++] = expr_add(e->m, b->iters[i].min,
						b->iters[i].extent);
		}
	}
	return n == 0 ||
	       index_map_from_forward(e->m, vars, n, index, store->n_args - 1,
				      extents, &map, &why);
}

/* May an element that `store` writes be stored again before the loops up to
 * `last` are complete? */
static bool
stored_again(struct edit *e, struct stmt *store, const struct stmt *block,
	     const struct stmt *last)
{
	const struct stmt *writer = store;
	bool leaves = false;

	if (store->kind != STMT_STORE) {
		return false;
	}
	for (const struct stmt *p = block->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		leaves |= p->kind == STMT_FOR && stmt_contains(p, store) &&
			  !stmt_contains(p, last);
	}
	while (writer->kind != STMT_BLOCK) {
		writer = writer->parent;
	}
	return leaves && !stores_distinct_elements(e, writer, store);
}

/* The child of `outer` that contains s. */
static struct stmt *
child_with(const struct stmt *outer, struct stmt *s)
{
	while (s->parent != outer) {
		s = s->parent;
	}
	return s;
}

/* Is the range x provably before the range y? */
static bool
is_before(struct edit *e, struct analyser *a, const struct range *x,
	  const struct range *y)
{
	return prove(a,
		     expr_le(e->m, expr_add(e->m, x->min, x->extent), y->min));
}

bool
reads_elsewhere(struct edit *e, struct stmt *block, struct stmt *last,
		const struct access *write)
{
	struct stmt *common = stmt_common(block, last);
	struct access_list reads = accesses_of(e->f, block, write->buffer);
	int ndim = write->buffer->ndim;
	struct range *from, *to;
	struct analyser a;

	if (common == block || common == last || write->address ||
	    access_any_address(&reads) || reads.list.n == 0 ||
	    !stmt_contains(common, write->at)) {
		return false;
	}
	from = arena_array(&e->m->arena, struct range, ndim + 1);
	to = arena_array(&e->m->arena, struct range, ndim + 1);
	if (!access_box(e->f, child_with(common, block), reads.list.data,
			reads.list.n, from) ||
	    !access_box(e->f, child_with(common, write->at), write, 1, to)) {
		return false;
	}
	analyser_at(&a, e->m, common);
	for (int d = 0; d < ndim; d++) {
		if (is_before(e, &a, &from[d], &to[d]) ||
		    is_before(e, &a, &to[d], &from[d])) {
			return true;
		}
	}
	return false;
}

bool
check_begins(struct edit *e, struct stmt *block, const struct buffer *b)
{
	struct access_list all = accesses_of(e->f, block->children[0], b);

	return block->children[1] != NULL || all.list.n == 0 ||
	       !all.list.data[0].load ||
	       edit_fail(e,
			 "block %s updates elements of %s that were written "
			 "before; use cache_inplace",
			 block->u.block->name, b->name);
}

const struct buffer *
input_changed(struct edit *e, struct stmt *block, struct stmt *last)
{
	struct stmt *common = stmt_common(block, last);
	const struct stmt *top = common == last ? last
						: child_with(common, last);
	struct access_list all = accesses_of(e->f, block, NULL);

	for (int i = 0; i < all.list.n; i++) {
		const struct buffer *b = all.list.data[i].buffer;
		struct access_list uses = { 0 };

		if (!all.list.data[i].load || writes_below(e->f, block, b)) {
			continue;
		}
		access_collect(e->f, e->f->body, b, &uses);
		for (int k = 0; k < uses.list.n; k++) {
			const struct access *x = &uses.list.data[k];

			if (access_writes(x) &&
			    !stmt_before(e->f, x->at, block) &&
			    (stmt_contains(top, x->at) ||
			     stmt_before(e->f, x->at, top)) &&
			    !reads_elsewhere(e, block, last, x)) {
				return b;
			}
			if (!x->load && stored_again(e, x->at, block, last)) {
				return b;
			}
		}
	}
	return NULL;
}

const struct stmt *
init_before_loop(const struct stmt *loop, const struct access_list *loads)
{
	for (int i = 0; i < loads->list.n; i++) {
		const struct stmt *at = loads->list.data[i].at, *block = at;

		while (block->kind != STMT_BLOCK) {
			at = block;
			block = block->parent;
		}
		if (block->n_children < 2 || at != block->children[1]) {
			continue;
		}
		for (const struct stmt *p = loop; p && p->kind != STMT_BLOCK;
		     p = p->parent) {
			if (p->kind == STMT_FOR &&
			    loop_drives(p, block, true)) {
				return block;
			}
		}
	}
	return NULL;
}
