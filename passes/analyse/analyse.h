/* SPDX-License-Identifier: Apache-2.0 */
/* The analyser: static analysis of integer expressions. It computes interval
 * bounds, divisibility and affine decompositions, and applies rewrite rules
 * (rules.def). All legality checks and the removal of guards use it.
 *
 *	bounds.c           constant interval of an expression
 *	scaled_bounds.c    the same, by multiples of facts
 *	symbolic_bounds.c  interval with expressions as ends; affine form
 *	value_range.c      range of data, arrays included
 *	prove_sign.c       is a linear form never positive?
 *	modular.c          divisibility
 *	wraps.c            which operations on loaded values may wrap
 *	width.c            does index arithmetic fit 32 bits?
 *	region.c, access.c boxes of buffers, and who accesses them
 *	iter_map.c         loop variables as digits of a block's bindings */
#ifndef TIRC_ANALYSE_H
#define TIRC_ANALYSE_H

#include "bounds.h"
#include "func.h"

/* Known facts about an integer's divisibility: value == coeff * k + base for
 * some integer k; with coeff 0 it is exactly base. */
struct modular {
	int64_t coeff, base;
};

struct analyser_var {
	const struct var *var;
	struct bounds bounds; /* constant bounds */
	/* the range of the variable; both are NULL if it has none */
	const struct expr *min, *extent;
	/* the value of a LET's variable, or NULL */
	const struct expr *value;
	bool inlined; /* simplify replaces the variable by its value */
	bool data;    /* the value contains a loaded value */
};

struct analyser_fact; /* a linear form that is known to be <= 0 */
struct analyser_entry;
struct analyser_order;

struct analyser {
	struct module *module;
	/* the arena of the analyser's own state; expressions are in the
	 * module's */
	struct arena *arena;
	VEC(struct analyser_var) vars;
	/* the bits (var_bit) of all variables that ever had data as value */
	uint64_t data_bits;
	/* conditions that are known to be true */
	VEC(const struct expr *) facts;
	/* the facts that are comparisons, as linear forms */
	VEC(const struct analyser_fact *) sums;
	/* Results that were computed; each is valid for one state of variables
	 * and facts. */
	struct analyser_entry *cache;
	uint32_t n_cache, cap_cache;
	uint32_t version, last_version;
	/* For each sum, the order in which its terms were first written. */
	struct analyser_order *orders;
	uint32_t n_orders, cap_orders;
	int fuel; /* rewrites that this call of simplify may still make */
	/* conditions that this call of simplify may still assume in branches */
	int forks;
	/* substitutions that this proof may still make (prove_sign.c) */
	int steps;
	bool plain; /* facts are not used: true while the bounds of a fact are
		     * computed */
};

/* Initializes the analyser, which uses the module's arena. The declared bounds
 * of symbolic dimensions are known without analyser_bind. */
void analyser_init(struct analyser *a, struct module *m);
/* Like analyser_init, but the analyser's state is in the given arena, which the
 * caller may release when the analyser is no longer used. */
void analyser_init_in(struct analyser *a, struct module *m,
		      struct arena *arena);
/* States that min <= v < min + extent, until analyser_pop. */
void analyser_bind(struct analyser *a, const struct var *v,
		   const struct expr *min, const struct expr *extent);
void analyser_bind_value(struct analyser *a, const struct var *v,
			 const struct expr *value);
/* Does the same as analyser_bind_value, but simplify also replaces v by the
 * value. */
void analyser_bind_inlined(struct analyser *a, const struct var *v,
			   const struct expr *value);
void analyser_assume(struct analyser *a, const struct expr *condition);

struct analyser_mark {
	int vars, facts, sums;
	uint32_t version;
};
struct analyser_mark analyser_mark(const struct analyser *a);
void analyser_pop(struct analyser *a, struct analyser_mark mark);

/* Does e contain a loaded value: a LOAD, or a variable whose value contains a
 * loaded value? Arithmetic on loaded values wraps, in the interpreter and in
 * emitted code; the analyser assumes nothing else about such arithmetic
 * (wraps.c). */
bool holds_data(struct analyser *a, const struct expr *e);
struct bounds analyse_bounds(struct analyser *a, const struct expr *e);
/* Like analyse_bounds, but may give a smaller interval, because it also uses
 * multiples of the facts; this takes longer. */
struct bounds analyse_tight_bounds(struct analyser *a, const struct expr *e);
struct modular analyse_modular(struct analyser *a, const struct expr *e);
/* Returns an expression that is equal to e, never larger, and in a normal form:
 * equal affine expressions become the same node, with terms in a fixed order
 * and the constant last. */
const struct expr *simplify(struct analyser *a, const struct expr *e);
/* True only if the bool expression holds for every value of the variables.
 * False also if that cannot be proved. */
bool prove(struct analyser *a, const struct expr *condition);
bool prove_equal(struct analyser *a, const struct expr *x,
		 const struct expr *y);

/* e == sum coeff[i] * vars[i] + rest, where rest does not contain any of the n
 * variables vars; false if e is not affine in these variables. Sums of loaded
 * values may wrap: then the equation holds for values of e's type, not for
 * unlimited integers. */
bool analyse_affine(struct analyser *a, const struct expr *e,
		    struct var *const *vars, int n, int64_t *coeff,
		    const struct expr **rest);
/* Finds an interval [*min, *max], not always the smallest, that contains e
 * while each of the n relaxed variables runs over its range. The ends of the
 * interval do not use these variables. An end that is not found is NULL, and
 * then the function returns false. */
bool analyse_cover(struct analyser *a, const struct expr *e,
		   const struct iter_var *relaxed, int n,
		   const struct expr **min, const struct expr **max);

/* Simplifies every expression of the function under the facts that the loops,
 * IFs and LETs around the expression give; drops redundant IFs and loops of
 * extent 0, and replaces loops of extent 1 by their bodies. */
void simplify_func(struct func *f);

#endif
