/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: expressions. Operators are those of ir/typed. */
#include "script_read.h"

bool
script_binary(struct script_reader *r, const struct py_node *node,
	      enum py_operator op, const struct script_value *a,
	      const struct script_value *b, struct script_value *out)
{
	struct typed x, y, z;

	if (!script_operand(r, node, a, &x) ||
	    !script_operand(r, node, b, &y) ||
	    !typed_binary(&r->typing, node->span, op, &x, &y, &z)) {
		return false;
	}
	*out = script_value_of(z.e, z.weak);
	return true;
}

bool
script_operator(struct script_reader *r, const struct py_node *node,
		const char *text, enum py_operator *out)
{
	return py_operator_find(text, out) ||
	       script_fail(r, node,
			   "'%s' has no meaning between elements; write what "
			   "it should compute",
			   text);
}

static bool
eval_binary(struct script_reader *r, const struct py_node *node,
	    struct script_value *out)
{
	struct script_value a, b;
	enum py_operator op;

	return script_eval(r, node->kids[0], &a) &&
	       script_eval(r, node->kids[1], &b) &&
	       script_need_expr(r, node->kids[0], &a) &&
	       script_need_expr(r, node->kids[1], &b) &&
	       script_operator(r, node, node->op, &op) &&
	       script_binary(r, node, op, &a, &b, out);
}

/* Compares two texts. False if one of the values is something else. */
static bool
compare_texts(struct script_reader *r, enum py_operator op,
	      const struct script_value *a, const struct script_value *b,
	      struct script_value *out)
{
	if (a->kind != SCRIPT_EXPR || a->e->kind != EXPR_STRING ||
	    b->kind != SCRIPT_EXPR || b->e->kind != EXPR_STRING ||
	    (op != PY_OP_EQ && op != PY_OP_NE)) {
		return false;
	}
	bool same = strcmp(a->e->u.text, b->e->u.text) == 0;

	*out = script_value_of(expr_bool(r->m, same == (op == PY_OP_EQ)), true);
	return true;
}

static bool
eval_compare(struct script_reader *r, const struct py_node *node,
	     struct script_value *out)
{
	struct script_value a, b, one;
	enum py_operator op;

	if (!script_eval(r, node->kids[0], &a)) {
		return false;
	}
	for (int i = 0; i + 1 < node->n_kids; i++, a = b) {
		if (!script_operator(r, node, node->ops[i], &op) ||
		    !script_eval(r, node->kids[i + 1], &b)) {
			return false;
		}
		if (compare_texts(r, op, &a, &b, &one)) {
			/* Python's texts, which are known now */
		} else if (!script_binary(r, node, op, &a, &b, &one)) {
			return false;
		}
		if (i == 0) {
			*out = one;
		} else if (!script_binary(r, node, PY_OP_AND, out, &one, out)) {
			return false;
		}
	}
	return true;
}

static bool
eval_unary(struct script_reader *r, const struct py_node *node,
	   struct script_value *out)
{
	struct script_value v;
	struct typed x, y;
	enum py_operator op;

	if (!script_eval(r, node->kids[0], &v) ||
	    !script_operand(r, node->kids[0], &v, &x) ||
	    !script_operator(r, node, node->op, &op) ||
	    !typed_unary(&r->typing, node->span, op, &x, &y)) {
		return false;
	}
	*out = script_value_of(y.e, y.weak);
	return true;
}

static bool
eval_choice(struct script_reader *r, const struct py_node *node,
	    struct script_value *out)
{
	struct script_value v[3];
	struct typed x[3], chosen;

	if (!script_eval(r, node->kids[1], &v[1]) ||
	    !script_operand(r, node->kids[1], &v[1], &x[1])) {
		return false;
	}
	/* a condition that is a number of Python is decided now */
	if (x[1].weak && x[1].e->kind == EXPR_INT) {
		return script_eval(r, node->kids[x[1].e->u.ival ? 0 : 2], out);
	}
	for (int i = 0; i < 3; i += 2) {
		if (!script_eval(r, node->kids[i], &v[i]) ||
		    !script_operand(r, node->kids[i], &v[i], &x[i])) {
			return false;
		}
	}
	if (!typed_choice(&r->typing, node->kids[1]->span, true, &x[1], &x[0],
			  &x[2], &chosen)) {
		return false;
	}
	*out = script_value_of(chosen.e, false);
	return true;
}

