# SPDX-License-Identifier: Apache-2.0
"""No handler takes the limits of a program."""
while True:
    try:
        while True:
            pass
    except:
        pass
