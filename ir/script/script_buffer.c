/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: buffers, which are in the signature, matched to
 * handles, or allocated in blocks and loops. */
#include "script_read.h"

/* The arguments of T.Buffer after shape and dtype: their indices in the array
 * `more`. */
enum {
	MORE_DATA,
	MORE_STRIDES,
	MORE_OFFSET,
	MORE_SCOPE,
	MORE_ALIGN,
	MORE_FACTOR,
	MORE_TYPE,
	MORE_SEPARATORS,
	MORE_LAYOUT,
	MORE_ADDRESS,
	MORE_BYTES,
	MORE_NAME,
	MORE_COUNT
};

/* The names of these arguments, in TVM's order. */
#define MORE_FACTS                                                             \
	"data?, strides?, elem_offset?, scope?, align?, offset_factor?, "      \
	"buffer_type?, axis_separators?, layout?, allocated_addr?, "           \
	"byte_offset?, buffer_name?"

/* The elements of a constant array, of one type. */
struct script_constants {
	VEC(const struct expr *) list;
	struct dtype type;
};

static bool
has_star(const struct py_node *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (list[i]->kind == PY_STAR) {
			return true;
		}
	}
	return false;
}

/* Has a buffer at most SCRIPT_MAX_RANK dimensions? False after an error. */
static bool
check_rank(struct script_reader *r, const struct py_node *node, int ndim)
{
	return ndim <= SCRIPT_MAX_RANK ||
	       script_fail(r, node, "%d dimensions; at most %d are read", ndim,
			   SCRIPT_MAX_RANK);
}

/* Is e, the value of the node or one of a list, a size: one integer, and not a
 * negative constant? False after an error. */
static bool
check_size(struct script_reader *r, const struct py_node *node,
	   const struct expr *e)
{
	int64_t extent;

	if (!dtype_is_int(e->type) || e->type.lanes != 1) {
		return script_fail(r, node, "a size of type %s; use an integer",
				   typed_name(r->m, e->type));
	}
	return !expr_is_int(e, &extent) || extent >= 0 ||
	       script_fail(r, node, "a negative size; give one from 0");
}

static bool
read_shape(struct script_reader *r, const struct py_node *node, int *ndim,
	   const struct expr ***out)
{
	struct script_value v;
	int n;
	const struct py_node *const *list = script_items(&node, &n);

	if (!check_rank(r, node, n)) {
		return false;
	}
	if (node->kind == PY_NAME || node->kind == PY_ATTRIBUTE ||
	    has_star(list, n)) {
		/* the node may name a list: A.shape; it may have a part that
		 * does: (4, *A.shape) */
		if (!script_eval(r, node, &v)) {
			return false;
		}
		if (v.kind == SCRIPT_LIST) {
			*ndim = v.n_items;
			*out = arena_exprs(&r->m->arena, v.n_items + 1);
			if (!check_rank(r, node, v.n_items)) {
				return false;
			}
			for (int i = 0; i < v.n_items; i++) {
				if (!script_settle(r, node, &v.items[i],
						   &(*out)[i]) ||
				    !check_size(r, node, (*out)[i])) {
					return false;
				}
			}
			return true;
		}
	}
	*ndim = n;
	*out = arena_exprs(&r->m->arena, n + 1);
	for (int i = 0; i < n; i++) {
		struct py_node size = *list[i];

		if (size.kind == PY_STRING) { /* "n": the size n */
			size.kind = PY_NAME;
		}
		if (!script_index(r, &size, &(*out)[i]) ||
		    !check_size(r, list[i], (*out)[i])) {
			return false;
		}
	}
	return true;
}

/* Is the argument absent, or None? */
static bool
is_absent(const struct py_node *node)
{
	return !node || node->kind == PY_NONE;
}

/* Is the layout the one that tirc's buffers have, row by row? */
static bool
is_plain_layout(const struct py_node *layout)
{
	return is_absent(layout) || (layout->kind == PY_STRING &&
				     strcmp(layout->text, "default") == 0);
}