/* ---- elements and attributes */

/* Is e, the value of the node or one of a list, an index? False after an error. */
static bool
check_index(struct script_reader *r, const struct py_node *node,
	    const struct expr *e)
{
	return dtype_is_int(e->type) ||
	       script_fail(r, node, "an index of type %s; use an integer",
			   typed_name(r->m, e->type));
}

/* Evaluates one index of a dimension of this size: an expression, or a slice as a vector
 * of indices. */
static bool
eval_index(struct script_reader *r, const struct py_node *node,
	   const struct expr *size, const struct expr **out)
{
	struct range range;
	int64_t lanes;

	if (node->kind != PY_SLICE) {
		return script_expr(r, node, out) && check_index(r, node, *out);
	}
	if (!script_slice(r, node, size, &range)) {
		return false;
	}
	if (!expr_is_int(range.extent, &lanes) || lanes < 1 || lanes > 1024) {
		return script_fail(r, node,
				   "a slice of an element whose "
				   "length is not a constant from 1 to 1024; "
				   "write a loop");
	}
	*out = lanes == 1 ? range.min
			  : expr_ramp(r->m, range.min,
				      expr_int(r->m, range.min->type, 1),
				      (int)lanes);
	return true;
}

static const struct buffer *
buffer_of(struct script_reader *r, const struct script_value *v)
{
	if (v->kind == SCRIPT_BUFFER) {
		return v->buffer;
	}
	if (v->kind == SCRIPT_MEMORY) {
		if (!v->memory->buffer) {
			v->memory->buffer = buffer_new(r->m, &v->memory->spec);
		}
		return v->memory->buffer;
	}
	return NULL;
}

int
script_rank(const struct script_value *v)
{
	return v->view ? v->view->ndim : v->buffer->ndim;
}

bool
script_plus(struct script_reader *r, const struct py_node *node,
	    const struct expr *a, const struct expr *b, const struct expr **out)
{
	struct script_value x = script_value_of(a, false);
	struct script_value y = script_value_of(b, false), sum;

	return script_binary(r, node, PY_OP_ADD, &x, &y, &sum) &&
	       script_settle(r, node, &sum, out);
}

/* The indices of an element that are read so far, of a buffer of this shape. */
struct indices {
	VEC(const struct expr *) list;
	int rank;
	const struct expr *const *shape;
};

/* Appends what the node gives: one index, or those of a list that it names. */
static bool
put_indices(struct script_reader *r, const struct py_node *node,
	    struct indices *all)
{
	bool star = node->kind == PY_STAR;
	struct script_value v = { .kind = SCRIPT_NONE };
	const struct expr *e;

	if ((star || node->kind == PY_NAME) &&
	    !script_eval(r, star ? node->kids[0] : node, &v)) {
		return false;
	}
	for (int i = 0; v.kind == SCRIPT_LIST && i < v.n_items; i++) {
		if (!script_settle(r, node, &v.items[i], &e) ||
		    !check_index(r, node, e)) {
			return false;
		}
		vec_push(&r->m->arena, &all->list, e);
	}
	if (v.kind == SCRIPT_LIST) {
		return true;
	}
	int at = all->list.n < all->rank ? all->list.n : all->rank - 1;

	if (!eval_index(r, node, at < 0 ? expr_i32(r->m, 0) : all->shape[at],
			&e)) {
		return false;
	}
	vec_push(&r->m->arena, &all->list, e);
	return true;
}

