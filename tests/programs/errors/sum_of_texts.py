# SPDX-License-Identifier: Apache-2.0
# Each sum is a text of its own, whose bytes count.
sum([""] * 1000000, "x" * 1000000)
