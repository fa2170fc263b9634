/* SPDX-License-Identifier: Apache-2.0 */
/* `half` for sources that run on the CPU, for tests: IEEE binary16, each
 * operation rounded once, to nearest even. */
#ifndef HALF_ON_CPU_H
#define HALF_ON_CPU_H

#include <math.h>
#include <stdint.h>
#include <type_traits>

namespace half_bits {

/* To a multiple of what the last of 11 bits stands for. */
static inline uint16_t
round(double x)
{
	uint16_t sign = signbit(x) ? 0x8000 : 0;
	double scaled, whole;
	int e;

	if (x != x) {
		return sign | 0x7e00;
	}
	x = fabs(x);
	if (x >= 65520.0) {
		return sign | 0x7c00;
	}
	frexp(x, &e);
	e = x == 0.0 || e - 11 < -24 ? -24 : e - 11;
	scaled = ldexp(x, -e);
	whole = nearbyint(scaled);
	/* The exponent's field counts on from the fraction's. */
	return sign | static_cast<uint16_t>((e + 24) * 1024 + whole);
}

static inline float
value(uint16_t bits)
{
	int e = bits >> 10 & 31, fraction = bits & 1023;
	double x = e == 31 ? fraction ? NAN : INFINITY
		 : e == 0 ? ldexp(fraction, -24)
			  : ldexp(fraction + 1024, e - 25);

	return static_cast<float>(bits & 0x8000 ? -x : x);
}

}

struct half {
	uint16_t bits;

	half() = default;
	template <class T, class = typename std::enable_if<
				   std::is_arithmetic<T>::value>::type>
	half(T x) : bits(half_bits::round(static_cast<double>(x)))
	{
	}
	operator float() const { return half_bits::value(bits); }
	half operator-() const
	{
		half y = *this;

		y.bits ^= 0x8000;
		return y;
	}
	/* As the toolkit has it: a double for what a float may lose. */
	half &operator+=(half b) { return *this = *this + b; }
	half &operator-=(half b) { return *this = *this - b; }
	half &operator*=(half b) { return *this = *this * b; }
	friend half operator+(half a, half b) { return a.wide() + b.wide(); }
	friend half operator-(half a, half b) { return a.wide() - b.wide(); }
	friend half operator*(half a, half b) { return a.wide() * b.wide(); }
	friend half operator/(half a, half b) { return a.wide() / b.wide(); }
	friend bool operator==(half a, half b) { return a.wide() == b.wide(); }
	friend bool operator!=(half a, half b) { return a.wide() != b.wide(); }
	friend bool operator<(half a, half b) { return a.wide() < b.wide(); }
	friend bool operator<=(half a, half b) { return a.wide() <= b.wide(); }
	friend bool operator>(half a, half b) { return a.wide() > b.wide(); }
	friend bool operator>=(half a, half b) { return a.wide() >= b.wide(); }
	double wide() const { return half_bits::value(bits); }
};

static inline half
__hfma(half a, half b, half c)
{
	return fma(a.wide(), b.wide(), c.wide());
}

#endif