/* Like script_indices, with the n indices as a list. */
static bool
indices_at(struct script_reader *r, const struct py_node *node,
	   const struct script_value *v, const struct py_node *const *list,
	   int n, const struct buffer **buffer, const struct expr ***index)
{
	int lanes = 1;

	*buffer = buffer_of(r, v);
	if (!*buffer) {
		return script_fail(r, node->kids[0],
				   "%s with an index; only "
				   "buffers have elements",
				   script_describe(v));
	}
	int rank = v->view ? v->view->ndim : (*buffer)->ndim;
	struct indices all = { { NULL, 0, 0 },
			       rank,
			       v->view ? v->view->shape : (*buffer)->shape };

	for (int i = 0; i < n; i++) {
		if (!put_indices(r, list[i], &all)) {
			return false;
		}
	}
	if (all.list.n != rank) {
		return script_fail(r, node,
				   "%d %s for the %d %s of '%s'; "
				   "give one for each",
				   all.list.n,
				   all.list.n == 1 ? "index" : "indices", rank,
				   rank == 1 ? "dimension" : "dimensions",
				   (*buffer)->name);
	}
	*index = all.list.data ? all.list.data : arena_exprs(&r->m->arena, 1);
	for (int i = 0; i < rank; i++) {
		int own = (*index)[i]->type.lanes;

		if (own > 1 && lanes > 1 && own != lanes) {
			return script_fail(r, node,
					   "indices of %d and %d "
					   "lanes; make them equally long",
					   lanes, own);
		}
		lanes = own > lanes ? own : lanes;
	}
	if (lanes * (*buffer)->type.lanes > UINT16_MAX) {
		return script_fail(r, node,
				   "an element of more than %d "
				   "lanes; make it shorter",
				   UINT16_MAX);
	}
	return true;
}

bool
script_indices(struct script_reader *r, const struct py_node *node,
	       const struct script_value *v, const struct buffer **buffer,
	       const struct expr ***index)
{
	const struct py_node *const *list = &node->kids[1];
	int n = 1;

	if ((*list)->kind == PY_TUPLE) {
		n = (*list)->n_kids;
		list = (*list)->kids;
	}
	return indices_at(r, node, v, list, n, buffer, index);
}

bool
script_element(struct script_reader *r, const struct py_node *node,
	       const struct script_value *v, const struct buffer **buffer,
	       const struct expr ***index)
{
	return script_indices(r, node, v, buffer, index) &&
	       script_whole_index(r, node, v, index);
}

bool
script_is_scalar(const struct script_reader *r, const struct script_value *v)
{
	return (r->is_steps || v->scalar) && v->kind == SCRIPT_BUFFER &&
	       script_rank(v) == 0;
}

bool
script_scalar(struct script_reader *r, const struct py_node *node,
	      const struct script_value *v, const struct buffer **buffer,
	      const struct expr ***index)
{
	return indices_at(r, node, v, NULL, 0, buffer, index) &&
	       script_whole_index(r, node, v, index);
}

static bool
eval_subscript(struct script_reader *r, const struct py_node *node,
	       struct script_value *out)
{
	const struct buffer *b;
	const struct expr **index;
	struct script_value v;
	int64_t at;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	if (v.kind == SCRIPT_LIST) {
		if (!script_constant(r, node->kids[1], &at)) {
			return false;
		}
		at += at < 0 ? v.n_items : 0;
		if (at < 0 || at >= v.n_items) {
			return script_fail(r, node,
					   "an index outside of a "
					   "list of %d; use one within",
					   v.n_items);
		}
		*out = v.items[at];
		return true;
	}
	if (!script_element(r, node, &v, &b, &index)) {
		return false;
	}
	*out = script_value_of(script_view_loaded(r, &v,
						  expr_load(r->m, b, index,
							    b->ndim)),
			       false);
	return true;
}

static bool
expr_items(struct script_reader *r, const struct py_node *node,
	   const struct expr *const *list, int n, struct script_value *out)
{
	struct script_value *items = arena_array(&r->m->arena,
						 struct script_value, n + 1);

	for (int i = 0; i < n; i++) {
		items[i] = script_value_of(list[i], false);
	}
	return script_list(r, node, items, n, out);
}

