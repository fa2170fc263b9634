/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions as deterministic automata over bytes. */
#ifndef TIRC_ONNX_PATTERN_H
#define TIRC_ONNX_PATTERN_H

#include "arena.h"

/* State 0 is the first. next[256 * s + b] is the state after byte b; the byte 0,
 * which follows a string, keeps the state. accepts[s]: does the whole string
 * match? */
struct automaton {
	int n_states;
	const uint16_t *next;
	const uint8_t *accepts;
};

/* Compiles a pattern in the syntax of RE2 for matches of a whole string in
 * UTF-8. False: *why says what is wrong or not supported: flags, assertions but ^,
 * $, \b and \B, classes by name, characters beyond ASCII within brackets, more
 * than 1000 states. */
bool regex_compile(struct arena *a, const char *pattern, struct automaton *out,
		   const char **why);

#endif