/* Does the buffer begin behind its pointer? */
static bool
has_offset(const struct py_node *const *more)
{
	const struct py_node *node = more[MORE_OFFSET];

	return !is_absent(node) && is_absent(more[MORE_DATA]) &&
	       !(node->kind == PY_INT && node->ival == 0);
}

/* The layout must have its default value, except that of an allocation, whose
 * elements only their indices name. Axis separators assign
 * axes to the dimensions of a target's memory; the memory of tirc's targets has
 * one dimension. The address of an allocation is left to the compiler. */
static bool
check_ignored(struct script_reader *r, const struct py_node *const *more)
{
	const struct py_node *layout = more[MORE_LAYOUT];

	if (!is_plain_layout(layout) && !r->allocates) {
		return script_fail(
			r, layout,
			"a layout of tiles, which only tile operators "
			"of a GPU read; leave it out, and say the "
			"place of each element by its indices or "
			"strides");
	}
	return true;
}

/* Can a buffer hold elements of type t, that of the node? False after an error. */
static bool
check_elements(struct script_reader *r, const struct py_node *node,
	       struct dtype t)
{
	enum dtype_class of = dtype_class(t);

	return (of != DTC_VOID && of != DTC_STRING && of != DTC_HANDLE) ||
	       script_fail(r, node,
			   "no buffer can hold elements of type %s; use a "
			   "numeric type",
			   dtype_name(t));
}

/* Reads shape, type and the other properties of a buffer from the arguments of
 * T.Buffer, T.match_buffer, …, or from the index of the old T.Buffer[…]. False
 * after an error. */
static bool
script_buffer_facts(struct script_reader *r, const struct py_node *shape,
		    const struct py_node *type,
		    const struct py_node *const *more, struct buffer_spec *spec)
{
	const struct expr **dims, **strides;
	int n_strides;

	spec->type = dtype_of(DT_F32);
	if (!read_shape(r, shape, &spec->ndim, &dims) ||
	    (type && !script_type(r, type, &spec->type)) ||
	    !check_ignored(r, more) || !check_elements(r, type, spec->type)) {
		return false;
	}
	spec->shape = dims;
	if (more[MORE_STRIDES] && more[MORE_STRIDES]->kind != PY_NONE) {
		if (!read_shape(r, more[MORE_STRIDES], &n_strides, &strides)) {
			return false;
		}
		if (n_strides != 0 && n_strides != spec->ndim) {
			return script_fail(r, more[MORE_STRIDES],
					   "%d strides "
					   "for %d dimensions; give one for "
					   "each",
					   n_strides, spec->ndim);
		}
		spec->strides = n_strides > 0 ? strides : NULL;
	}
	if (more[MORE_SCOPE]) {
		if (!script_text(r, more[MORE_SCOPE], &spec->scope)) {
			return false;
		}
		if (!*spec->scope) {
			spec->scope = NULL;
		}
	}
	if (more[MORE_ALIGN]) {
		int64_t align;

		if (!script_constant(r, more[MORE_ALIGN], &align)) {
			return false;
		}
		if (align < -1 || align > 65536 || (align & (align - 1)) > 0) {
			return script_fail(
				r, more[MORE_ALIGN],
				"an alignment "
				"that is not a power of two; use one, "
				"in bytes");
		}
		/* 0 and -1 ask for the default alignment: in TVM 64 bytes, here
		 * the alignment of the element type. */
		spec->align_bytes = align > 0 ? (int)align : 0;
	}
	return true;
}

/* Reads the type of a buffer, T.Buffer((8,), "float32", …) or T.Buffer[(8,),
 * "float32"]. False after an error. */
bool
script_buffer_type(struct script_reader *r, const struct py_node *node,
		   struct buffer_spec *spec)
{
	const struct py_node *found[2 + MORE_COUNT] = { NULL };

