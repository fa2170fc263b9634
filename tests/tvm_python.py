# SPDX-License-Identifier: Apache-2.0
"""The interpreter that has TVM, for tests that found none to import."""
import os
import sys


def start():
    """To be called while an ImportError is handled: executes the test by the
    interpreter that TIRC_TVM_PYTHON names, or skips it if none is named. If the
    named one cannot import either, the error is raised: it is no missing tool."""
    other = os.environ.get("TIRC_TVM_PYTHON")
    if not other:
        print("no TVM here: name an interpreter in TIRC_TVM_PYTHON")
        sys.exit(77)
    if "TIRC_TVM_STARTED" in os.environ:
        raise
    os.environ["TIRC_TVM_STARTED"] = "yes"
    os.execv(other, [other] + sys.argv)
