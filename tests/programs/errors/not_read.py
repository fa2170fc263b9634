# SPDX-License-Identifier: Apache-2.0
class Point:
    x = 1