	if (node->kind == PY_CALL) {
		if (!script_args(r, node, "shape, dtype?, " MORE_FACTS,
				 found)) {
			return false;
		}
		if (!is_absent(found[2 + MORE_DATA])) {
			return script_fail(r, found[2 + MORE_DATA],
					   "a parameter with a "
					   "pointer of another; leave it out");
		}
		if (has_offset(found + 2)) {
			return script_fail(r, found[2 + MORE_OFFSET],
					   "a parameter that does not begin at "
					   "its pointer; make it a T.handle, "
					   "and match it with elem_offset");
		}
		return script_buffer_facts(r, found[0], found[1], found + 2,
					   spec);
	}
	const struct py_node *index = node->kids[1];

	if (index->kind != PY_TUPLE || index->n_kids == 0) {
		return script_buffer_facts(r, index, NULL, found + 2, spec);
	}
	/* T.Buffer[8, "float32"], T.Buffer[(8, 8), "float32"]; if the last
	 * element is no type, all of the index is the shape. */
	const struct py_node *last = index->kids[index->n_kids - 1];

	if (last->kind != PY_STRING && !script_path(r, last)) {
		return script_buffer_facts(r, index, NULL, found + 2, spec);
	}
	if (index->n_kids == 2) {
		return script_buffer_facts(r, index->kids[0], last, found + 2,
					   spec);
	}
	struct py_node shape = *index;

	shape.n_kids--;
	return script_buffer_facts(r, &shape, last, found + 2, spec);
}

/* ---- declarations */

static const char *const declarations[] = {
	"match_buffer", "alloc_buffer", "sblock_alloc_buffer", "decl_buffer",
	"allocate",     "Buffer",       "buffer_decl",         "allocate_const",
	"alloc_shared", "alloc_local",  "local_scalar",        "shared_scalar",
	"alloc_scalar",
};

bool
script_declares_buffer(const struct script_reader *r,
		       const struct py_node *call)
{
	const char *path = call->kind == PY_CALL ? script_path(r, call->kids[0])
						 : NULL;

	for (size_t i = 0;
	     path && i < sizeof declarations / sizeof *declarations; i++) {
		if (strcmp(declarations[i], path) == 0) {
			return true;
		}
	}
	return false;
}

static void
define_buffer(struct script_reader *r, const char *name, const struct buffer *b)
{
	script_define(r, name,
		      (struct script_value){ .kind = SCRIPT_BUFFER,
					     .buffer = b });
}

/* Is `name` the stem, or the stem made unique: stem_1? */
static bool
is_made_from(const char *name, const char *stem)
{
	const size_t length = strlen(stem);

	if (strncmp(name, stem, length) != 0) {
		return false;
	}
	name += length;
	return *name == '\0' ||
	       (*name == '_' && name[1] != '\0' &&
		name[1 + strspn(name + 1, "0123456789")] == '\0');
}

/* The name that a buffer printed as `name` had before the name was made unique.
 * This name follows from the name of the buffer's handle: the handle of b is
 * var_b, even if b itself is printed as b_1. A handle that is written var_b_1
 * may be that of a second b, or of b_1. Returns `hint` if no name of the handle
 * has this form. */
static const char *
matched_hint(const struct script_handle *handle, const struct py_node *written,
	     const char *name, const char *hint)
{
	const char *const handles[] = { handle->var->name, written->text };

	for (int i = 0; i < 2; i++) {
		if (handles[i] != NULL && strncmp(handles[i], "var_", 4) == 0 &&
		    is_made_from(name, handles[i] + 4)) {
			return handles[i] + 4;
		}
	}
	return hint;
}

/* Has v no value yet: does no shape and no loop give it one? */
static bool
is_open(const struct script_reader *r, const struct script_value *v)
{
	for (int i = 0; i < r->loops.n; i++) {
		if (r->loops.data[i].var == v->e->u.var) {
			return false;
		}
	}
	return v->open && !v->e->u.var->is_dim;
}