/* The strides of a part of a buffer: those of the buffer's last dimensions. */
bool
script_part_strides(struct script_reader *r, const struct py_node *node,
		    const struct script_value *v, struct script_value *out)
{
	const struct buffer *b = v->buffer;
	const struct expr **all = arena_exprs(&r->m->arena, b->ndim + 1);
	const struct expr *dense = expr_i32(r->m, 1);

	if (v->view->flat) {
		return script_view_strides(r, node, v->view, &all) &&
		       expr_items(r, node, all, v->view->ndim, out);
	}
	for (int i = b->ndim - 1; i >= 0; i--) {
		struct script_value x = script_value_of(dense, false);
		struct script_value y = script_value_of(b->shape[i], false);

		all[i] = b->strides ? b->strides[i] : dense;
		if (!script_binary(r, node, PY_OP_MUL, &x, &y, &x) ||
		    !script_settle(r, node, &x, &dense)) {
			return false;
		}
	}
	return expr_items(r, node, all + b->ndim - v->view->ndim, v->view->ndim,
			  out);
}

static bool
eval_attribute(struct script_reader *r, const struct py_node *node,
	       struct script_value *out)
{
	static const char *const known[] = { "data", "dtype", "shape",
					     "strides", "elem_offset" };
	const char *path = script_path(r, node);
	struct script_value v;

	if (path) {
		struct dtype t;

		if (dtype_from_name(path, &t)) {
			return script_fail(r, node,
					   "a data type where a "
					   "value is needed; give it one, as "
					   "in T.%s(0)",
					   path);
		}
		return script_fail(r, node,
				   "T.%s without its arguments; call "
				   "it",
				   path);
	}
	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	const struct buffer *b = buffer_of(r, &v);

	if (b && v.view && strcmp(node->text, "shape") == 0) {
		return expr_items(r, node, v.view->shape, v.view->ndim, out);
	}
	if (b && v.view && v.view->flat && strcmp(node->text, "dtype") == 0) {
		*out = script_value_of(expr_string(r->m,
						   typed_name(r->m,
							      v.view->type)),
				       true);
		return true;
	}
	if (b && v.view && v.view->flat && strcmp(node->text, "strides") == 0) {
		return expr_items(r, node, v.view->strides,
				  v.view->strides ? v.view->ndim : 0, out);
	}
	if (b && strcmp(node->text, "elem_offset") == 0) {
		const struct expr *offset = expr_i32(r->m, 0);

		if (v.view && !script_part_offset(r, node, &v, &offset)) {
			return false;
		}
		*out = script_value_of(offset, false);
		return true;
	}
	if (b && v.view && !v.view->flat && !v.view->picks &&
	    strcmp(node->text, "strides") == 0) {
		return script_part_strides(r, node, &v, out);
	}
	if (b && v.view && !v.view->flat && strcmp(node->text, "dtype") != 0 &&
	    strcmp(node->text, "data") != 0) {
		return script_fail(r, node,
				   "%s of a part of a buffer, which has only "
				   "elements, shape, dtype, data and "
				   "elem_offset; use the buffer "
				   "itself",
				   node->text);
	}
	if (b && strcmp(node->text, "data") == 0) {
		*out = script_value_of(b->data->expr, false);
		return true;
	}
	if (b && strcmp(node->text, "name") == 0) {
		*out = script_value_of(expr_string(r->m, b->name), true);
		return true;
	}
	if (b && strcmp(node->text, "dtype") == 0) {
		*out = script_value_of(expr_string(r->m, dtype_name(b->type)),
				       true);
		return true;
	}
	if (v.kind == SCRIPT_EXPR && strcmp(node->text, "dtype") == 0) {
		*out = script_value_of(expr_string(r->m,
						   typed_name(r->m, v.e->type)),
				       true);
		return true;
	}
	if (b && strcmp(node->text, "shape") == 0) {
		return expr_items(r, node, b->shape, b->ndim, out);
	}
	if (b && strcmp(node->text, "strides") == 0) {
		return expr_items(r, node, b->strides, b->strides ? b->ndim : 0,
				  out);
	}
	return script_fail(r, node, "%s has no attribute %s%s",
			   script_describe(&v), node->text,
			   py_did_you_mean(&r->m->arena, node->text, known, 5,
					   "a buffer has data, dtype, shape, "
					   "strides and elem_offset"));
}

