/* SPDX-License-Identifier: Apache-2.0 */
/* `half` and `__nv_bfloat16` for sources that run on the CPU, for tests: IEEE
 * binary16, and the upper half of binary32; each operation rounded once, to
 * nearest even. */
#ifndef HALF_ON_CPU_H
#define HALF_ON_CPU_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

/* Constants of arrays are known before the program starts: nothing computes them,
 * which would take compilers long. */
#ifdef __has_builtin
#if __has_builtin(__builtin_bit_cast)
#define KNOWN_EARLY constexpr
#define BITS_OF(x) __builtin_bit_cast(uint64_t, x)
#endif
#endif
#ifndef KNOWN_EARLY
#define KNOWN_EARLY
#define BITS_OF(x) bits_of(x)

static inline uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}
#endif

/* Numbers of 16 bits: the sign, an exponent of so many, and what is behind the
 * point. */
template <int EXPONENT> struct short_float {
	enum {
		FRACTION = 15 - EXPONENT,
		BIAS = (1 << (EXPONENT - 1)) - 1,
		LEAST = 1 - BIAS - FRACTION /* the smallest is 2^LEAST */
	};
	static constexpr uint16_t HIGHEST = 0x7fff >> FRACTION << FRACTION;
	uint16_t bits;

	short_float() = default;
	template <class T, class = typename std::enable_if<
				   std::is_arithmetic<T>::value>::type>
	KNOWN_EARLY
	short_float(T x)
	    : bits(round(static_cast<double>(x)))
	{
	}
	/* Of the other kind. */
	template <int OTHER>
	explicit short_float(short_float<OTHER> x) : bits(round(x.wide()))
	{
	}
	operator float() const
	{
		return static_cast<float>(wide());
	}
	short_float
	operator-() const
	{
		short_float y = *this;

		y.bits ^= 0x8000;
		return y;
	}
	/* As the toolkit has it: a double for what a float may lose. */
	short_float &
	operator+=(short_float b)
	{
		return *this = *this + b;
	}
	short_float &
	operator-=(short_float b)
	{
		return *this = *this - b;
	}
	short_float &
	operator*=(short_float b)
	{
		return *this = *this * b;
	}
	friend short_float
	operator+(short_float a, short_float b)
	{
		return a.wide() + b.wide();
	}
	friend short_float
	operator-(short_float a, short_float b)
	{
		return a.wide() - b.wide();
	}
	friend short_float
	operator*(short_float a, short_float b)
	{
		return a.wide() * b.wide();
	}
	friend short_float
	operator/(short_float a, short_float b)
	{
		return a.wide() / b.wide();
	}
	friend bool
	operator==(short_float a, short_float b)
	{
		return a.wide() == b.wide();
	}
	friend bool
	operator!=(short_float a, short_float b)
	{
		return a.wide() != b.wide();
	}
	friend bool
	operator<(short_float a, short_float b)
	{
		return a.wide() < b.wide();
	}
	friend bool
	operator<=(short_float a, short_float b)
	{
		return a.wide() <= b.wide();
	}
	friend bool
	operator>(short_float a, short_float b)
	{
		return a.wide() > b.wide();
	}
	friend bool
	operator>=(short_float a, short_float b)
	{
		return a.wide() >= b.wide();
	}
	double
	wide() const
	{
		int e = (bits & 0x7fff) >> FRACTION;
		int part = bits & ((1 << FRACTION) - 1);
		double x = e == 2 * BIAS + 1 ? part ? NAN : INFINITY
			   : e == 0          ? ldexp(part, LEAST)
					     : ldexp(part + (1 << FRACTION),
						     e - 1 + LEAST);

		return bits & 0x8000 ? -x : x;
	}

      private:
	/* To a multiple of what the last bit stands for. */
	static KNOWN_EARLY uint16_t
	round(double x)
	{
		uint64_t all = BITS_OF(x);
		uint64_t part = all & ((UINT64_C(1) << 52) - 1);
		uint16_t sign = all >> 63 << 15;
		int e = all >> 52 & 2047;
		/* The exponent's field; below 1 there are fewer bits. */
		int field = e - 1023 + BIAS;
		int dropped = 52 - FRACTION + (field < 1 ? 1 - field : 0);

		if (e == 2047) {
			return sign | HIGHEST |
			       (part != 0 ? 1 << (FRACTION - 1) : 0);
		}
		if (dropped > 53) {
			return sign;
		}
		part |= UINT64_C(1) << 52;
		uint64_t kept = part >> dropped;
		uint64_t rest = part - (kept << dropped);
		uint64_t half_way = UINT64_C(1) << (dropped - 1);

		kept += rest > half_way || (rest == half_way && kept % 2 != 0);
		/* The field counts on from the fraction's. */
		kept += field > 1 ? (uint64_t)(field - 1) << FRACTION : 0;
		return sign | (kept < HIGHEST ? kept : HIGHEST);
	}
};

typedef short_float<5> half;
typedef short_float<8> __nv_bfloat16;

/* Each operation is rounded here, so that no compiler fuses two. */
template <int EXPONENT>
static inline short_float<EXPONENT>
__hmul_rn(short_float<EXPONENT> a, short_float<EXPONENT> b)
{
	return a * b;
}

template <int EXPONENT>
static inline short_float<EXPONENT>
__hfma(short_float<EXPONENT> a, short_float<EXPONENT> b,
       short_float<EXPONENT> c)
{
	return fma(a.wide(), b.wide(), c.wide());
}

#endif
