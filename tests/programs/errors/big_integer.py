# SPDX-License-Identifier: Apache-2.0
x = 2**62 * 4
