# SPDX-License-Identifier: Apache-2.0
x = [0] * 10**9
