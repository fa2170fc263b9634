/* SPDX-License-Identifier: Apache-2.0 */
/* The host/device split; see host_device.h. */
#include "host_device.h"

#include <string.h>

#include "identifiers.h"
#include "iterate.h"
#include "thread_loops.h"

/* The value that TVM gives the attribute calling_conv of a device kernel. */
enum { CONVENTION_KERNEL = 2 };

struct split {
	struct module *m;
	struct func *host;
	const struct device_limits *limits;
	bool failed;
};

static bool
split_fail(struct split *x, const char *fmt, ...)
{
	va_list ap;

	if (!x->failed) {
		va_start(ap, fmt);
		func_error(x->host, DIAG_UNSUPPORTED, "%s",
			   arena_vprintf(&x->m->arena, fmt, ap));
		va_end(ap);
	}
	x->failed = true;
	return false;
}

bool
lower_has_threads(const struct func *f)
{
	return threads_kernels(f).list.n > 0;
}

bool
lower_is_kernel(const struct func *f)
{
	const struct expr *e = func_note(f, "calling_conv");

	return e && expr_is_value(e, CONVENTION_KERNEL);
}

/* -- free variables and buffers of a kernel: its parameters */

struct uses {
	struct arena *arena;
	const struct stmt *root;
	VEC(const struct buffer *) buffers;
	VEC(struct var *) vars;
	/* buffers and variables that the kernel itself declares, so that they
	 * are not parameters */
	VEC(const void *) declared;
};

static bool
is_declared(const struct uses *u, const void *decl)
{
	return vec_has(&u->declared, decl);
}

static void
use_buffer(struct uses *u, const struct buffer *b)
{
	vec_add(u->arena, &u->buffers, b);
}

static void
use_expr(struct uses *u, const struct expr *e)
{
	if (e->kind == EXPR_LOAD && !is_declared(u, e->u.buffer)) {
		use_buffer(u, e->u.buffer);
	} else if (e->kind == EXPR_VAR && !is_declared(u, e->u.var)) {
		if (vec_has(&u->vars, e->u.var)) {
			return;
		}
		vec_push(u->arena, &u->vars, e->u.var);
	}
}

static void
use_exprs(struct uses *u, const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each(list, n);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		use_expr(u, e);
	}
}

static void
use_stmt(struct uses *u, const struct stmt *s)
{
	use_exprs(u, s->args, s->n_args);
	switch (s->kind) {
	case STMT_FOR:
		vec_push(u->arena, &u->declared, s->u.loop.var);
		break;
	case STMT_LET:
		vec_push(u->arena, &u->declared, s->u.var);
		break;
	case STMT_ALLOC:
		vec_push(u->arena, &u->declared, s->u.buffer);
		break;
	case STMT_STORE:
		if (!is_declared(u, s->u.buffer)) {
			use_buffer(u, s->u.buffer);
		}
		break;
	default:
		break;
	}
}

static void
collect_uses(struct split *x, struct stmt *root, struct uses *u)
{
	u->arena = &x->m->arena;
	u->root = root;
	for (struct stmt_iter it = stmt_each(root); (root = stmt_next(&it));) {
		use_stmt(u, root);
	}
	/* Shapes and strides of the buffers may use further variables. */
	for (int i = 0; i < u->buffers.n; i++) {
		const struct buffer *b = u->buffers.data[i];

		use_exprs(u, b->shape, b->ndim);
		use_exprs(u, b->strides, b->ndim);
	}
}

/* Adds the kernel's parameters and sets args[0..*n) to the arguments of the
 * launch: first the host function's parameters that the kernel uses, in their
 * order, then variables that a loop or a LET of the host binds. */
