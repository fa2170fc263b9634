/* SPDX-License-Identifier: Apache-2.0 */
/* Output on a terminal: colours, units, tables, progress. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Is f a terminal, with NO_COLOR unset? */
static bool
style_colour(FILE *f)
{
	return isatty(fileno(f)) && getenv("NO_COLOR") == NULL;
}

const char *
style_bold(FILE *f)
{
	return style_colour(f) ? "\033[1m" : "";
}

const char *
style_red(FILE *f)
{
	return style_colour(f) ? "\033[31m" : "";
}

const char *
style_green(FILE *f)
{
	return style_colour(f) ? "\033[32m" : "";
}

const char *
style_reset(FILE *f)
{
	return style_colour(f) ? "\033[0m" : "";
}

const char *
style_bytes(char *buf, int64_t bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	double v = (double)bytes;
	int u = -1;

	if (bytes < 1000) {
		snprintf(buf, 32, "%lld bytes", (long long)bytes);
		return buf;
	}
	while (v >= 1000 && u < 3) {
		v /= 1000;
		u++;
	}
	snprintf(buf, 32,
		 v < 10    ? "%.2f %s"
		 : v < 100 ? "%.1f %s"
			   : "%.0f %s",
		 v, units[u]);
	return buf;
}

const char *
style_count(char *buf, double count)
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	int u = 0;

	while (count >= 1000 && u < 4) {
		count /= 1000;
		u++;
	}
	snprintf(buf, 32, u == 0 ? "%.0f%s" : "%.1f%s", count, units[u]);
	return buf;
}

/* Columns on the screen: UTF-8 continuation bytes take none. */
static int
width_of(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++) {
		n += ((unsigned char)*text & 0xc0) != 0x80;
	}
	return n;
}

static void
put_cell(FILE *f, const char *text, int width, bool right, bool last)
{
	int fill = width - width_of(text);

	for (int i = 0; right && i < fill; i++) {
		fputc(' ', f);
	}
	fputs(text, f);
	for (int i = 0; !right && !last && i < fill; i++) {
		fputc(' ', f);
	}
	fputs(last ? "\n" : "  ", f);
}

bool
cli_error(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%serror:%s ", style_red(stderr), style_reset(stderr));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

void
style_table(FILE *f, int columns, const char *const *header, const bool *right,
	    int rows, const char *const *cells)
{
	int width[32] = { 0 };

	for (int c = 0; c < columns; c++) {
		width[c] = width_of(header[c]);
		for (int r = 0; r < rows; r++) {
			int w = width_of(cells[r * columns + c]);

			width[c] = w > width[c] ? w : width[c];
		}
	}
	fputs(style_bold(f), f);
	for (int c = 0; c < columns; c++) {
		put_cell(f, header[c], width[c], right[c], c == columns - 1);
	}
	fputs(style_reset(f), f);
	for (int r = 0; r < rows; r++) {
		for (int c = 0; c < columns; c++) {
			put_cell(f, cells[r * columns + c], width[c], right[c],
				 c == columns - 1);
		}
	}
}

void
style_progress(void *ctx, const char *step, int done, int total)
{
	(void)ctx;
	if (isatty(fileno(stderr))) {
		fprintf(stderr, "\r\033[K%d/%d %s", done, total, step);
		fflush(stderr);
	}
}

void
style_progress_end(void)
{
	if (isatty(fileno(stderr))) {
		fprintf(stderr, "\r\033[K");
	}
}
