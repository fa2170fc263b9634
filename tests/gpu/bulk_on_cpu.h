/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies by tensor maps on the CPU, for tests: what the driver's header has
 * of maps (cuda.h), barriers that count arrivals and bytes (mbarrier), and copies
 * of boxes to the memory that a block shares (cp.async.bulk.tensor), by the
 * manuals (CUDA driver API, "Tensor Map Object Management"; PTX ISA, "mbarrier"
 * and "Tensor copy"). Copies arrive when somebody waits for them and no sooner,
 * or (EMULATE_BACKWARDS) as soon as a thread arrives behind them; until then their
 * place has rubbish. */
#ifndef BULK_ON_CPU_H
#define BULK_ON_CPU_H

#define __grid_constant__
#define CUDAAPI
#define CUDART_VERSION 12050

/* -- the driver's header */

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };

struct alignas(64) CUtensorMap {
	cuuint64_t opaque[16];
};

enum CUtensorMapDataType {
	CU_TENSOR_MAP_DATA_TYPE_UINT8,
	CU_TENSOR_MAP_DATA_TYPE_UINT16,
	CU_TENSOR_MAP_DATA_TYPE_UINT32,
	CU_TENSOR_MAP_DATA_TYPE_INT32,
	CU_TENSOR_MAP_DATA_TYPE_UINT64,
	CU_TENSOR_MAP_DATA_TYPE_INT64,
	CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
	CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
	CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
	CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE };
enum CUtensorMapSwizzle {
	CU_TENSOR_MAP_SWIZZLE_NONE = 0,
	CU_TENSOR_MAP_SWIZZLE_128B = 3
};
enum CUtensorMapL2promotion {
	CU_TENSOR_MAP_L2_PROMOTION_NONE,
	CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
	CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
	CU_TENSOR_MAP_L2_PROMOTION_L2_256B
};
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };

namespace emulation
{

/* What a map holds here. */
struct map_contents {
	uint64_t mark;
	const char *from;
	uint64_t strides[5]; /* bytes; of the innermost, an element's */
	uint32_t last[5];    /* the last element along each */
	uint16_t box[5];
	uint8_t steps[5], rank, swizzled;
};

static const uint64_t MAP_MARK = UINT64_C(0x70616d20726f736e);

static_assert(sizeof(map_contents) <= sizeof(CUtensorMap), "too much");

static inline bool
is_box(const cuuint64_t *sizes, const cuuint64_t *strides,
       const cuuint32_t *box, const cuuint32_t *steps, unsigned rank)
{
	for (unsigned d = 0; d < rank; d++) {
		if (sizes[d] < 1 || sizes[d] > UINT64_C(1) << 32 ||
		    box[d] < 1 || box[d] > 256 || steps[d] < 1 ||
		    steps[d] > 8) {
			return false;
		}
	}
	for (unsigned d = 0; d + 1 < rank; d++) {
		if (strides[d] % 16 != 0 || strides[d] >= UINT64_C(1) << 40) {
			return false;
		}
	}
	return true;
}

} // namespace emulation

static inline CUresult
cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type,
		       cuuint32_t rank, void *from, const cuuint64_t *sizes,
		       const cuuint64_t *strides, const cuuint32_t *box,
		       const cuuint32_t *steps,
		       CUtensorMapInterleave interleave,
		       CUtensorMapSwizzle swizzle,
		       CUtensorMapL2promotion promotion,
		       CUtensorMapFloatOOBfill fill)
{
	static const unsigned char type_bytes[] = {
		1, 2, 4, 4, 8, 8, 2, 4, 8, 2
	};
	emulation::map_contents m = {};

	if (map == NULL || reinterpret_cast<size_t>(map) % 64 != 0 ||
	    type < 0 || (size_t)type >= sizeof type_bytes || rank < 1 ||
	    rank > 5 || from == NULL || reinterpret_cast<size_t>(from) % 16 ||
	    sizes == NULL || (strides == NULL && rank > 1) || box == NULL ||
	    steps == NULL || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
	    (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE &&
	     swizzle != CU_TENSOR_MAP_SWIZZLE_128B) ||
	    promotion < 0 || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
	    fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
	    !emulation::is_box(sizes, strides, box, steps, rank) ||
	    box[0] * type_bytes[type] % 16 != 0 ||
	    (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE &&
	     box[0] * type_bytes[type] > 128)) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	m.mark = emulation::MAP_MARK;
	m.from = static_cast<const char *>(from);
	m.rank = rank;
	m.swizzled = swizzle != CU_TENSOR_MAP_SWIZZLE_NONE;
	for (unsigned d = 0; d < rank; d++) {
		m.strides[d] = d == 0 ? type_bytes[type] : strides[d - 1];
		m.last[d] = sizes[d] - 1;
		m.box[d] = box[d];
		m.steps[d] = d == 0 ? 1 : steps[d];
	}
	memset(map, 0, sizeof *map);
	memcpy(map, &m, sizeof m);
	return CUDA_SUCCESS;
}

