# SPDX-License-Identifier: Apache-2.0
# The Python that programs are read in; Python itself prints the same.
from math import ceil, log2, pi


def gcd(a, b=12, *rest, scale=1, **names):
    while b:
        a, b = b, a % b
    return a * scale + len(rest) + len(names)


def counter():
    seen = []

    def count(x):
        seen.append(x)
        return len(seen)

    return count


assert gcd(18) == 6, "gcd"
print(gcd(18, 12, 1, 2, scale=10, other=3), 7 // 2, -7 // 2, -7 % 3, 2**10, 7 / 2)
a, (b, *c), d = 1, [2, 3, 4], 5
print(a, b, c, d, [x * y for x in range(3) for y in range(4) if x != y])
print({k: v for k, v in zip("abc", range(3))}, (1,), [], {1, 2}, None, True)
table = {"x": 1}
table["y"] = 2
table.update({"z": [1, 2]})
table["z"] += [3]
print(table, sorted(table, reverse=True), "x" in table, sum(table.get("z", [])))
count = counter()
count("a")
print(f"{count('b')} calls, {gcd(4, 6)}" " and {more}")
total = 0
for i, (name, size) in enumerate([("a", 1), ("b", 2), ("c", 3)]):
    if size == 2:
        continue
    total += size * (i + 1)
    if total > 100:
        break
print(total, max(3, 1, 2), min([4, 2]), abs(-3), any([0, 1]), all([]), round(2.5), ceil(2.1))
print("a-b-c".split("-"), "-".join(map(str, range(4))), "Abc".lower(), "abc"[::-1], [1, 2, 3, 4][1:3])
print(isinstance(3, (int, float)), isinstance("a", int), 1 < 2 <= 2, not 1, 3 if total else 4)
print(0.1 + 0.2, 1e20, 1e-7, 100.0, 3 == 3.0, "a" < "b", [1, 2] < [1, 3], -(2**31))
print("{1} and {0} and {name}".format(1, 2, name="n"), list(reversed([1, 2])), float("2.5"), int("7"))
pair = [1, ["a"]]
print(pair is pair, pair is [1, ["a"]], pair == [1, ["a"]], pair in [[1, ["a"]]])
print({1: [2], 3: 4} == {3: 4, 1: [2]}, {1: 2} == {1: 3}, {1, 2} == {2, 1}, {1} == {2})
print([0, 1, 0].count(0), ("a", "b").index("b"), 1 is 1, "a" is not "b", None is None)
print(type(3), type("a"), [type(x) for x in (None, 1.5, True, (), [], {}, {1})])
print(type(3) == int, type(3) is int, type(3) == float, type(True) == int, type([]).__name__)
print("ab".ljust(4, ".") + "|" + "ab".rjust(5, "*") + "|" + "ab".center(5) + "|" + "abc".center(6, "-") + "|", "abc".ljust(2, "-"))

if __name__ == "__main__":
    print((lambda *args, **kw: (args, kw))(1, 2, k=3))
