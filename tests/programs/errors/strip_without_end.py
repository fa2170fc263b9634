# SPDX-License-Identifier: Apache-2.0
# What reads a text and returns less of it counts the text's bytes.
a = " " * 1000000
for i in range(1000000):
    a.strip()
    a.replace(" ", "")
