/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX that texts of CUDA hold, on the CPU, for tests: products of warp groups
 * (wgmma), copies by tensor maps (bulk_on_cpu.h), and what has to stand around
 * them. asm_calls.py makes a call of each asm statement,
 *
 *	emulation::ptx(text, { &output, ... }, { input, ... });
 *
 * What a thread has in its registers, where a descriptor of shared memory leads and
 * what waits for what is as the manual says (PTX ISA, "Asynchronous Warpgroup Level
 * Matrix Instructions"); layouts are those without swizzling, and of 128 bytes.
 * Sums are as they were until they are waited for, and operands are read only
 * then. */
#ifndef PTX_ON_CPU_H
#define PTX_ON_CPU_H

#include <ctype.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "bulk_on_cpu.h"

namespace emulation
{

struct group_product {
	int columns, depth;
	char kind[8];   /* of the operands' elements */
	bool across[2]; /* operands of which what is not summed is adjacent */
	uint64_t where[2];        /* their descriptors */
	const char *window;       /* what these lead into */
	std::vector<void *> sums; /* of float, or of int for integers */
	unsigned group;
};

/* Of one thread. */
struct group_state {
	bool seen;   /* by the proxy of what is asynchronous, since a barrier */
	bool fenced; /* registers, since they were waited for */
	unsigned groups;
	uint64_t trace; /* of what it did */
	std::vector<group_product> products;
};

static group_state group_states[1024];
static const char *shared_window; /* of what one has asked for last */
static uint64_t group_traces[8];  /* of a block's warp groups, by a thread */
static bool group_ended[8];       /* that is done */

/* Others' stores are seen from here on, but not yet by what is asynchronous. */
static inline void
groups_meet_barrier()
{
	group_states[thread_in_block()].seen = false;
}

static inline void
check_groups_ended()
{
	group_state &s = group_states[thread_in_block()];
	unsigned group = thread_in_block() / 128;

	if (!s.products.empty()) {
		ptx_fails("a thread ends before its products are there");
	}
	if (!group_ended[group]) {
		group_traces[group] = s.trace;
	} else if (group_traces[group] != s.trace) {
		ptx_fails("threads of a warp group multiply different things");
	}
	if (s.trace != 0 && blockDim.x * blockDim.y * blockDim.z % 128 != 0) {
		ptx_fails("half a warp group");
	}
	s.seen = s.fenced = false;
	s.trace = 0;
	group_ended[group] = true;
}

static inline void
groups_begin()
{
	memset(group_ended, 0, sizeof group_ended);
	barriers_begin();
}

static inline float
short_value(const char *at, bool bfloat16)
{
	uint16_t bits;
	static float halves[65536];
	static bool known;
	uint32_t wide;
	float value;

	memcpy(&bits, at, sizeof bits);
	wide = (uint32_t)bits << 16;
	for (unsigned i = 0; i < 65536 && !known; i++) {
		half h;

		h.bits = i;
		halves[i] = h;
	}
	known = true;
	memcpy(&value, &wide, sizeof value);
	return bfloat16 ? value : halves[bits];
}

/* Where element k along the sum of row or column i would be without swizzling:
 * the canonical layouts. 16 bytes have so many elements. */
static inline uint64_t
operand_offset(const group_product &p, int operand, int i, int k)
{
	uint64_t where = p.where[operand];
	size_t leading = (where >> 16 & 0x3fff) * 16;
	size_t stride = (where >> 32 & 0x3fff) * 16;
	int bytes = 32 / p.depth, many = 16 / bytes;
	uint64_t start = (where & 0x3fff) * 16;

	if (where >> 62 == 0) {
		return start +
		       (p.across[operand]
				? i % many * bytes + i / many * stride +
					  k % 8 * 16 + k / 8 * leading
				: k % many * bytes + k / many * leading +
					  i % 8 * 16 + i / 8 * stride);
	}
	return start + (p.across[operand]
				? i % 64 * bytes + i / 64 * leading +
					  k % 8 * 128 + k / 8 * stride
				: k * bytes + i % 8 * 128 + i / 8 * stride);
}

static inline const char *
operand_element(const group_product &p, int operand, int i, int k)
{
	uint64_t at = operand_offset(p, operand, i, k);

	return p.window + (p.where[operand] >> 62 != 0 ? swizzled(at) : at);
}

/* What there is between its first and its last element. */
static inline void
operand_span(const group_product &p, int operand, const char **begin,
	     const char **end)
{
	int last = operand == 0 ? 63 : p.columns - 1;
	uint64_t from = operand_offset(p, operand, 0, 0);
	uint64_t to = operand_offset(p, operand, last, p.depth - 1);
	uint64_t part = p.where[operand] >> 62 != 0 ? 128 : 16;

	*begin = p.window + from / part * part;
	*end = p.window + (to / part + 1) * part;
}

/* Whether a product of any thread may still read there. */
static inline bool
is_being_read(const char *begin, const char *end)
{
	for (const group_state &s : group_states) {
		for (const group_product &p : s.products) {
			for (int i = 0; i < 2; i++) {
				const char *from, *to;

				operand_span(p, i, &from, &to);
				if (overlap(from, to, begin, end)) {
					return true;
				}
			}
		}
	}
	return false;
}

static inline void
add_product(const group_product &p, void *sum, const char *a, const char *b)
{
	if (p.kind[0] == 's') {
		*static_cast<int *>(sum) += (signed char)*a * (signed char)*b;
	} else if (p.kind[0] == 'u') {
		*static_cast<int *>(sum) += (unsigned char)*a *
					    (unsigned char)*b;
	} else {
		*static_cast<float *>(sum) += short_value(a, p.kind[0] == 'b') *
					      short_value(b, p.kind[0] == 'b');
	}
}

/* What this thread has of the sums: of two rows, two columns of each eight. */
static inline void
multiply(const group_product &p)
{
	unsigned thread = thread_in_block() % 128;
	int row = thread / 32 * 16 + thread % 32 / 4;

	for (int k = 0; k < p.depth; k++) {
		const char *rows[] = { operand_element(p, 0, row, k),
				       operand_element(p, 0, row + 8, k) };

		for (int i = 0; i < p.columns / 4; i++) {
			int column = i / 2 * 8 + thread % 4 * 2 + i % 2;
			const char *b = operand_element(p, 1, column, k);

			for (int r = 0; r < 2; r++) {
				add_product(p,
					    p.sums[i / 2 * 4 + r * 2 + i % 2],
					    rows[r], b);
			}
		}
	}
}

struct ptx_operands {
	std::initializer_list<void *> sums;
	std::initializer_list<uint64_t> values;
	std::string predicate; /* its name, and what it is */
	bool holds;

	void *
	sum(unsigned i) const
	{
		if (i >= sums.size()) {
			ptx_fails("a sum that is no such operand");
		}
		return sums.begin()[i];
	}
	uint64_t
	value(unsigned i) const
	{
		if (i < sums.size() || i >= sums.size() + values.size()) {
			ptx_fails("a value that is no such operand");
		}
		return values.begin()[i - sums.size()];
	}
};

/* No offset, nothing in what is unused, and where parts of 1024 bytes are swizzled,
 * a start at one of these, 32 bytes further for each step along the sum if that is
 * along the rows. */
static inline void
check_descriptor(const group_product &p, int operand)
{
	uint64_t where = p.where[operand], start = where % 64 * 16;
	uint64_t stride = (where >> 32 & 0x3fff) * 16;

	if ((where & ~UINT64_C(0x40003fff3fff3fff)) != 0) {
		ptx_fails("a descriptor of something else");
	}
	if (where >> 62 != 0 &&
	    (stride % 1024 != 0 || start >= 128 ||
	     start % (p.across[operand] ? 1024 : 32) != 0)) {
		ptx_fails("a descriptor of swizzled rows that are not there");
	}
}

static inline void
start_product(const char *text, const ptx_operands &operands)
{
	group_state &s = group_states[thread_in_block()];
	group_product p = {};
	char sums[8] = "", other[8] = "";
	unsigned at[2];
	int scale[3] = { 1, 1, 1 }, across[2] = { 0, 0 }, n = 0;

	if (sscanf(text, "m64n%dk%d.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9] {%n",
		   &p.columns, &p.depth, sums, p.kind, other, &n) != 5 ||
	    n == 0 || p.columns < 8 || p.columns > 256 || p.columns % 8 != 0 ||
	    strcmp(p.kind, other) != 0) {
		ptx_fails(text);
	}
	bool shorts = strcmp(p.kind, "f16") == 0 || strcmp(p.kind, "bf16") == 0;
	if ((!shorts && strcmp(p.kind, "s8") != 0 &&
	     strcmp(p.kind, "u8") != 0) ||
	    p.depth != (shorts ? 16 : 32) ||
	    strcmp(sums, shorts ? "f32" : "s32") != 0) {
		ptx_fails(text);
	}
	for (text += n; *text != '}'; text += strspn(text, ", ")) {
		if (*text != '%') {
			ptx_fails(text);
		}
		p.sums.push_back(
			operands.sum(strtoul(text + 1, (char **)&text, 10)));
	}
	n = 0;
	if ((shorts ? sscanf(text, "}, %%%u, %%%u, %d, %d, %d, %d, %d%n",
			     &at[0], &at[1], &scale[0], &scale[1], &scale[2],
			     &across[0], &across[1], &n) != 7
		    : sscanf(text, "}, %%%u, %%%u, %d%n", &at[0], &at[1],
			     &scale[0], &n) != 3) ||
	    text[n] != '\0' || scale[0] != 1 || scale[1] != 1 ||
	    scale[2] != 1 || (int)p.sums.size() != p.columns / 2) {
		ptx_fails(text);
	}
	p.window = shared_window;
	for (int i = 0; i < 2; i++) {
		p.across[i] = across[i] != 0;
		p.where[i] = operands.value(at[i]);
		check_descriptor(p, i);
		s.trace = s.trace * UINT64_C(6364136223846793005) + p.where[i] +
			  across[i] + 1;
	}
	for (int i = 0; i < 2; i++) {
		const char *begin, *end;

		operand_span(p, i, &begin, &end);
		if (is_being_copied(begin, end)) {
			ptx_fails("products of what is still being copied");
		}
		if ((!has_been_copied(begin, end) && !s.seen) || !s.fenced) {
			ptx_fails("products of what may not have been stored "
				  "yet");
		}
	}
	p.group = s.groups;
	s.products.push_back(p);
}

static inline void
wait_for_products(unsigned later)
{
	group_state &s = group_states[thread_in_block()];
	size_t done = 0;

	while (done < s.products.size() &&
	       s.products[done].group + later < s.groups) {
		multiply(s.products[done++]);
	}
	s.products.erase(s.products.begin(), s.products.begin() + done);
	s.fenced = false;
}

/* Whether a statement is of this form, in which ? stands for a number or an input,
 * = for an output and $ for a name; gives what they are. */
struct ptx_form {
	uint64_t values[8];
	void *output;
	std::string name;

	bool
	fits(const std::string &text, const char *form,
	     const ptx_operands &operands)
	{
		const char *at = text.c_str();
		uint64_t *value = values;

		for (; *form != '\0'; form++) {
			at += strspn(at, " \t\n");
			if (*form == '$') {
				size_t n = strspn(at, "abcdefghijklmnopqrst"
						      "uvwxyz_0123456789");

				name.assign(at, n);
				at += n;
			} else if (*form == '=' && *at == '%') {
				output = operands.sum(
					strtoul(at + 1, (char **)&at, 10));
			} else if (*form == '?' && *at == '%') {
				*value++ = operands.value(
					strtoul(at + 1, (char **)&at, 10));
			} else if (*form == '?' && isdigit(*at)) {
				*value++ = strtoull(at, (char **)&at, 0);
			} else if (*form != ' ' && *form != *at++) {
				return false;
			}
		}
		return *at == '\0';
	}
};

static inline void wait_for_turn();

/* Of tensors with so many dimensions. */
static inline bool
is_bulk_copy(const std::string &text, const ptx_operands &operands,
	     unsigned rank)
{
	std::string form = "cp.async.bulk.tensor." + std::to_string(rank) +
			   "d.shared::cluster.global.tile."
			   "mbarrier::complete_tx::bytes [?], [?, {?";
	ptx_form f;
	int32_t first[5];

	for (unsigned d = 1; d < rank; d++) {
		form += ", ?";
	}
	if (!f.fits(text, (form + "}], [?]").c_str(), operands)) {
		return false;
	}
	for (unsigned d = 0; d < rank; d++) {
		first[d] = static_cast<int32_t>(f.values[2 + d]);
	}
	bulk_copy c = start_copy(f.values[0], f.values[1], first, rank,
				 f.values[2 + rank]);
	const char *to = shared_place(c.to);

	if (is_being_read(to, to + c.bytes)) {
		ptx_fails("a copy to what products still read");
	}
	return true;
}

static inline bool
is_barrier_statement(const std::string &text, ptx_operands &operands)
{
	ptx_form f;

	if (f.fits(text, "mbarrier.init.shared::cta.b64 [?], ?", operands)) {
		barrier_init(f.values[0], f.values[1]);
	} else if (f.fits(text,
			  "mbarrier.expect_tx.relaxed.cta.shared::cta."
			  "b64 [?], ?",
			  operands)) {
		barrier_expect(f.values[0], f.values[1]);
	} else if (f.fits(text, "mbarrier.arrive.shared::cta.b64 _, [?]",
			  operands)) {
		barrier_arrive(f.values[0]);
	} else if (f.fits(text,
			  "mbarrier.try_wait.parity.shared::cta.b64 $, "
			  "[?], ?",
			  operands) &&
		   f.name == operands.predicate) {
		operands.holds = barrier_try_wait(f.values[0], f.values[1]);
		if (!operands.holds) {
			wait_for_turn();
		}
	} else {
		return false;
	}
	return true;
}

static inline void
ptx_statement(const std::string &text, ptx_operands &operands)
{
	static const char product[] = "wgmma.mma_async.sync.aligned.";
	static const char wait[] = "wgmma.wait_group.sync.aligned ";
	group_state &s = group_states[thread_in_block()];
	ptx_form f;

	if (text == "fence.proxy.async.shared::cta") {
		s.seen = true;
		barriers_fence();
	} else if (text == "wgmma.fence.sync.aligned") {
		s.fenced = true;
	} else if (text == "wgmma.commit_group.sync.aligned") {
		s.groups++;
	} else if (text.compare(0, sizeof wait - 1, wait) == 0) {
		wait_for_products(atoi(text.c_str() + sizeof wait - 1));
	} else if (text.compare(0, sizeof product - 1, product) == 0) {
		start_product(text.c_str() + sizeof product - 1, operands);
	} else if (f.fits(text, ".reg .pred $", operands)) {
		operands.predicate = f.name;
	} else if (f.fits(text, "selp.b32 =, ?, ?, $", operands) &&
		   f.name == operands.predicate) {
		uint32_t value = f.values[operands.holds ? 0 : 1];

		memcpy(f.output, &value, sizeof value);
	} else if (!is_barrier_statement(text, operands) &&
		   !is_bulk_copy(text, operands, 2) &&
		   !is_bulk_copy(text, operands, 3)) {
		ptx_fails(text.c_str());
	}
}

static inline void
ptx(const char *text, std::initializer_list<void *> sums,
    std::initializer_list<uint64_t> values)
{
	ptx_operands operands = { sums, values, {}, false };
	std::string one;
	int depth = 0;

	for (; *text != '\0'; text++) {
		if (*text == ';') {
			ptx_statement(one, operands);
			one.clear();
		} else if (one.empty() && (*text == '{' || *text == '}')) {
			depth += *text == '{' ? 1 : -1;
		} else if (!one.empty() || !isspace(*text)) {
			one += *text;
		}
	}
	if (!one.empty() || depth != 0) {
		ptx_fails("a statement that does not end");
	}
}

} // namespace emulation

/* An address in the memory that a block shares (shared_place). What descriptors
 * have of it, less than 2^18, is an offset in the window. */
static inline size_t
__cvta_generic_to_shared(const void *x)
{
	const char *p = static_cast<const char *>(x);
	const char *pool = reinterpret_cast<const char *>(shared_pool);

	if (p >= pool && p < pool + emulation::POOL) {
		emulation::shared_window = pool;
		return p - pool;
	}
	if (emulation::declared_window == NULL) {
		emulation::declared_window = p -
					     reinterpret_cast<size_t>(p) %
						     1024 -
					     2 * emulation::POOL_DECLARED;
	}
	emulation::shared_window = emulation::declared_window;
	return p - emulation::shared_window + emulation::DECLARED;
}

#endif
