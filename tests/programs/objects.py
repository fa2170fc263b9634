# SPDX-License-Identifier: Apache-2.0
# Classes, exceptions, generators; Python itself prints the same.
class Shape:
    """A class without bases."""

    count = 0

    def __init__(self, name, sides=0):
        self.name = name
        self.sides = sides
        Shape.count += 1

    def area(self):
        raise NotImplementedError("area of " + self.name)

    def __str__(self):
        return f"{self.name}({self.sides})"

    def __repr__(self):
        return "Shape"

    @property
    def title(self):
        return self.name.upper()

    @staticmethod
    def unit():
        return Square(1)

    @classmethod
    def named(cls, name):
        return cls(name)


class Square(Shape):
    def __init__(self, side):
        super().__init__("square", sides=4)
        self.side = side

    def area(self):
        return self.side**2

    def __add__(self, other):
        return Square(self.side + other.side)

    def __eq__(self, other):
        return self.side == other.side

    def __lt__(self, other):
        return self.side < other.side

    def __len__(self):
        return self.side

    def __getitem__(self, i):
        return self.side * i

    def __iter__(self):
        for i in range(self.side):
            yield i

    def __call__(self, x, *, scale=1):
        return x * self.side * scale


s = Square(3)
print(s, s.title, s.area(), Shape.count, s + Square(2), s == Square(3), s < Square(4), len(s), s[5])
print([x for x in s], s(2), s(2, scale=10), isinstance(s, Shape), isinstance(Shape("x"), Square), type(s).__name__)
print(Shape.unit(), Shape.named("line"), f"{s!s:>12}|{s!r}", callable(s), hasattr(s, "side"), getattr(s, "missing", 5))
setattr(s, "color", "red")
print(s.color, [Shape("a")], bool(Shape("b")))


class Failure(ValueError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


def attempt(f):
    try:
        return f()
    except ZeroDivisionError as e:
        return "zero"
    except (KeyError, IndexError) as e:
        return "lookup " + type(e).__name__
    except Failure as e:
        return f"failure {e.code}: {e}"
    except NotImplementedError as e:
        return str(e)
    except AssertionError as e:
        return f"assertion {e}"
    else:
        return "none"
    finally:
        done.append(f.__name__ if False else 1)


done = []


def fail(code):
    raise Failure(code)


def check(x):
    assert x > 3, "too small"
    return x


print(attempt(lambda: 1 // 0), attempt(lambda: {}["a"]), attempt(lambda: [][1]), attempt(lambda: fail(7)))
print(attempt(lambda: Shape("y").area()), attempt(lambda: check(2)), attempt(lambda: check(5)), len(done))
try:
    try:
        raise ValueError("inner", 2)
    except TypeError:
        print("not here")
    finally:
        print("finally")
except ValueError as e:
    print(e, e.args, repr(e))
try:
    import a_module_that_nobody_has
except ImportError:
    print("no module")
try:
    raise RuntimeError
except Exception as e:
    print(repr(e), str(e) == "")


class Timer:
    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, value, trace):
        print("exit", kind is None, value)
        return True


with Timer() as t:
    print("inside", isinstance(t, Timer))
with Timer():
    raise ValueError("swallowed")

total = 0


def count():
    global total
    n = 0

    def step():
        nonlocal n
        n += 1
        return n

    step()
    total += step()
    return n


print(count(), count(), total)


def numbers(n):
    for i in range(n):
        yield i * i
    yield from [100, 200]


g = numbers(3)
print(next(g), list(g), next(g, "end"), sum(numbers(4)), [x + 1 for x in numbers(2)])


def twice(f):
    def inner(*args, **kw):
        return f(*args, **kw) * 2

    return inner


@twice
def add(a, b=1):
    return a + b


d = {"a": 1, "b": 2}
del d["a"]
values = [1, 2, 3, 4]
del values[1], values[0]
print(add(2), add(2, b=5), d, values)
for kind in (int, str, list):
    print(isinstance(3, kind), end=" ")
print()
for text in ["NCHW4c", "", "abc", "A1", "12", "a b", "aaaa"]:
    print(text.find("c"), text.find("zz"), text.count("a"), text.count("aa"),
          text.isdigit(), text.isalpha(), text.isupper(), text.islower())
try:
    "abc".index("z")
except ValueError as error:
    print(error)
print("abcabc".index("ca"))
