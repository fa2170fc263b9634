/* SPDX-License-Identifier: Apache-2.0 */
/* A regular expression is parsed to a tree; Thompson's construction makes a
 * nondeterministic automaton (K. Thompson, Regular Expression Search Algorithm,
 * 1968), and the subset construction a deterministic one. Characters beyond
 * ASCII are sequences of bytes in UTF-8. */
#include "pattern.h"
#include "secret_hash.h"

#include <ctype.h>
#include <string.h>

#define MAX_STATES 1000 /* of the deterministic automaton */
#define MAX_NODES 4000  /* states of the nondeterministic automaton */
#define MAX_REPEAT 1000 /* as in RE2 */
#define MAX_DEPTH 100   /* of nested groups */
#define MAX_STEPS 20000000

struct bytes {
	uint64_t bit[4];
};

enum tree_kind {
	TREE_EMPTY,
	TREE_BEGIN,    /* ^ */
	TREE_END,      /* $ */
	TREE_BOUNDARY, /* \b */
	TREE_INSIDE,   /* \B */
	TREE_BYTES,
	TREE_THEN,
	TREE_OR,
	TREE_REPEAT
};

struct tree {
	enum tree_kind kind;
	struct bytes set;
	const struct tree *a, *b;
	int min, max; /* max -1: no maximum */
};

struct regex {
	struct arena *a;
	const char *at;
	int depth;
	bool has_end;    /* a $, \b or \B was read, which look at the end of the
			  * string */
	const char *why; /* the first problem of the pattern, or NULL */
};

static void
fail(struct regex *r, const char *why)
{
	r->why = r->why ? r->why : why;
}

static void
bytes_add(struct bytes *s, int low, int high)
{
	for (int b = low; b <= high; b++) {
		s->bit[b / 64] |= (uint64_t)1 << b % 64;
	}
}

static bool
bytes_have(const struct bytes *s, int b)
{
	return s->bit[b / 64] >> b % 64 & 1;
}

/* -- the tree -- */

static const struct tree *
tree_new(struct regex *r, enum tree_kind kind, const struct tree *a,
	 const struct tree *b)
{
	struct tree *t = arena_new(r->a, struct tree);

	t->kind = kind;
	t->a = a;
	t->b = b;
	return t;
}

static const struct tree *
tree_bytes(struct regex *r, struct bytes set)
{
	struct tree *t = arena_new(r->a, struct tree);

	t->kind = TREE_BYTES;
	t->set = set;
	return t;
}

static const struct tree *
tree_range(struct regex *r, int low, int high)
{
	struct bytes s = { { 0 } };

	bytes_add(&s, low, high);
	return tree_bytes(r, s);
}

/* Matches any character beyond ASCII, two to four bytes. */
static const struct tree *
tree_wide(struct regex *r)
{
	const struct tree *more = tree_range(r, 0x80, 0xbf), *t;

	t = tree_new(r, TREE_THEN, tree_range(r, 0xc2, 0xdf), more);
	for (int n = 2; n <= 3; n++) {
		const struct tree *one = n == 2 ? tree_range(r, 0xe0, 0xef)
						: tree_range(r, 0xf0, 0xf4);

		for (int k = 0; k < n; k++) {
			one = tree_new(r, TREE_THEN, one, more);
		}
		t = tree_new(r, TREE_OR, t, one);
	}
	return t;
}

/* Matches any character, of ASCII or beyond, that is not in a set of ASCII
 * characters. */
static const struct tree *
tree_except(struct regex *r, const struct bytes *set)
{
	struct bytes s = { { 0 } };

	for (int b = 1; b < 0x80; b++) {
		if (!bytes_have(set, b)) {
			bytes_add(&s, b, b);
		}
	}
	return tree_new(r, TREE_OR, tree_bytes(r, s), tree_wide(r));
}

/* -- reading -- */

/* Adds the characters of the class \d, \s or \w to s; false if `letter` is
 * another letter. */
static bool
perl_class(int letter, struct bytes *s)
{
	switch (letter) {
	case 'd':
		bytes_add(s, '0', '9');
		return true;
	case 's':
		bytes_add(s, '\t', '\n');
		bytes_add(s, '\f', '\r');
		bytes_add(s, ' ', ' ');
		return true;
	case 'w':
		bytes_add(s, '0', '9');
		bytes_add(s, 'A', 'Z');
		bytes_add(s, 'a', 'z');
		bytes_add(s, '_', '_');
		return true;
	default:
		return false;
	}
}