static void
add_params(struct split *x, struct func *kernel, struct uses *u,
	   const struct expr **args, int *n)
{
	const struct func *host = x->host;

	for (int i = 0; i < host->params.n; i++) {
		const struct param *p = &host->params.data[i];
		bool used = false;

		for (int k = 0; k < u->buffers.n && p->buffer; k++) {
			used |= u->buffers.data[k] == p->buffer;
		}
		for (int k = 0; k < u->vars.n; k++) {
			if (u->vars.data[k] == p->var) {
				used = true;
				u->vars.data[k] = NULL;
			}
		}
		if (used) {
			func_add_param(kernel, p->var, p->buffer);
			args[(*n)++] = p->var->expr;
		}
	}
	for (int k = 0; k < u->vars.n; k++) {
		struct var *v = u->vars.data[k];

		if (v) {
			func_add_param(kernel, v, NULL);
			args[(*n)++] = v->expr;
		}
	}
}

/* -- one kernel */

int64_t
lower_shared_place(const struct func *kernel, const struct buffer *wanted)
{
	int64_t place = 0, end = 0;
	const struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(kernel->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		const struct buffer *b = s->u.buffer;
		int64_t elems,
			align = b->align_bytes > 16 ? b->align_bytes : 16;

		if (!buffer_is_shared(b) || !buffer_const_elems(b, &elems)) {
			continue;
		}
		end = (end + align - 1) / align * align;
		if (b == wanted) {
			place = end;
		}
		end += elems * dtype_bytes(b->type) * b->type.lanes;
	}
	return wanted != NULL ? place : end;
}

static void
check_arrays(struct split *x, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		const struct buffer *b = s->u.buffer;
		int64_t elems;

		if (!buffer_is_shared(b) && !buffer_is_private(b)) {
			split_fail(x,
				   "buffer %s of a kernel has the scope "
				   "'%s'; local and shared ones can be made",
				   b->name, b->scope);
		} else if (!buffer_const_elems(b, &elems)) {
			split_fail(x, "%s array %s has no constant size",
				   b->scope, b->name);
		}
	}
}

static void
check_limits(struct split *x, const struct launch *l)
{
	int64_t threads = 1;

	for (int i = 0; i < 3; i++) {
		int64_t n;

		if (!expr_is_int(l->block[i], &n)) {
			return;
		}
		threads *= n;
	}
	if (x->limits && x->limits->max_threads > 0 &&
	    threads > x->limits->max_threads) {
		split_fail(x,
			   "%s has %lld threads in a block, the device "
			   "%d at most; split the loops bound to threadIdx",
			   l->kernel->name, (long long)threads,
			   x->limits->max_threads);
	}
}

static void
make_kernel(struct split *x, struct stmt *root, const char *name,
	    struct launch *l)
{
	struct func *kernel = func_new(x->m, name);
	struct uses uses = { 0 };
	struct stmt *loops[TAG_COUNT];
	const struct expr **args;
	int n = 7;

	collect_uses(x, root, &uses);
	threads_body(root, loops);
	check_arrays(x, root);
	l->kernel = kernel;
	for (int i = 0; i < 3; i++) {
		const struct stmt *b = loops[TAG_BLOCK_X - i];
		const struct stmt *t = loops[TAG_THREAD_X - i];

		l->grid[i] = b ? b->args[1] : expr_i32(x->m, 1);
		l->block[i] = t ? t->args[1] : expr_i32(x->m, 1);
	}
	args = arena_exprs(&x->m->arena, n + x->host->params.n + uses.vars.n);
	args[0] = expr_string(x->m, name);
	for (int i = 0; i < 3; i++) {
		args[1 + i] = l->grid[i];
		args[4 + i] = l->block[i];
	}
	add_params(x, kernel, &uses, args, &n);
	kernel->body = stmt_clone(kernel, root, false);
	kernel->body->parent = NULL;
	l->shared_bytes = lower_shared_place(kernel, NULL);
	func_set_note(kernel, "calling_conv",
		      expr_i32(x->m, CONVENTION_KERNEL));
	func_set_note(kernel, "global_symbol", expr_string(x->m, name));
	check_limits(x, l);
	if (x->limits && x->limits->shared_bytes > 0 &&
	    l->shared_bytes > x->limits->shared_bytes) {
		split_fail(x,
			   "%s has %lld bytes of shared arrays, a block of "
			   "the device %lld",
			   name, (long long)l->shared_bytes,
			   (long long)x->limits->shared_bytes);
	}
	stmt_replace(x->host, root,
		     stmt_evaluate(x->host,
				   expr_call(x->m, INTRIN_LAUNCH,
					     dtype_of(DT_VOID), args, n)));
}