/* ---- the rest */

/* e as a script_value: its type is weak if e is a number of Python, which takes
 * the type of the other operand. */
static struct script_value
outer_value(struct script_reader *r, const struct expr *e, bool weak)
{
	if (weak && e->kind == EXPR_INT && e->type.kind != DT_BOOL) {
		e = expr_int(r->m, dtype_of(DT_I64), e->u.ival);
	} else if (weak && e->kind == EXPR_FLOAT) {
		e = expr_float(r->m, dtype_of(DT_F64), e->u.fval);
	}
	return script_value_of(e, weak);
}

bool
script_value_of_outer(struct script_reader *r, const struct py_node *node,
		      const struct script_outer *o, struct script_value *out)
{
	struct script_value *items;

	if (o->e) {
		*out = outer_value(r, o->e, o->weak);
		return true;
	}
	items = arena_array(&r->m->arena, struct script_value, o->n_items + 1);
	for (int i = 0; i < o->n_items; i++) {
		if (!script_value_of_outer(r, node, &o->items[i], &items[i])) {
			return false;
		}
	}
	return script_list(r, node, items, o->n_items, out);
}

static bool
outer_of_value(struct script_reader *r, const struct script_value *v,
	       struct script_outer *out)
{
	struct script_outer *items;

	*out = (struct script_outer){ .e = v->e, .weak = v->weak };
	if (v->kind == SCRIPT_EXPR) {
		return true;
	}
	items = arena_array(&r->m->arena, struct script_outer, v->n_items + 1);
	*out = (struct script_outer){ .items = items, .n_items = v->n_items };
	for (int i = 0; v->kind == SCRIPT_LIST && i < v->n_items; i++) {
		if (!outer_of_value(r, &v->items[i], &items[i])) {
			return false;
		}
	}
	return v->kind == SCRIPT_LIST;
}

/* Sets *out to the result of a call of a Python function of the program; the
 * function is called while the text is read. False after an error. */
static bool
eval_outer_call(struct script_reader *r, const struct py_node *node,
		struct script_value *out)
{
	int n = node->n_kids - 1;
	struct script_outer *args = arena_array(&r->m->arena,
						struct script_outer, n + 1);
	struct script_outer result;
	bool is_one = false;

	for (int i = 0; i < n; i++) {
		const struct py_node *one = node->kids[i + 1];
		struct script_value v;

		if (one->kind == PY_KEYWORD || one->kind == PY_STAR) {
			return script_fail(r, one,
					   "an argument by name; give it by "
					   "position");
		}
		if (!script_eval(r, one, &v)) {
			return false;
		}
		if (!outer_of_value(r, &v, &args[i])) {
			return script_fail(r, one,
					   "%s as an argument of a function of "
					   "Python, which takes numbers; give "
					   "it those",
					   script_describe(&v));
		}
	}
	if (!r->scope->call(r->scope->ctx, node, node->kids[0]->text, args, n,
			    &is_one, &result)) {
		return false;
	}
	if (!is_one) {
		return script_fail(
			r, node,
			"a call of something that is neither T's nor "
			"a function of numbers that is defined above; "
			"write out what it computes");
	}
	return script_value_of_outer(r, node, &result, out);
}

/* Sets *out to the value of a name that the script defines or, if it does not,
 * r->scope. A literal of r->scope later takes the type of the other operand.
 * False after an error. */
static bool
eval_name(struct script_reader *r, const struct py_node *node,
	  struct script_value *out)
{
	const struct script_value *v = script_find(r, node->text);
	const struct buffer *b;
	const struct expr **index, *e;

