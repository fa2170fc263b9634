/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions as deterministic automata over bytes. */
#ifndef TIRC_PATTERN_H
#define TIRC_PATTERN_H

#include "arena.h"

/* State 0 is the start. next[256 * s + b] is the state after byte b in state s;
 * the byte 0, with which strings are filled up, keeps the state. accepts[s]: a
 * string that ends in state s matches. steps: the number of steps in which the
 * automaton was made, a few nanoseconds each. */
struct automaton {
	int n_states;
	int64_t steps;
	const uint16_t *next;
	const uint8_t *accepts;
};

/* Compiles a pattern in RE2's syntax; it must match a whole string in UTF-8.
 * False if the pattern is wrong or not supported, with the reason in *why. Not
 * supported: flags, assertions except ^, $, \b and \B, named classes,
 * characters beyond ASCII in brackets, more than 1000 states, and patterns of
 * more than 20 million steps. */
bool regex_compile(struct arena *a, const char *pattern, struct automaton *out,
		   const char **why);

#endif