/* Gives the variable that the node names, declared before by s = T.int32(), the value
 * of the expression. False after an error, where the variable has another value. */
static bool
take_value(struct script_reader *r, const struct py_node *node,
	   const struct expr *value)
{
	const struct script_value *v = node->kind == PY_NAME
					       ? script_find(r, node->text)
					       : NULL;

	if (!v || v->kind != SCRIPT_EXPR || v->e->kind != EXPR_VAR ||
	    v->e == value) {
		return true;
	}
	if (!is_open(r, v)) {
		return script_fail(r, node,
				   "%s has a value of its own; declare a "
				   "variable for the part, s = T.int32()",
				   node->text);
	}
	script_define(r, node->text, script_value_of(value, false));
	return true;
}

/* The variables among the strides and the offset of a part become those that it has:
 * strides=[s1, s0], elem_offset=p. */
static bool
part_facts(struct script_reader *r, const struct py_node *const *found,
	   const struct script_value *part)
{
	const struct py_node *strides = found[3 + MORE_STRIDES];
	const struct py_node *offset = found[3 + MORE_OFFSET];
	const struct py_node *const *list;
	struct script_value all;
	const struct expr *place;
	int n;

	if (!is_absent(offset) && offset->kind == PY_NAME) {
		if (!script_part_offset(r, offset, part, &place)) {
			return false;
		}
		if (!take_value(r, offset, place)) {
			return false;
		}
	}
	if (is_absent(strides)) {
		return true;
	}
	list = script_items(&strides, &n);
	if (!script_part_strides(r, strides, part, &all)) {
		return false;
	}
	for (int i = 0; i < n && i < all.n_items; i++) {
		if (!take_value(r, list[i], all.items[i].e)) {
			return false;
		}
	}
	return true;
}

/* Checks that the part with the ranges has the shape `dims` of ndim dimensions, and
 * a single index in each of its `lead` dimensions before these. */
static bool
check_part(struct script_reader *r, const struct py_node *node,
	   const struct range *ranges, int lead, int ndim,
	   const struct expr *const *dims)
{
	for (int i = 0; i < lead + ndim; i++) {
		const struct expr *extent = ranges[i].extent;
		int64_t have, want = 1;

		if (i >= lead && extent == dims[i - lead]) {
			continue;
		}
		if (!expr_is_int(extent, &have) ||
		    (i >= lead && !expr_is_int(dims[i - lead], &want)) ||
		    have != want) {
			return script_fail(r, node,
					   "a part of another shape than its "
					   "name has; give each dimension one "
					   "constant size, and those before "
					   "the shape a single index");
		}
	}
	return true;
}

/* Reads found[0], a part of a buffer: *of gets the buffer, or the flat view that the
 * part is of, *ranges a range for each dimension of it, and *rank their number. */
static bool
read_part(struct script_reader *r, const struct py_node *node,
	  struct script_value *of, struct range **ranges, int *rank)
{
	struct region region;

	if (!script_ranges(r, node, of, ranges)) {
		return false;
	}
	*rank = script_rank(of);
	if (of->view && of->view->flat) {
		return true;
	}
	of->view = NULL;
	*rank = of->buffer->ndim;
	if (!script_region(r, node, &region)) {
		return false;
	}
	*ranges = region.ranges;
	return true;
}

/* Defines a name for a part of a buffer: A0 = T.match_buffer(A[i:i + 16, 0:8],
 * (16, 8)). An element of the part is read as the element of the buffer at this
 * position. */
