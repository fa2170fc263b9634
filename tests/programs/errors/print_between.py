# SPDX-License-Identifier: Apache-2.0
# The texts between the values count, too.
print(*[""] * 1000000, sep="x" * 1000000)
