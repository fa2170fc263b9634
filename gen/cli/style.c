/* SPDX-License-Identifier: Apache-2.0 */
/* Output on a terminal: colours, units, tables and progress. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "text.h"

/* May output to f be coloured? Only on a terminal, and not if NO_COLOR is set. */
static bool
style_colour(FILE *f)
{
	return isatty(fileno(f)) && getenv("NO_COLOR") == NULL;
}

static void
put(FILE *f, const char *control)
{
	if (style_colour(f)) {
		fputs(control, f);
	}
}

static void
start(FILE *f, enum style style)
{
	put(f, style == STYLE_RED     ? "\033[31m"
	       : style == STYLE_GREEN ? "\033[32m"
				      : "\033[1m");
}

static void
end(FILE *f)
{
	put(f, "\033[0m");
}

void
style_word(FILE *f, enum style style, const char *word)
{
	start(f, style);
	say(f, "%s", word);
	end(f);
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

/* The number of columns that a text takes on the screen. Continuation bytes of
 * UTF-8 take no column. */
static int
width_of(const char *text)
{
	struct strbuf shown;
	int n = 0;

	strbuf_init(&shown);
	text_put_visible(&shown, text, strlen(text), "");
	for (size_t i = 0; i < shown.len; i++) {
		n += ((unsigned char)shown.data[i] & 0xc0) != 0x80;
	}
	strbuf_release(&shown);
	return n;
}

static void
put_cell(FILE *f, const char *text, int width, bool right, bool last)
{
	int fill = width - width_of(text);

	say(f, "%*s%s%*s%s", right && fill > 0 ? fill : 0, "", text,
	    !right && !last && fill > 0 ? fill : 0, "", last ? "" : "  ");
	if (last) {
		say(f, "\n");
	}
}

static void
message(enum style style, const char *kind, const char *fmt, va_list ap)
{
	fflush(stdout); /* keeps the order of lines on stdout and stderr */
	style_word(stderr, style, kind);
	say(stderr, " ");
	say_args(stderr, fmt, ap);
	say(stderr, "\n");
}

bool
cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(STYLE_RED, "error:", fmt, ap);
	va_end(ap);
	return false;
}

void
cli_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(STYLE_BOLD, "note:", fmt, ap);
	va_end(ap);
}

void
style_table(FILE *f, int columns, const char *const *header, const bool *right,
	    int rows, const char *const *cells)
{
	/* No column is wider than this; a longer cell shifts only the rest of
	 * its own row. */
	const int widest = 60;
	int width[32] = { 0 };

	for (int c = 0; c < columns; c++) {
		width[c] = width_of(header[c]);
		for (int r = 0; r < rows; r++) {
			int w = width_of(cells[r * columns + c]);

			w = w < widest ? w : widest;
			width[c] = w > width[c] ? w : width[c];
		}
	}
	start(f, STYLE_BOLD);
	for (int c = 0; c < columns; c++) {
		put_cell(f, header[c], width[c], right[c], c == columns - 1);
	}
	end(f);
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
		fputs("\r\033[K", stderr);
		say(stderr, "%d/%d %s", done, total, step);
		fflush(stderr);
	}
}

void
style_step(const char *step)
{
	if (isatty(fileno(stderr))) {
		fputs("\r\033[K", stderr);
		say(stderr, "%s", step);
		fflush(stderr);
	}
}

void
style_progress_end(void)
{
	if (isatty(fileno(stderr))) {
		fputs("\r\033[K", stderr);
	}
}

int
style_repaint(int columns, const char *const *header, const bool *right,
	      int rows, const char *const *cells, int painted)
{
	struct winsize size = { 0 };
	int most = ioctl(fileno(stderr), TIOCGWINSZ, &size) == 0 &&
				   size.ws_row > 3
			   ? size.ws_row - 3
			   : 20;
	char up[32];

	rows = rows < most ? rows : most;
	if (painted > 0) {
		snprintf(up, sizeof up, "\033[%dA", painted);
		fputs(up, stderr);
	}
	/* Wrapping is switched off, so that the terminal cuts long lines: the
	 * next call of this function must know how many lines there are. */
	fputs("\r\033[J\033[?7l", stderr);
	if (rows > 0) {
		style_table(stderr, columns, header, right, rows, cells);
	}
	fputs("\033[?7h", stderr);
	fflush(stderr);
	return rows > 0 ? rows + 1 : 0;
}

void
cli_print_winograd(const char *label, struct tirc_summary s)
{
	char with[32], without[32], tiles[32];

	if (s.winograd_convolutions == 0) {
		return;
	}
	say(stdout,
	    "%s%d convolution%s by tiles: weights %s instead of %s, up to %s "
	    "of workspace for tiles; --conv direct saves both\n",
	    label, s.winograd_convolutions,
	    s.winograd_convolutions > 1 ? "s" : "",
	    style_bytes(with, s.winograd_weights_bytes),
	    style_bytes(without, s.winograd_direct_bytes),
	    style_bytes(tiles, s.winograd_tiles_bytes));
}
