/* SPDX-License-Identifier: Apache-2.0 */
/* `half` and `__nv_bfloat16` for sources that run on the CPU, for tests: IEEE
 * binary16, and the upper half of binary32; each operation rounded once, to
 * nearest even. */
#ifndef HALF_ON_CPU_H
#define HALF_ON_CPU_H

#include <math.h>
#include <stdint.h>
#include <type_traits>

/* Numbers of 16 bits: the sign, an exponent of so many, and what is behind the
 * point. */
template <int EXPONENT> struct short_float {
	enum {
		FRACTION = 15 - EXPONENT, BIAS = (1 << (EXPONENT - 1)) - 1,
		LEAST = 1 - BIAS - FRACTION /* the smallest is 2^LEAST */
	};
	static constexpr uint16_t HIGHEST = 0x7fff >> FRACTION << FRACTION;
	uint16_t bits;

	short_float() = default;
	template <class T, class = typename std::enable_if<
				   std::is_arithmetic<T>::value>::type>
	short_float(T x) : bits(round(static_cast<double>(x)))
	{
	}
	/* Of the other kind. */
	template <int OTHER> explicit short_float(short_float<OTHER> x)
		: bits(round(x.wide()))
	{
	}
	operator float() const { return static_cast<float>(wide()); }
	short_float operator-() const
	{
		short_float y = *this;

		y.bits ^= 0x8000;
		return y;
	}
	/* As the toolkit has it: a double for what a float may lose. */
	short_float &operator+=(short_float b) { return *this = *this + b; }
	short_float &operator-=(short_float b) { return *this = *this - b; }
	short_float &operator*=(short_float b) { return *this = *this * b; }
	friend short_float operator+(short_float a, short_float b)
	{
		return a.wide() + b.wide();
	}
	friend short_float operator-(short_float a, short_float b)
	{
		return a.wide() - b.wide();
	}
	friend short_float operator*(short_float a, short_float b)
	{
		return a.wide() * b.wide();
	}
	friend short_float operator/(short_float a, short_float b)
	{
		return a.wide() / b.wide();
	}
	friend bool operator==(short_float a, short_float b)
	{
		return a.wide() == b.wide();
	}
	friend bool operator!=(short_float a, short_float b)
	{
		return a.wide() != b.wide();
	}
	friend bool operator<(short_float a, short_float b)
	{
		return a.wide() < b.wide();
	}
	friend bool operator<=(short_float a, short_float b)
	{
		return a.wide() <= b.wide();
	}
	friend bool operator>(short_float a, short_float b)
	{
		return a.wide() > b.wide();
	}
	friend bool operator>=(short_float a, short_float b)
	{
		return a.wide() >= b.wide();
	}
	double wide() const
	{
		int e = (bits & 0x7fff) >> FRACTION;
		int part = bits & ((1 << FRACTION) - 1);
		double x = e == 2 * BIAS + 1 ? part ? NAN : INFINITY
			 : e == 0 ? ldexp(part, LEAST)
				  : ldexp(part + (1 << FRACTION), e - 1 + LEAST);

		return bits & 0x8000 ? -x : x;
	}

private:
	/* To a multiple of what the last bit stands for. */
	static uint16_t round(double x)
	{
		uint16_t sign = signbit(x) ? 0x8000 : 0;
		int e;

		if (x != x) {
			return sign | HIGHEST | 1 << (FRACTION - 1);
		}
		x = fabs(x);
		/* From halfway between the largest and the next on. */
		if (x >= ldexp(2.0 - ldexp(1.0, -FRACTION - 1), BIAS)) {
			return sign | HIGHEST;
		}
		frexp(x, &e);
		e -= FRACTION + 1;
		e = x == 0.0 || e < LEAST ? LEAST : e;
		/* The exponent's field counts on from the fraction's. */
		return sign | static_cast<uint16_t>(
			(e - LEAST) * (1 << FRACTION) +
			nearbyint(ldexp(x, -e)));
	}
};

typedef short_float<5> half;
typedef short_float<8> __nv_bfloat16;

template <int EXPONENT> static inline short_float<EXPONENT>
__hfma(short_float<EXPONENT> a, short_float<EXPONENT> b,
       short_float<EXPONENT> c)
{
	return fma(a.wide(), b.wide(), c.wide());
}

#endif