	if (v && script_is_scalar(r, v)) {
		if (!script_scalar(r, node, v, &b, &index)) {
			return false;
		}
		*out = script_value_of(expr_load(r->m, b, index, b->ndim),
				       false);
		return true;
	}
	if (v) {
		*out = *v;
		return true;
	}
	if (r->scope && (e = r->scope->lookup(r->scope->ctx, node->text))) {
		bool weak = e->kind == EXPR_INT || e->kind == EXPR_FLOAT ||
			    e->kind == EXPR_STRING;

		*out = outer_value(r, e, weak);
		return true;
	}
	struct script_outer list;
	bool is_list = false;

	if (r->scope && r->scope->list &&
	    !r->scope->list(r->scope->ctx, node, &is_list, &list)) {
		return false;
	}
	if (is_list) {
		return script_value_of_outer(r, node, &list, out);
	}
	const char **names = arena_array(&r->m->arena, const char *,
					 r->names.n + 1);
	int n = 0;

	for (int i = r->n_hidden; i < r->names.n; i++) {
		names[n++] = r->names.data[i].name;
	}
	return script_fail(r, node, "nothing is named %s here%s", node->text,
			   py_did_you_mean(&r->m->arena, node->text, names, n,
					   "define it before its use"));
}

static bool
eval_list(struct script_reader *r, const struct py_node *node,
	  struct script_value *out)
{
	VEC(struct script_value) items = { NULL, 0, 0 };

	*out = (struct script_value){ .kind = SCRIPT_LIST,
				      .all = { .levels = 1 } };
	for (int i = 0; i < node->n_kids; i++) {
		const struct py_node *one = node->kids[i];
		bool star = one->kind == PY_STAR;
		struct script_value v;

		if (!script_eval(r, star ? one->kids[0] : one, &v)) {
			return false;
		}
		if (star && v.kind != SCRIPT_LIST) {
			return script_fail(r, one,
					   "a star before %s; it takes "
					   "a list",
					   script_describe(&v));
		}
		int n = star ? v.n_items : 1;

		for (int k = 0; k < n; k++) {
			const struct script_value *item = star ? &v.items[k]
							       : &v;

			if (!script_list_grows(r, one, item, out)) {
				return false;
			}
			vec_push(&r->m->arena, &items, *item);
		}
	}
	out->items = items.data;
	out->n_items = items.n;
	return true;
}

/* T.ptx["ld.global.b32"], a family of instructions with the name of one: its
 * path, ptx.ld.global.b32. Leaves *path alone for others; false after an error. */
static bool
script_family(struct script_reader *r, const struct py_node *node,
	      const char **path)
{
	const char *family = node->kind == PY_SUBSCRIPT
				     ? script_path(r, node->kids[0])
				     : NULL;
	const char *name;

	if (!family ||
	    (strcmp(family, "ptx") != 0 && strcmp(family, "ptx_legacy") != 0)) {
		return true;
	}
	if (!script_text(r, node->kids[1], &name)) {
		return false;
	}
	*path = arena_printf(&r->m->arena, "%s.%s", family, name);
	return true;
}

static bool
eval_call(struct script_reader *r, const struct py_node *node,
	  struct script_value *out)
{
	const char *path = script_path(r, node->kids[0]), *name;
	const struct py_node *def = script_function(r, node);
	const struct expr *e;
	struct dtype t;

