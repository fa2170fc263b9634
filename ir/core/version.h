/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this tirc. */
#ifndef VERSION_H
#define VERSION_H

/* "major.minor.patch", as declared once in the top-level meson.build. */
const char *version_text(void);

#endif