static int
hex_digit(int c)
{
	return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

/* The character that an escape stands for; r->at is the byte after the
 * backslash. */
static int
read_escape(struct regex *r)
{
	static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
	int c = (unsigned char)*r->at;
	const char *found = c ? strchr(names, c) : NULL;

	if (c == 0) {
		fail(r, "it ends in a backslash");
		return 0;
	}
	r->at++;
	if (found) {
		return values[found - names];
	}
	if (c == 'x') {
		int high = hex_digit((unsigned char)r->at[0]);
		int low = high < 0 ? -1 : hex_digit((unsigned char)r->at[1]);

		if (low < 0 || high > 7 || high * 16 + low == 0) {
			fail(r, "\\x is supported with two digits of ASCII");
			return 0;
		}
		r->at += 2;
		return high * 16 + low;
	}
	if (isalnum(c)) {
		fail(r, "it has an escape that is not supported");
	}
	return c;
}

/* Reads one element of a set in brackets. True if the element is a character;
 * *c is set to it. False if it is a class, whose bytes are added to s, or after
 * fail() because the class is not supported. */
static bool
read_item(struct regex *r, struct bytes *s, int *c)
{
	*c = (unsigned char)*r->at;
	if (*c == '[' && r->at[1] == ':') {
		fail(r, "classes such as [:alpha:] are not supported");
		return false;
	}
	if (*c >= 0x80) {
		fail(r, "characters beyond ASCII within brackets are not "
			"supported");
		return false;
	}
	r->at++;
	if (*c != '\\') {
		return true;
	}
	if (perl_class((unsigned char)*r->at, s)) {
		r->at++;
		return false;
	}
	*c = read_escape(r);
	return true;
}

static const struct tree *
read_class(struct regex *r)
{
	struct bytes s = { { 0 } };
	bool negated = *r->at == '^', first = true;
	int low, high;

	r->at += negated;
	for (; *r->at && (*r->at != ']' || first) && !r->why; first = false) {
		if (!read_item(r, &s, &low)) {
			continue;
		}
		high = low;
		if (r->at[0] == '-' && r->at[1] && r->at[1] != ']') {
			r->at++;
			if (!read_item(r, &s, &high) || high < low) {
				fail(r, "it has a range that is none");
				break;
			}
		}
		bytes_add(&s, low, high);
	}
	if (*r->at != ']') {
		fail(r, "a bracket is not closed");
	} else {
		r->at++;
	}
	return negated ? tree_except(r, &s) : tree_bytes(r, s);
}

static const struct tree *read_or(struct regex *r);

/* Reads a group after its "(". */
static const struct tree *
read_group(struct regex *r)
{
	const struct tree *t;

	if (*r->at == '?') {
		const char *end = strchr(r->at, '>');

		if (r->at[1] == ':') {
			r->at += 2;
		} else if ((strncmp(r->at, "?P<", 3) == 0 ||
			    strncmp(r->at, "?<", 2) == 0) &&
			   end && isalpha((unsigned char)end[-1])) {
			r->at = end + 1;
		} else {
			fail(r, "flags and assertions are not supported");
		}
	}
	if (++r->depth > MAX_DEPTH) {
		fail(r, "its groups are nested too deeply");
		return tree_new(r, TREE_EMPTY, NULL, NULL);
	}
	t = read_or(r);
	r->depth--;
	if (*r->at != ')') {
		fail(r, "a group is not closed");
	} else {
		r->at++;
	}
	return t;
}

static const struct tree *
read_backslash(struct regex *r)
{
	struct bytes s = { { 0 } };
	int c = (unsigned char)*r->at;

	if (c == 'b' || c == 'B') {
		r->at++;
		r->has_end = true;
		return tree_new(r, c == 'b' ? TREE_BOUNDARY : TREE_INSIDE, NULL,
				NULL);
	}
	if (perl_class(c, &s)) {
		r->at++;
		return tree_bytes(r, s);
	}
	if (perl_class(tolower(c), &s)) {
		r->at++;
		return tree_except(r, &s);
	}
	c = read_escape(r);
	return tree_range(r, c, c);
}

static const struct tree *
read_atom(struct regex *r)
{
	struct bytes line = { { 0 } };
	int c = (unsigned char)*r->at++;
	const struct tree *t;

	switch (c) {
	case '(':
		return read_group(r);
	case '[':
		return read_class(r);
	case '\\':
		return read_backslash(r);
	case '.':
		bytes_add(&line, '\n', '\n');
		return tree_except(r, &line);
	case '^':
		if (r->has_end) {
			fail(r, "^ after $ or \\b is not supported");
		}
		return tree_new(r, TREE_BEGIN, NULL, NULL);
	case '$':
		r->has_end = true;
		return tree_new(r, TREE_END, NULL, NULL);
	case '*':
	case '+':
	case '?':
		fail(r, "a repetition has nothing to repeat");
		return tree_new(r, TREE_EMPTY, NULL, NULL);
	default:
		break;
	}
	t = tree_range(r, c, c);
	while (c >= 0xc0 && ((unsigned char)*r->at & 0xc0) == 0x80) {
		int b = (unsigned char)*r->at++;

		t = tree_new(r, TREE_THEN, t, tree_range(r, b, b));
	}
	return t;
}

/* Reads a number at *at, at most MAX_REPEAT + 1; -1 if there is no digit. */
static int
read_count(const char **at)
{
	int v = -1;

	while (isdigit((unsigned char)**at)) {
		v = (v < 0 ? 0 : v) * 10 + (*(*at)++ - '0');
		v = v > MAX_REPEAT ? MAX_REPEAT + 1 : v;
	}
	return v;
}

/* Reads "{2}", "{2,}" or "{2,3}" at r->at; *max is -1 without a maximum. False
 * if it is not a repetition: the brace is a character. */
static bool
read_counts(struct regex *r, int *min, int *max)
{
	const char *at = r->at + 1;

	*min = *max = read_count(&at);
	if (*min >= 0 && *at == ',') {
		at++;
		*max = read_count(&at);
	}
	if (*min < 0 || *at != '}') {
		return false;
	}
	r->at = at + 1;
	if (*min > MAX_REPEAT || *max > MAX_REPEAT ||
	    (*max >= 0 && *max < *min)) {
		fail(r, "a repetition has wrong counts");
	}
	return true;
}

static const struct tree *
read_repeat(struct regex *r)
{
	const struct tree *t = read_atom(r);
	struct tree *more;
	int min = 0, max = -1;

	while (!r->why) {
		if (*r->at == '{') {
			if (!read_counts(r, &min, &max)) {
				break;
			}
		} else if (*r->at && strchr("*+?", *r->at)) {
			min = *r->at == '+';
			max = *r->at == '?' ? 1 : -1;
			r->at++;
		} else {
			break;
		}
		/* lazy repetition (a second ?) makes no difference: the whole
		 * string must match */
		r->at += *r->at == '?';
		more = arena_new(r->a, struct tree);
		*more = (struct tree){
			.kind = TREE_REPEAT, .a = t, .min = min, .max = max
		};
		t = more;
	}
	return t;
}

static const struct tree *
read_or(struct regex *r)
{
	const struct tree *t = tree_new(r, TREE_EMPTY, NULL, NULL);

	while (*r->at && *r->at != ')' && *r->at != '|' && !r->why) {
		t = tree_new(r, TREE_THEN, t, read_repeat(r));
	}
	if (*r->at == '|') {
		r->at++;
		t = tree_new(r, TREE_OR, t, read_or(r));
	}
	return t;
}

/* -- the nondeterministic automaton (Thompson's) -- */

/* A state of the nondeterministic automaton. TREE_BYTES: a byte of `set` leads
 * to to[0]. Other kinds lead to to[0] and to[1] without reading a byte;
 * TREE_BEGIN and the other assertions do so only at positions where they hold.
 * to[i] is -1 if there is no such state. */
struct state {
	struct bytes set;
	enum tree_kind kind;
	int to[2];
};

struct machine {
	struct regex *r;
	/* the number of states visited and flags compared so far */
	int64_t steps;
	VEC(struct state) states;
};

static int
state_new(struct machine *m, int a, int b)
{
	struct state s = { .to = { a, b } };

	if (m->states.n >= MAX_NODES) {
		fail(m->r, "it needs too many states");
		return 0;
	}
	vec_push(m->r->a, &m->states, s);
	return m->states.n - 1;
}

/* Adds states that match t and then go on at state `end`. Returns the index of
 * the first state. */
static int
build(struct machine *m, const struct tree *t, int end)
{
	int s;

	if (m->r->why) {
		return 0;
	}
	switch (t->kind) {
	case TREE_BYTES:
		s = state_new(m, end, -1);
		m->states.data[s].set = t->set;
		m->states.data[s].kind = TREE_BYTES;
		return s;
	case TREE_BEGIN:
	case TREE_END:
	case TREE_BOUNDARY:
	case TREE_INSIDE:
		s = state_new(m, end, -1);
		m->states.data[s].kind = t->kind;
		return s;
	case TREE_THEN:
		return build(m, t->a, build(m, t->b, end));
	case TREE_OR:
		s = build(m, t->a, end);
		return state_new(m, s, build(m, t->b, end));
	case TREE_REPEAT:
		if (t->max < 0) {
			s = end;
			end = state_new(m, -1, s);
			s = build(m, t->a, end);
			m->states.data[end].to[0] = s;
		}
		for (int k = t->min; k < t->max; k++) {
			end = state_new(m, build(m, t->a, end), end);
		}
		for (int k = 0; k < t->min; k++) {
			s = build(m, t->a, end);
			if (s == end) { /* t can match only the empty string */
				break;
			}
			end = s;
		}
		return end;
	default:
		return end;
	}
}

/* -- the deterministic automaton -- */

/* A state of the deterministic automaton: a set of states of the
 * nondeterministic one. flags: a flag for each state, set if the state is in
 * the set; after these the word flag: was the last byte a word character? */
struct subset {
	const uint8_t *flags;
	uint32_t hash;
};

struct subsets {
	struct machine *m;
	/* the sets of states found so far; the number of a set is its index */
	VEC(struct subset) sets;
	uint8_t *here, *next; /* flags of sets under construction */
	int *stack;           /* the states that close_over has to visit */
	/* the number of flags: one for each state, and the flag "the last byte
	 * was part of a word" */
	int n;
};

static bool
is_word(int byte)
{
	return (byte < 0x80 && isalnum(byte)) || byte == '_';
}

static void
count_steps(struct machine *m, int steps)
{
	m->steps += steps;
	if (m->steps > MAX_STEPS) {
		fail(m->r, "it needs too many steps");
	}
}

/* Adds to the set the state `state` and all states that can be reached from it
 * without reading a byte, through states whose kind has its bit in `kinds`. */
static void
close_over(struct subsets *d, uint8_t *set, int state, unsigned kinds)
{
	int n = 0, visited = 0;

	d->stack[n++] = state;
	while (n > 0) {
		const struct state *s;
		int at = d->stack[--n];

		if (at < 0 || set[at]) {
			continue;
		}
		visited++;
		set[at] = 1;
		s = &d->m->states.data[at];
		if (kinds >> s->kind & 1) {
			d->stack[n++] = s->to[0];
			d->stack[n++] = s->to[1];
		}
	}
	count_steps(d->m, visited);
}

/* Sets d->here to the states that the set reaches without reading a byte, if
 * the next byte is a word character (word is true) or is not (word is
 * false). */
static void
look_ahead(struct subsets *d, const uint8_t *set, bool word, unsigned kinds)
{
	kinds |= 1u << TREE_EMPTY;
	kinds |= 1u << (set[d->n - 1] != word ? TREE_BOUNDARY : TREE_INSIDE);
	memset(d->here, 0, (size_t)d->n);
	for (int i = 0; i < d->n - 1; i++) {
		if (set[i]) {
			close_over(d, d->here, i, kinds);
		}
	}
	count_steps(d->m, d->n);
}

/* The number of the set d->next, which becomes a new state of the deterministic
 * automaton if it has no state with this set. Then clears d->next. */
static int
number_of(struct subsets *d)
{
	size_t bytes = (size_t)d->n;
	struct subset s = { d->next, secret_hash(d->next, bytes) };
	int i = 0;

	while (i < d->sets.n &&
	       (d->sets.data[i].hash != s.hash ||
		memcmp(d->sets.data[i].flags, s.flags, bytes) != 0)) {
		i++;
	}
	if (i == d->sets.n) {
		s.flags = arena_copy(d->m->r->a, d->next, bytes);
		vec_push(d->m->r->a, &d->sets, s);
	}
	memset(d->next, 0, bytes);
	count_steps(d->m, d->n + d->sets.n);
	return i;
}

/* The number of the set after `byte`, of the n states that read a byte. */
static int
step(struct subsets *d, const int *readers, int n, int byte)
{
	for (int i = 0; i < n; i++) {
		const struct state *s = &d->m->states.data[readers[i]];

		if (bytes_have(&s->set, byte)) {
			close_over(d, d->next, s->to[0], 1u << TREE_EMPTY);
		}
	}
	count_steps(d->m, n);
	d->next[d->n - 1] = is_word(byte);
	return number_of(d);
}

/* Lists the states of d->here that read a byte; returns their number. */
static int
list_readers(const struct subsets *d, int *readers)
{
	int n = 0;

	for (int i = 0; i < d->n - 1; i++) {
		if (d->here[i] && d->m->states.data[i].kind == TREE_BYTES) {
			readers[n++] = i;
		}
	}
	return n;
}

/* Numbers the classes of the bytes from 1 to 255, in the order of their first
 * bytes: all transitions of two bytes in one class are equal. */
static void
classify_bytes(const struct machine *m, uint8_t class_of[256])
{
	for (int b = 1; b < 256; b++) {
		class_of[b] = is_word(b);
	}
	for (int i = 0; i < m->states.n; i++) {
		int number[256][2], n = 0;

		memset(number, -1, sizeof number);
		for (int b = 1; b < 256; b++) {
			int *c = &number[class_of[b]]
					[bytes_have(&m->states.data[i].set, b)];

			*c = *c < 0 ? n++ : *c;
			class_of[b] = (uint8_t)*c;
		}
	}
}

static void
determine(struct machine *m, int first, int last, struct automaton *out)
{
	struct arena *a = m->r->a;
	struct subsets d = { .m = m, .n = m->states.n + 1 };
	VEC(uint16_t) next = { 0 };
	VEC(uint8_t) accepts = { 0 };
	uint8_t class_of[256];
	int *readers[2], n_readers[2];

	d.stack = arena_array(a, int, 2 * d.n + 2);
	d.here = arena_alloc(a, (size_t)d.n);
	d.next = arena_alloc(a, (size_t)d.n);
	readers[0] = arena_array(a, int, d.n);
	readers[1] = arena_array(a, int, d.n);
	classify_bytes(m, class_of);
	close_over(&d, d.next, first, 1u << TREE_EMPTY | 1u << TREE_BEGIN);
	number_of(&d);
	for (int s = 0; s < d.sets.n && !m->r->why; s++) {
		const uint8_t *set = d.sets.data[s].flags;
		int after[256];
		uint16_t to = (uint16_t)s;

		memset(after, -1, sizeof after);
		for (int word = 0; word < 2; word++) {
			look_ahead(&d, set, word, 0);
			n_readers[word] = list_readers(&d, readers[word]);
		}
		vec_push(a, &next, to);
		for (int b = 1; b < 256; b++) {
			int *known = &after[class_of[b]], word = is_word(b);

			if (*known < 0) {
				*known = step(&d, readers[word],
					      n_readers[word], b);
			}
			to = (uint16_t)*known;
			vec_push(a, &next, to);
		}
		look_ahead(&d, set, false, 1u << TREE_END);
		vec_push(a, &accepts, d.here[last]);
		if (d.sets.n > MAX_STATES) {
			fail(m->r, "it needs too many states");
		}
	}
	*out = (struct automaton){ d.sets.n, m->steps, next.data,
				   accepts.data };
}

bool
regex_compile(struct arena *a, const char *pattern, struct automaton *out,
	      const char **why)
{
	struct regex r = { .a = a, .at = pattern };
	struct machine m = { .r = &r };
	const struct tree *t;
	int first, last;

	if (strlen(pattern) > MAX_NODES) {
		*why = "it is too long";
		return false;
	}
	t = read_or(&r);
	if (*r.at) {
		fail(&r, "a parenthesis is not opened");
	}
	if (!r.why) {
		last = state_new(&m, -1, -1);
		first = build(&m, t, last);
		if (!r.why) {
			determine(&m, first, last, out);
		}
	}
	*why = r.why;
	return r.why == NULL;
}