	if (def) {
		return script_function_value(r, node, def, NULL, out);
	}
	if (!path && !script_family(r, node->kids[0], &path)) {
		return false;
	}
	if (!path && node->kids[0]->kind == PY_NAME) {
		static const char *const plain[] = { "min", "max", "abs" };

		for (int i = 0; i < 3; i++) {
			if (strcmp(plain[i], node->kids[0]->text) == 0) {
				path = plain[i];
			}
		}
	}
	if (!path && node->kids[0]->kind == PY_ATTRIBUTE &&
	    strcmp(node->kids[0]->text, "astype") == 0) {
		return script_astype(r, node, out);
	}
	if (!path && node->kids[0]->kind == PY_ATTRIBUTE &&
	    strcmp(node->kids[0]->text, "ptr_to") == 0) {
		return script_ptr_to(r, node, out);
	}
	if (!path && node->kids[0]->kind == PY_ATTRIBUTE &&
	    strcmp(node->kids[0]->text, "vload") == 0) {
		return script_vload(r, node, out);
	}
	if (!path && node->kids[0]->kind == PY_ATTRIBUTE &&
	    strcmp(node->kids[0]->text, "access_ptr") == 0) {
		struct script_value v;
		const struct buffer *b;

		if (!script_eval(r, node->kids[0]->kids[0], &v)) {
			return false;
		}
		b = buffer_of(r, &v);
		if (v.kind == SCRIPT_MEMORY) {
			v = (struct script_value){ .kind = SCRIPT_BUFFER,
						   .buffer = b };
		}
		return b ? script_access_ptr(r, node, &v, out)
			 : script_fail(r, node->kids[0],
				       "only buffers have access_ptr()");
	}
	if (!path && r->scope && r->scope->function && r->scope->result &&
	    (name = r->scope->function(r->scope->ctx, node->kids[0]))) {
		t = r->scope->result(r->scope->ctx, name);
		if (t.kind == DT_VOID) {
			return script_fail(r, node,
					   "the value of a function that gives "
					   "none; say its type, as in "
					   "-> T.int32");
		}
		if (!script_call_of(r, node, name, t, &e)) {
			return false;
		}
		*out = script_value_of(e, false);
		return true;
	}
	if (!path && node->kids[0]->kind == PY_NAME && r->scope &&
	    r->scope->call) {
		return eval_outer_call(r, node, out);
	}
	if (!path) {
		return script_fail(r, node,
				   "a call of something that is not "
				   "T's; functions of Python cannot be called "
				   "here");
	}
	return script_call(r, node, path, out);
}

static bool
evaluate(struct script_reader *r, const struct py_node *node,
	 struct script_value *out)
{
	struct module *m = r->m;
	struct py_number number;
	struct typed literal;
	const char *error;

	if (py_number_read(node, &number, &error) && !error) {
		literal = typed_number(m, &number);
		*out = script_value_of(literal.e, true);
		return true;
	}
	switch (node->kind) {
	case PY_INT: /* above 2^63 */
		*out = script_value_of(expr_int(m, dtype_of(DT_U64),
						node->ival),
				       true);
		return true;
	case PY_NAME:
		return eval_name(r, node, out);
	case PY_STRING:
		if (memchr(node->text, 0, node->length)) {
			return script_fail(r, node,
					   "a string with a zero "
					   "byte; leave it out");
		}
		*out = script_value_of(expr_string(m, node->text), true);
		return true;
	case PY_NONE:
		*out = (struct script_value){ .kind = SCRIPT_NONE };
		return true;
	case PY_TUPLE:
	case PY_LIST:
		return eval_list(r, node, out);
	case PY_ATTRIBUTE:
		return eval_attribute(r, node, out);
	case PY_SUBSCRIPT:
		return eval_subscript(r, node, out);
	case PY_CALL:
		return eval_call(r, node, out);
	case PY_UNARY:
		return eval_unary(r, node, out);
	case PY_BINARY:
		return eval_binary(r, node, out);
	case PY_COMPARE:
		return eval_compare(r, node, out);
	case PY_IFELSE:
		return eval_choice(r, node, out);
	case PY_LAMBDA:
		return script_fail(r, node,
				   "a lambda inside of a function; "
				   "write its body out");
	case PY_DICT:
	case PY_SET:
		return script_fail(r, node,
				   "a dict where a value is needed; "
				   "only attributes and annotations take one");
	case PY_SLICE:
		return script_fail(r, node,
				   "a slice where a value is needed; "
				   "write an index");
	default:
		return script_fail(r, node,
				   "this form of Python has no "
				   "meaning in a tensor function; write it "
				   "out");
	}
}

bool
script_eval(struct script_reader *r, const struct py_node *node,
	    struct script_value *out)
{
	bool ok;

	r->n_evals++;
	ok = script_evals_fit(r, node) && evaluate(r, node, out) &&
	     script_fits(r, node, out);
	r->n_evals--;
	return ok;
}
