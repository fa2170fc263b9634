/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX that texts of CUDA hold, on the CPU, for tests: products of warp groups
 * (wgmma), and what has to stand around them. asm_calls.py makes a call of each
 * asm statement,
 *
 *	emulation::ptx(text, { &sum, ... }, { operand, ... });
 *
 * What a thread has in its registers, where a descriptor of shared memory leads and
 * what waits for what is as the manual says (PTX ISA, "Asynchronous Warpgroup Level
 * Matrix Instructions"); layouts are those without swizzling. Sums are as they were
 * until they are waited for, and operands are read only then. */
#ifndef PTX_ON_CPU_H
#define PTX_ON_CPU_H

#include <ctype.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace emulation {

struct group_product {
	int columns, depth;
	char kind[8];      /* of the operands' elements */
	bool across[2];    /* operands of which what is not summed is adjacent */
	uint64_t where[2]; /* their descriptors */
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
static const char *shared_window; /* the memory that a block shares */
static uint64_t group_traces[8]; /* of a block's warp groups, by a thread */
static bool group_ended[8];      /* that is done */

static inline unsigned
thread_in_block()
{
	return threadIdx.x + blockDim.x * (threadIdx.y +
					   blockDim.y * threadIdx.z);
}

[[noreturn]] static inline void
ptx_fails(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

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
}

static inline float
short_value(const char *at, bool brains)
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
	return brains ? value : halves[bits];
}

/* Element k along the sum of row or column i: the canonical layouts. 16 bytes have
 * so many elements. */
static inline const char *
operand_element(const group_product &p, int operand, int i, int k)
{
	uint64_t where = p.where[operand];
	size_t leading = (where >> 16 & 0x3fff) * 16;
	size_t stride = (where >> 32 & 0x3fff) * 16;
	int bytes = 32 / p.depth, many = 16 / bytes;

	return shared_window + (where & 0x3fff) * 16 +
	       (p.across[operand]
			? i % many * bytes + i / many * stride + k % 8 * 16 +
				  k / 8 * leading
			: k % many * bytes + k / many * leading + i % 8 * 16 +
				  i / 8 * stride);
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
		*static_cast<float *>(sum) +=
			short_value(a, p.kind[0] == 'b') *
			short_value(b, p.kind[0] == 'b');
	}
}

/* What this thread has of the sums. */
static inline void
multiply(const group_product &p)
{
	unsigned thread = thread_in_block() % 128;

	for (int i = 0; i < p.columns / 2; i++) {
		int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
		int column = i / 4 * 8 + thread % 4 * 2 + i % 2;

		for (int k = 0; k < p.depth; k++) {
			add_product(p, p.sums[i],
				    operand_element(p, 0, row, k),
				    operand_element(p, 1, column, k));
		}
	}
}

struct ptx_operands {
	std::initializer_list<void *> sums;
	std::initializer_list<uint64_t> values;

	void *sum(unsigned i) const
	{
		if (i >= sums.size()) {
			ptx_fails("a sum that is no such operand");
		}
		return sums.begin()[i];
	}
	uint64_t value(unsigned i) const
	{
		if (i < sums.size() || i >= sums.size() + values.size()) {
			ptx_fails("a value that is no such operand");
		}
		return values.begin()[i - sums.size()];
	}
};

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
	    n == 0 || p.columns < 8 || p.columns > 256 ||
	    p.columns % 8 != 0 || strcmp(p.kind, other) != 0) {
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
		p.sums.push_back(operands.sum(strtoul(text + 1, (char **)&text,
						      10)));
	}
	n = 0;
	if ((shorts ? sscanf(text, "}, %%%u, %%%u, %d, %d, %d, %d, %d%n",
			     &at[0], &at[1], &scale[0], &scale[1], &scale[2],
			     &across[0], &across[1], &n) != 7
		    : sscanf(text, "}, %%%u, %%%u, %d%n", &at[0], &at[1],
			     &scale[0], &n) != 3) ||
	    text[n] != '\0' ||
	    scale[0] != 1 || scale[1] != 1 || scale[2] != 1 ||
	    (int)p.sums.size() != p.columns / 2) {
		ptx_fails(text);
	}
	for (int i = 0; i < 2; i++) {
		p.across[i] = across[i] != 0;
		p.where[i] = operands.value(at[i]);
		/* No swizzling, no offset, nothing in what is unused. */
		if ((p.where[i] & ~UINT64_C(0x3fff3fff3fff)) != 0) {
			ptx_fails("a descriptor of something else");
		}
		s.trace = s.trace * UINT64_C(6364136223846793005) + p.where[i] +
			  across[i] + 1;
	}
	if (!s.seen || !s.fenced) {
		ptx_fails("products of what may not have been stored yet");
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

static inline void
ptx_statement(const std::string &text, const ptx_operands &operands)
{
	static const char product[] = "wgmma.mma_async.sync.aligned.";
	static const char wait[] = "wgmma.wait_group.sync.aligned ";
	group_state &s = group_states[thread_in_block()];

	if (text == "fence.proxy.async.shared::cta") {
		s.seen = true;
	} else if (text == "wgmma.fence.sync.aligned") {
		s.fenced = true;
	} else if (text == "wgmma.commit_group.sync.aligned") {
		s.groups++;
	} else if (text.compare(0, sizeof wait - 1, wait) == 0) {
		wait_for_products(atoi(text.c_str() + sizeof wait - 1));
	} else if (text.compare(0, sizeof product - 1, product) == 0) {
		start_product(text.c_str() + sizeof product - 1, operands);
	} else {
		ptx_fails(text.c_str());
	}
}

static inline void
ptx(const char *text, std::initializer_list<void *> sums,
    std::initializer_list<uint64_t> values)
{
	std::string one;

	for (; *text != '\0'; text++) {
		if (*text == ';') {
			ptx_statement(one, { sums, values });
			one.clear();
		} else if (!one.empty() || !isspace(*text)) {
			one += *text;
		}
	}
	if (!one.empty()) {
		ptx_fails(one.c_str());
	}
}

}

/* An address in the memory that a block shares, of less than 2^18 bytes: the pool,
 * or what is around the first array that one asks for. */
static inline size_t
__cvta_generic_to_shared(const void *x)
{
	static const char *declared;
	const char *p = static_cast<const char *>(x);
	const char *pool = reinterpret_cast<const char *>(shared_pool);

	if (p >= pool && p < pool + emulation::POOL) {
		emulation::shared_window = pool;
	} else {
		if (declared == NULL) {
			declared = p - reinterpret_cast<size_t>(p) % 128 -
				   2 * emulation::POOL_DECLARED;
		}
		emulation::shared_window = declared;
	}
	return p - emulation::shared_window;
}

#endif