/* -- the memory that a block shares */

namespace emulation
{

static inline unsigned
thread_in_block()
{
	return threadIdx.x +
	       blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

[[noreturn]] static inline void
ptx_fails(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

/* Addresses are offsets in the pool, or, DECLARED more, from what is around the
 * first array that one asks for. */
enum { DECLARED = 1 << 24 };

static const char *declared_window;

static inline char *
shared_place(uint32_t at)
{
	if (at < POOL) {
		return reinterpret_cast<char *>(shared_pool) + at;
	}
	if (at < DECLARED || declared_window == NULL) {
		ptx_fails("an address that is not in shared memory");
	}
	return const_cast<char *>(declared_window) + (at - DECLARED);
}

/* The 16 bytes of each 128 change places, by where these are in 1024. */
static inline uint64_t
swizzled(uint64_t at)
{
	return at ^ (at >> 7 & 7) << 4;
}

/* -- barriers that count arrivals and bytes */

struct bulk_barrier {
	uint32_t at;
	unsigned expected, pending; /* arrivals */
	int64_t bytes;              /* that are to come in this phase */
	unsigned phases;            /* that are over */
	unsigned maker;             /* the thread that has made it */
	enum { MADE, FENCED, READY } state;
	bool due;             /* somebody was told to wait once more */
	unsigned known[1024]; /* phases that threads know to be over */
};

/* Under way, of the barrier's phase that is not over. */
struct bulk_copy {
	size_t barrier;
	uint32_t to;
	size_t bytes;
	map_contents map;
	int32_t first[5];
};

/* What a copy has brought; seen by who knows that phase to be over. */
struct bulk_arrival {
	const char *begin, *end;
	size_t barrier;
	unsigned phase;
};

/* A list; std::vector takes compilers longer. */
template <class T> struct few {
	enum { MOST = 128 };
	T list[MOST];
	unsigned n;

	T *
	begin()
	{
		return list;
	}
	T *
	end()
	{
		return list + n;
	}
	T &
	operator[](size_t i)
	{
		return list[i];
	}
	void
	add(const T &one)
	{
		if (n == MOST) {
			ptx_fails("more barriers or copies than are emulated");
		}
		list[n++] = one;
	}
};

static few<bulk_barrier> bulk_barriers; /* of a block */
static few<bulk_copy> bulk_copies;
static few<bulk_arrival> bulk_arrivals;
static unsigned long bulk_events; /* whatever somebody may wait for */

/* What is where a barrier is, as long as nothing else is stored there. */
static inline uint64_t
barrier_mark(uint32_t at)
{
	return UINT64_C(0x7265697272616200) ^ at;
}

static inline size_t
barrier_at(uint32_t at)
{
	uint64_t mark = barrier_mark(at);

	for (unsigned i = 0; i < bulk_barriers.n; i++) {
		if (bulk_barriers[i].at != at) {
			continue;
		}
		if (memcmp(shared_place(at), &mark, sizeof mark) != 0) {
			ptx_fails("something is stored where a barrier is");
		}
		if (bulk_barriers[i].state != bulk_barrier::READY) {
			ptx_fails("a barrier that not all threads see yet");
		}
		return i;
	}
	ptx_fails("there is no such barrier");
}

static inline void
barrier_init(uint32_t at, uint32_t expected)
{
	uint64_t mark = barrier_mark(at);
	bulk_barrier b = {};

	for (const bulk_barrier &other : bulk_barriers) {
		if (other.at == at) {
			ptx_fails("a barrier is made twice");
		}
	}
	if (at % 8 != 0 || expected < 1 || expected >= 1 << 20) {
		ptx_fails("a barrier between two words, or of no such count");
	}
	b.at = at;
	b.expected = b.pending = expected;
	b.maker = thread_in_block();
	memcpy(shared_place(at), &mark, sizeof mark);
	bulk_barriers.add(b);
}

/* This thread's stores, to what is asynchronous. */
static inline void
barriers_fence()
{
	for (bulk_barrier &b : bulk_barriers) {
		if (b.state == bulk_barrier::MADE &&
		    b.maker == thread_in_block()) {
			b.state = bulk_barrier::FENCED;
		}
	}
}

/* All threads of a block are at a barrier: they know what one of them does. */
static inline void
barriers_meet()
{
	for (bulk_barrier &b : bulk_barriers) {
		unsigned n = blockDim.x * blockDim.y * blockDim.z, most = 0;

		if (b.state == bulk_barrier::FENCED) {
			b.state = bulk_barrier::READY;
		}
		for (unsigned i = 0; i < n; i++) {
			most = b.known[i] > most ? b.known[i] : most;
		}
		for (unsigned i = 0; i < n; i++) {
			b.known[i] = most;
		}
	}
}

static inline void
next_phase(bulk_barrier &b)
{
	b.pending = b.expected;
	b.phases++;
	b.due = false;
	bulk_events++;
}

static inline int64_t
bytes_under_way(size_t barrier)
{
	int64_t bytes = 0;

	for (const bulk_copy &c : bulk_copies) {
		bytes += c.barrier == barrier ? c.bytes : 0;
	}
	return bytes;
}

static inline void
barrier_expect(uint32_t at, uint32_t bytes)
{
	bulk_barrier &b = bulk_barriers[barrier_at(at)];

	if (b.pending == 0) {
		ptx_fails("bytes of a phase that is about to end");
	}
	b.bytes += bytes;
	if (b.bytes >= 1 << 20) {
		ptx_fails("more bytes than a barrier counts");
	}
	bulk_events++;
}

static inline void finish_copies(size_t barrier);

static inline void
barrier_arrive(uint32_t at)
{
	size_t i = barrier_at(at);
	bulk_barrier &b = bulk_barriers[i];

	if (b.pending == 0) {
		ptx_fails("more arrive at a barrier than it waits for");
	}
	bulk_events++;
	if (--b.pending > 0) {
		return;
	}
#ifdef EMULATE_BACKWARDS
	if (b.bytes > 0 && bytes_under_way(i) == b.bytes) {
		finish_copies(i);
		return;
	}
#endif
	if (b.bytes > 0) {
		return;
	}
	if (bytes_under_way(i) > 0) {
		ptx_fails("copies of bytes that nobody expects");
	}
	next_phase(b);
}

/* -- copies */

/* A row of the box, zeros where it leaves the tensor. */
static inline void
read_row(const bulk_copy &c, size_t row, char *to)
{
	const map_contents &m = c.map;
	size_t bytes = m.strides[0];
	const char *from = m.from;

	memset(to, 0, m.box[0] * bytes);
	for (unsigned d = 1; d < m.rank; row /= m.box[d++]) {
		int64_t at = c.first[d] + (int64_t)(row % m.box[d]);

		if (at < 0 || at > m.last[d]) {
			return;
		}
		from += at * m.strides[d];
	}
	for (int64_t i = 0; i < m.box[0]; i++) {
		int64_t at = c.first[0] + i;

		if (at >= 0 && at <= m.last[0]) {
			memcpy(to + i * bytes, from + at * bytes, bytes);
		}
	}
}

static inline void
finish_copy(const bulk_copy &c)
{
	size_t width = c.map.box[0] * c.map.strides[0];
	char row[2048];

	for (size_t at = 0; at < c.bytes; at += 16) {
		uint32_t to = c.to + at;

		if (at % width == 0) {
			read_row(c, at / width, row);
		}
		memcpy(shared_place(c.map.swizzled ? swizzled(to) : to),
		       row + at % width, 16);
	}
}

static inline bool
overlap(const char *a, const char *a_end, const char *b, const char *b_end)
{
	return a < b_end && b < a_end;
}

/* Whether a copy is under way to there. */
static inline bool
is_being_copied(const char *begin, const char *end)
{
	for (const bulk_copy &c : bulk_copies) {
		const char *to = shared_place(c.to);

		if (overlap(begin, end, to, to + c.bytes)) {
			return true;
		}
	}
	return false;
}

/* Whether all of it was copied so; who looks has to know that it is there. */
static inline bool
has_been_copied(const char *begin, const char *end)
{
	for (bool found = true; found && begin < end;) {
		found = false;
		for (const bulk_arrival &a : bulk_arrivals) {
			if (begin >= end || begin < a.begin || begin >= a.end) {
				continue;
			}
			if (bulk_barriers[a.barrier].known[thread_in_block()] <=
			    a.phase) {
				ptx_fails("copies that this thread has not "
					  "waited for");
			}
			begin = a.end;
			found = true;
		}
	}
	return begin >= end;
}

static inline void
check_place(const bulk_copy &c)
{
	const char *to = shared_place(c.to), *end = to + c.bytes;

	if (c.to % (c.map.swizzled ? 1024 : 128) != 0) {
		ptx_fails("a copy to a place between two where one may begin");
	}
	if (is_being_copied(to, end)) {
		ptx_fails("two copies to one place at once");
	}
	for (const bulk_barrier &b : bulk_barriers) {
		const char *at = shared_place(b.at);

		if (overlap(at, at + 8, to, end)) {
			ptx_fails("a copy to where a barrier is");
		}
	}
}

/* Gives where its box will be. */
static inline bulk_copy
start_copy(uint32_t to, uint64_t map, const int32_t *first, unsigned rank,
	   uint32_t barrier)
{
	bulk_copy c = { barrier_at(barrier), to, 1, {}, {} };

	if (map % 64 != 0) {
		ptx_fails("a tensor map between two places for such");
	}
	memcpy(&c.map, reinterpret_cast<const void *>(map), sizeof c.map);
	if (c.map.mark != MAP_MARK || c.map.rank != rank) {
		ptx_fails("no tensor map of so many dimensions");
	}
	for (unsigned d = 0; d < rank; d++) {
		c.bytes *= c.map.box[d];
		c.first[d] = first[d];
		if (c.map.steps[d] != 1) {
			ptx_fails("steps in a tensor are not emulated");
		}
	}
	c.bytes *= c.map.strides[0];
	if (c.map.swizzled && c.map.box[0] * c.map.strides[0] != 128) {
		ptx_fails("swizzled rows of less than 128 bytes are not "
			  "emulated");
	}
	check_place(c);
	memset(shared_place(to), 0xff, c.bytes);
	bulk_copies.add(c);
	bulk_events++;
	return c;
}

/* What is there now, and nothing else that was. */
static inline void
has_arrived(const bulk_arrival &now)
{
	unsigned kept = 0;

	for (const bulk_arrival &a : bulk_arrivals) {
		if (!overlap(a.begin, a.end, now.begin, now.end)) {
			bulk_arrivals[kept++] = a;
		}
	}
	bulk_arrivals.n = kept;
	bulk_arrivals.add(now);
}

/* Those of a phase; they were the last that it waited for. */
static inline void
finish_copies(size_t barrier)
{
	unsigned kept = 0;

	for (const bulk_copy &c : bulk_copies) {
		const char *to = shared_place(c.to);

		if (c.barrier == barrier) {
			finish_copy(c);
			has_arrived({ to, to + c.bytes, barrier,
				      bulk_barriers[barrier].phases });
		} else {
			bulk_copies[kept++] = c;
		}
	}
	bulk_copies.n = kept;
	bulk_barriers[barrier].bytes = 0;
	next_phase(bulk_barriers[barrier]);
}

/* Whether the phase of that parity is over, be it only now; the first who asks
 * then is told to ask again. */
static inline bool
barrier_try_wait(uint32_t at, uint32_t parity)
{
	size_t i = barrier_at(at);
	bulk_barrier &b = bulk_barriers[i];

	if (parity > 1) {
		ptx_fails("a parity that is none");
	}
	if (b.phases % 2 == parity) {
		int64_t bytes = bytes_under_way(i);

		if (b.pending > 0 || bytes < b.bytes) {
			return false;
		}
		if (bytes > b.bytes) {
			ptx_fails("more bytes are copied than expected");
		}
		if (!b.due) {
			b.due = true;
			bulk_events++;
			return false;
		}
		finish_copies(i);
	}
	b.known[thread_in_block()] = b.phases;
	return true;
}

/* Every thread waits, and what for will not be. */
[[noreturn]] static inline void
barriers_hang()
{
	for (unsigned i = 0; i < bulk_barriers.n; i++) {
		const bulk_barrier &b = bulk_barriers[i];

		printf("barrier %u: phase %u lacks %u arrivals and %d bytes, "
		       "%d are under way\n",
		       (unsigned)i, b.phases, b.pending, (int)b.bytes,
		       (int)bytes_under_way(i));
	}
	ptx_fails("threads wait at such barriers for ever");
}

static inline void
barriers_begin()
{
	bulk_barriers.n = bulk_arrivals.n = 0;
}

static inline void
barriers_end()
{
	if (bulk_copies.n > 0) {
		ptx_fails("a block ends before its copies have arrived");
	}
	for (const bulk_barrier &b : bulk_barriers) {
		if (b.bytes != 0) {
			ptx_fails("a block ends before the bytes that it "
				  "expects");
		}
	}
}

} // namespace emulation

#endif
