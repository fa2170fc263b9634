/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this tirc. */
#ifndef TIRC_VERSION_H
#define TIRC_VERSION_H

/* "major.minor.patch", as declared once in the top-level meson.build. */
const char *version_text(void);

#endif