/* -- the host */

/* Global arrays of the host become parameters: the caller provides device
 * memory for them. False after a diagnostic if an array that is not global is
 * allocated outside of kernels. */
static bool
lift_allocs(struct split *x, struct stmt *s)
{
	if (tag_of(s) >= 0) {
		return true;
	}
	for (int i = 0; i < s->n_children && !x->failed; i++) {
		if (s->children[i]) {
			lift_allocs(x, s->children[i]);
		}
	}
	if (s->kind != STMT_ALLOC) {
		return !x->failed;
	}
	if (strcmp(s->u.buffer->scope, "global") != 0) {
		return split_fail(x,
				  "buffer %s is %s, and its uses are not "
				  "in one kernel",
				  s->u.buffer->name, s->u.buffer->scope);
	}
	if (!func_has_param(x->host, s->u.buffer)) {
		func_add_param(x->host, s->u.buffer->data, s->u.buffer);
	}
	stmt_replace(x->host, s, s->children[0]);
	return true;
}

static bool
check_host(struct split *x, struct stmt *s)
{
	const struct buffer *accessed = s->kind == STMT_STORE ? s->u.buffer
							      : NULL;
	const struct expr *e;

	for (struct tree_iter it = tree_each_arg(s); (e = tree_next(&it));) {
		accessed = e->kind == EXPR_LOAD ? e->u.buffer : accessed;
	}
	if (accessed) {
		split_fail(x,
			   "%s is touched by a statement that no thread "
			   "runs; bind the loops around it to blockIdx and "
			   "threadIdx",
			   accessed->name);
	}
	return !x->failed;
}

static const char *
kernel_name(struct split *x, struct name_set *names, int i)
{
	const char *stem = x->host->name;

	if (names != NULL) {
		return i == 0 ? stem : name_set_add(names, stem);
	}
	return arena_printf(&x->m->arena, i == 0 ? "%s_kernel" : "%s_kernel_%d",
			    stem, i + 1);
}

static void
take_place(struct module *m, struct func *old, struct func *new)
{
	for (int i = 0; i < m->funcs.n; i++) {
		if (m->funcs.data[i] == old) {
			m->funcs.data[i] = new;
			return;
		}
	}
	vec_push(&m->arena, &m->funcs, new);
}

bool
lower_split_host_device(struct module *m, struct func *f,
			const struct device_limits *limits,
			struct name_set *names, struct host_device *out)
{
	struct split x = { .m = m, .limits = limits };
	struct stmt_list kernels;
	struct stmt *s;

	x.host = func_clone(f, f->name);
	if (!lift_allocs(&x, x.host->body)) {
		return false;
	}
	kernels = threads_kernels(x.host);
	if (kernels.list.n == 0) {
		return split_fail(&x, "no loop is bound to threads; bind some "
				      "to blockIdx and threadIdx");
	}
	out->host = x.host;
	out->n_launches = kernels.list.n;
	out->launches = arena_array(&m->arena, struct launch, kernels.list.n);
	for (int i = 0; i < kernels.list.n; i++) {
		make_kernel(&x, kernels.list.data[i], kernel_name(&x, names, i),
			    &out->launches[i]);
	}
	for (struct stmt_iter it = stmt_each(x.host->body);
	     (s = stmt_next(&it));) {
		if (!check_host(&x, s)) {
			return false;
		}
	}
	take_place(m, f, x.host);
	for (int i = 0; i < out->n_launches; i++) {
		vec_push(&m->arena, &m->funcs, out->launches[i].kernel);
	}
	return true;
}