static bool
match_part(struct script_reader *r, const struct py_node *const *found,
	   const char *name)
{
	struct script_view *view = arena_new(&r->m->arena, struct script_view);
	struct script_value v = { .kind = SCRIPT_BUFFER, .view = view }, of;
	struct range *ranges;
	const struct expr **dims;
	struct dtype type, given;
	int ndim, rank, lead;

	if (!read_part(r, found[0], &of, &ranges, &rank)) {
		return false;
	}
	type = of.view ? of.view->type : of.buffer->type;
	ndim = rank;
	dims = arena_exprs(&r->m->arena, ndim + 1);
	for (int i = 0; i < ndim; i++) {
		dims[i] = ranges[i].extent;
	}
	given = type;
	if ((found[1] && !read_shape(r, found[1], &ndim, &dims)) ||
	    (found[2] && !script_type(r, found[2], &given))) {
		return false;
	}
	lead = rank - ndim;
	if (lead < 0) {
		return script_fail(
			r, found[1],
			"%d dimensions for a part of a buffer of %d; "
			"give as many as the buffer has, or fewer",
			ndim, rank);
	}
	if (!dtype_equal(given, type)) {
		return script_fail(r, found[2],
				   "a part of type %s of a buffer of %s; give "
				   "both one type",
				   typed_name(r->m, given),
				   typed_name(r->m, type));
	}
	if (!check_part(r, found[1] ? found[1] : found[0], ranges, lead, ndim,
			dims)) {
		return false;
	}
	view->ndim = ndim;
	view->type = type;
	view->shape = dims;
	v.buffer = of.buffer;
	if (of.view) {
		if (!script_view_part(r, found[0], of.view, ranges, lead,
				      view)) {
			return false;
		}
	} else {
		view->min = arena_exprs(&r->m->arena, rank + 1);
		for (int i = 0; i < rank; i++) {
			view->min[i] = ranges[i].min;
		}
	}
	script_define(r, name, v);
	return part_facts(r, found, &v);
}

static bool
match_buffer(struct script_reader *r, const struct py_node *call,
	     const char *name)
{
	const struct py_node *found[3 + MORE_COUNT];
	struct buffer_spec spec = { .name = script_hint(r, name) };
	struct script_value v;

	if (!script_args(r, call, "param, shape?, dtype?, " MORE_FACTS,
			 found)) {
		return false;
	}
	if (found[0]->kind == PY_SUBSCRIPT) {
		return match_part(r, found, name);
	}
	if (!found[1]) {
		return script_fail(r, call,
				   "T.match_buffer() needs an argument shape");
	}
	if (!script_eval(r, found[0], &v)) {
		return false;
	}
	if (v.kind != SCRIPT_HANDLE || v.handle->buffer) {
		return script_fail(
			r, found[0],
			v.kind == SCRIPT_HANDLE
				? "a handle that is matched already; use "
				  "its buffer"
				: "something that is not a handle of the "
				  "signature; match a parameter of type "
				  "T.handle");
	}
	if (v.handle->used) {
		return script_fail(r, found[0],
				   "a handle that was used "
				   "before; match it first");
	}
	if (!script_buffer_facts(r, found[1], found[2], found + 3, &spec)) {
		return false;
	}
	spec.name = matched_hint(v.handle, found[0], name, spec.name);
	if (has_offset(found + 3)) {
		return script_view_offset(r, found[3 + MORE_OFFSET], v.handle,
					  name, &spec);
	}
	v.handle->buffer = buffer_new(r->m, &spec);
	define_buffer(r, name, v.handle->buffer);
	return true;
}

static bool
allocate(struct script_reader *r, const struct py_node *call, const char *name,
	 struct script_suite *suite)
{
	const struct py_node *found[5];
	const struct py_node *more[MORE_COUNT] = { NULL };
	struct script_memory *memory = arena_new(&r->m->arena,
						 struct script_memory);
	struct note *notes = NULL;

