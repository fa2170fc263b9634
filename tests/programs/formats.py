# SPDX-License-Identifier: Apache-2.0
# Values in formats; Python itself prints the same.
x, n, s = 3.14159, 42, "ab"
print(f"{x:.2f} {x:>10.3f}| {n:5d}|{n:<5}|{n:^7}|{n:05d}|{n:x} {n:#x} {n:b} {n:,} {1234567:,} {x:e} {x:g} {x!r} {s!r:>6} {n=} {x=:.1f} {s:>{n//8}}|{0.256:.1%}")
print("%d %5.2f %s %r %-5s| %05d %x %e %g %%" % (n,x,s,s,s,n,n,x,x), "%s" % x, "%s %s" % (1,[2]), "%(a)s" % {"a":1})
print("{:>8.3f}|{:d}|{0}".format(x,n) if False else "{:>8.3f}|{:d}".format(x,n), "{a:.1f} {b[0]} {0:{1}}".format(1,5,a=x,b=[7]), format(x,".3f"), "{:,.2f}".format(12345.678), "{!r}".format("a"))
print(f"{[1,2]} {{}} {'a' if n else 'b'} {x:+.1f} {-n:+d} {True} {None}", f"{n!s:>5}", "%5s|%-8.3f|%+d" % ("a", x, 3), "%.3f" % 2, "%i" % 3.7, f"{1e10} {100.0:g} {1e-10:.3g} {x:10}|{s:10}|")
