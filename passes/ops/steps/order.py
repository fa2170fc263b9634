# SPDX-License-Identifier: Apache-2.0


def is_less(a, b):
    """NaN is the largest."""
    a = T.Cast(wide, a)
    b = T.Cast(wide, b)
    return not b <= a and not T.isnan(a) if has_nan else a < b