	if (!script_args(r, call,
			 "extents, dtype, scope?, condition?, annotations?",
			 found) ||
	    (found[4] && !script_notes(r, found[4], &notes))) {
		return false;
	}
	memory->name = name;
	memory->spec.name = script_hint(r, name);
	more[MORE_SCOPE] = found[2];
	if (!script_buffer_facts(r, found[0], found[1], more, &memory->spec)) {
		return false;
	}
	script_define(r, name,
		      (struct script_value){ .kind = SCRIPT_MEMORY,
					     .memory = memory });
	script_open(r, suite, call,
		    (struct script_opener){ .kind = STMT_ALLOC,
					    .memory = memory,
					    .notes = notes });
	return true;
}

/* Appends the constant numbers in node, a list or a list of lists, to `all`.
 * False after an error. */
static bool
constant_items(struct script_reader *r, const struct py_node *node,
	       struct script_constants *all)
{
	if (node->kind != PY_LIST && node->kind != PY_TUPLE) {
		struct script_value v;
		const struct expr *e;

		if (!script_eval(r, node, &v) ||
		    !script_convert(r, node, &v, all->type, &e)) {
			return false;
		}
		vec_push(&r->m->arena, &all->list, e);
		return true;
	}
	for (int i = 0; i < node->n_kids; i++) {
		if (!constant_items(r, node->kids[i], all)) {
			return false;
		}
	}
	return true;
}

/* T.allocate_const([1, 2, 3], "int32", [3]): memory whose elements are stored first */
static bool
allocate_const(struct script_reader *r, const struct py_node *call,
	       const char *name, struct script_suite *suite)
{
	const struct py_node *found[4];
	const struct py_node *more[MORE_COUNT] = { NULL };
	struct script_memory *memory = arena_new(&r->m->arena,
						 struct script_memory);
	struct script_constants all = { .list = { NULL, 0, 0 } };
	const struct buffer *b;
	int64_t elems;

	if (!script_args(r, call, "data, dtype, extents, annotations?",
			 found)) {
		return false;
	}
	memory->name = name;
	memory->spec.name = script_hint(r, name);
	if (!script_buffer_facts(r, found[2], found[1], more, &memory->spec)) {
		return false;
	}
	all.type = memory->spec.type;
	if (!constant_items(r, found[0], &all)) {
		return false;
	}
	memory->buffer = b = buffer_new(r->m, &memory->spec);
	if (!buffer_const_elems(b, &elems) || elems != all.list.n) {
		return script_fail(r, found[0],
				   "%d constants for an array of another size; "
				   "give one for each element",
				   all.list.n);
	}
	script_define(r, name,
		      (struct script_value){ .kind = SCRIPT_MEMORY,
					     .memory = memory });
	script_open(r, suite, call,
		    (struct script_opener){ .kind = STMT_ALLOC,
					    .memory = memory });
	for (int i = 0; i < all.list.n; i++) {
		const struct expr **index;

		if (!script_view_place(r, call, b, expr_i32(r->m, i), &index)) {
			return false;
		}
		script_push(r, suite, call,
			    stmt_store(r->f, b, all.list.data[i], index,
				       b->ndim));
	}
	return true;
}

/* In the old spelling, T.alloc_buffer belongs to the block. */
static bool
belongs_to_block(const struct script_reader *r, const char *path)
{
	return strcmp(path, "sblock_alloc_buffer") == 0 ||
	       (strcmp(path, "alloc_buffer") == 0 && r->old_blocks);
}

bool
script_cell(struct script_reader *r, const struct py_node *node,
	    const char *name, struct dtype type, const char *scope,
	    struct script_suite *suite)
{
	struct buffer_spec spec = { .name = script_hint(r, name),
				    .type = type,
				    .scope = scope };
	const struct buffer *b = buffer_new(r->m, &spec);

	if (!check_elements(r, node, type)) {
		return false;
	}
	script_open(r, suite, node,
		    (struct script_opener){ .kind = STMT_ALLOC, .buffer = b });
	script_define(r, name,
		      (struct script_value){ .kind = SCRIPT_BUFFER,
					     .buffer = b,
					     .scalar = true });
	return true;
}

bool
script_local_array(struct script_reader *r, const struct py_node *node,
		   const char *name, const struct py_node *shape,
		   struct dtype type, struct script_suite *suite)
{
	struct buffer_spec spec = { .name = script_hint(r, name),
				    .type = type,
				    .scope = "local" };
	const struct expr **dims;
	const struct buffer *b;

	if (!check_elements(r, node, type) ||
	    !read_shape(r, shape, &spec.ndim, &dims)) {
		return false;
	}
	spec.shape = dims;
	b = buffer_new(r->m, &spec);
	script_open(r, suite, node,
		    (struct script_opener){ .kind = STMT_ALLOC, .buffer = b });
	define_buffer(r, name, b);
	return true;
}

/* count = T.local_scalar("int32"): a buffer of one element, for which its name
 * stands */
static bool
read_cell(struct script_reader *r, const struct py_node *call, const char *path,
	  const char *name, struct script_suite *suite)
{
	const struct py_node *found[2];
	const char *scope = strcmp(path, "shared_scalar") == 0  ? "shared"
			    : strcmp(path, "local_scalar") == 0 ? "local"
								: "global";
	struct dtype t = dtype_of(DT_F32);

	if (!script_args(r, call, "dtype?, scope?", found) ||
	    (found[0] && !script_type(r, found[0], &t)) ||
	    (found[1] && !script_text(r, found[1], &scope))) {
		return false;
	}
	return script_cell(r, call, name, t, scope, suite);
}

bool
script_declare_buffer(struct script_reader *r, const struct py_node *call,
		      const char *name, struct script_suite *suite)
{
	const char *path = script_path(r, call->kids[0]);
	const struct py_node *found[2 + MORE_COUNT + 1];
	const struct py_node *const *more = found + 2;
	struct buffer_spec spec = { .name = name };
	struct note *notes = NULL;

	if (strcmp(path, "match_buffer") == 0) {
		return match_buffer(r, call, name);
	}
	if (strcmp(path, "allocate_const") == 0) {
		return allocate_const(r, call, name, suite);
	}
	if (strcmp(path, "allocate") == 0) {
		return allocate(r, call, name, suite);
	}
	if (strlen(path) > 7 &&
	    strcmp(path + strlen(path) - 7, "_scalar") == 0) {
		return read_cell(r, call, path, name, suite);
	}
	if (!script_args(r, call, "shape, dtype?, " MORE_FACTS ", annotations?",
			 found)) {
		return false;
	}
	r->allocates = is_absent(more[MORE_DATA]);
	bool good = script_buffer_facts(r, found[0], found[1], more, &spec);

	r->allocates = false;
	if (!good ||
	    (more[MORE_COUNT] && !script_notes(r, more[MORE_COUNT], &notes))) {
		return false;
	}
	if (!spec.scope && strncmp(path, "alloc_", 6) == 0 &&
	    strcmp(path, "alloc_buffer") != 0) {
		spec.scope = path + strlen("alloc_"); /* shared, local */
	}
	if (!is_absent(more[MORE_DATA])) {
		return script_view_memory(r, more[MORE_DATA], more[MORE_OFFSET],
					  name, &spec);
	}
	if (has_offset(more)) {
		return script_fail(r, more[MORE_OFFSET],
				   "a buffer that does not begin at its "
				   "pointer; tirc's do, so add the offset to "
				   "the indices");
	}
	spec.name = script_hint(r, name);
	const struct buffer *b = buffer_new(r->m, &spec);

	if (belongs_to_block(r, path)) {
		vec_push(&r->m->arena, &r->block->allocs, b);
	} else {
		script_open(r, suite, call,
			    (struct script_opener){ .kind = STMT_ALLOC,
						    .buffer = b,
						    .notes = notes });
	}
	define_buffer(r, name, b);
	return true;
}
