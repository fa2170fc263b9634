/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace as a picture: to the right the calls of a run, upward the
 * addresses. A place is a rectangle with the colour of the kernel that writes
 * it. */
#include "picture.h"

/* In units of the picture, which is scaled to the page. */
enum {
	PLOT_LEFT = 90,
	PLOT_TOP = 10,
	PLOT_WIDTH = 900,
	PLOT_HEIGHT = 440,
	PICTURE_WIDTH = 1000,
	PICTURE_HEIGHT = 490,
	LETTER_WIDTH = 8,
	LETTER_HEIGHT = 16,
	MOST_MARKS = 12, /* the largest number of labels below the plot */
};

const char *
kernel_colour(struct arena *a, int i)
{
	/* the hue turns by the golden angle; in sixths of the circle, one of
	 * red, green and blue rises or falls */
	const int low = 150, high = 245;
	int hue = (int)((int64_t)i * 137 % 360), part = hue % 60;
	int up = low + (high - low) * part / 60, down = high + low - up;
	const int rgb[6][3] = {
		{ high, up, low },   { down, high, low }, { low, high, up },
		{ low, down, high }, { up, low, high },   { high, low, down },
	};
	const int *c = rgb[hue / 60];

	return arena_printf(a, "#%02x%02x%02x", c[0], c[1], c[2]);
}

/* v, a number from 0 to `whole`, scaled to the range from 0 to `length` and rounded to
 * tenths: pixels need no more. */
static double
part_of(int64_t v, int64_t whole, int length)
{
	double units = whole > 0 ? (double)v / (double)whole * length : 0;

	return (double)(int64_t)(units * 10 + 0.5) / 10;
}

static int
writer_number(const struct reporting *r, const struct placement *at)
{
	const struct kernel *k = at->tensor != NULL
					 ? package_writer(r->request->package,
							  at->tensor)
					 : at->scratch_of;

	for (int i = 0; i < r->p->kernels.n; i++) {
		if (r->p->kernels.data[i] == k) {
			return i;
		}
	}
	return 0;
}

static void
put_place(struct reporting *r, const struct placement *at, int number,
	  struct strbuf *s)
{
	const char *name = package_pointer(at);
	int64_t all = r->p->plan.workspace_bytes;
	int n = r->p->kernels.n, from = at->first < 0 ? 0 : at->first;
	double x = PLOT_LEFT + part_of(from, n, PLOT_WIDTH);
	double w = part_of(at->last - from + 1, n, PLOT_WIDTH);
	double h = part_of(at->bytes, all, PLOT_HEIGHT);
	double y = PLOT_TOP + PLOT_HEIGHT -
		   part_of(at->offset_bytes, all, PLOT_HEIGHT) - h;

	strbuf_printf(
		s,
		"<a href=\"#place-%d\"><rect x=\"%.1f\" y=\"%.1f\" "
		"width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
		"stroke=\"#333\"><title>%s: bytes %lld to %lld, calls %d to "
		"%d</title></rect>",
		number, x, y, w, h, kernel_colour(r->a, writer_number(r, at)),
		name, (long long)at->offset_bytes,
		(long long)(at->offset_bytes + at->bytes - 1), from, at->last);
	if (h >= LETTER_HEIGHT &&
	    w >= (double)(strlen(name) + 1) * LETTER_WIDTH) {
		strbuf_printf(s,
			      "<text x=\"%.1f\" y=\"%.1f\" "
			      "text-anchor=\"middle\">%s</text>",
			      x + w / 2, y + h / 2 + 5, name);
	}
	strbuf_puts(s, "</a>\n");
}

static void
put_axes(struct reporting *r, struct strbuf *s)
{
	int n = r->p->kernels.n, step = (n + MOST_MARKS - 1) / MOST_MARKS;
	const int bottom = PLOT_TOP + PLOT_HEIGHT;

	strbuf_printf(s,
		      "<path d=\"M%d %dV%dH%d\" fill=\"none\" "
		      "stroke=\"#333\"/>\n",
		      PLOT_LEFT, PLOT_TOP, bottom, PLOT_LEFT + PLOT_WIDTH);
	strbuf_printf(s,
		      "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n",
		      PLOT_LEFT - 5, bottom);
	strbuf_printf(s,
		      "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%lld</text>"
		      "\n",
		      PLOT_LEFT - 5, PLOT_TOP + 10,
		      (long long)r->p->plan.workspace_bytes);
	for (int i = 0; i < n; i += step) {
		strbuf_printf(s,
			      "<text x=\"%.1f\" y=\"%d\" "
			      "text-anchor=\"middle\">%d</text>\n",
			      PLOT_LEFT + part_of(2 * (int64_t)i + 1,
						  2 * (int64_t)n, PLOT_WIDTH),
			      bottom + LETTER_HEIGHT, i);
	}
	strbuf_printf(s, "<text x=\"%d\" y=\"%d\">call</text>\n", PLOT_LEFT,
		      bottom + 2 * LETTER_HEIGHT);
}

void
add_memory_picture(struct reporting *r)
{
	const struct memory_plan *plan = &r->p->plan;
	struct strbuf s;

	tdata_text(r->data, "memory_picture", NULL);
	if (plan->named.n == 0 || plan->workspace_bytes == 0 ||
	    r->request->form != REPORT_HTML) {
		return;
	}
	strbuf_init(&s);
	strbuf_printf(&s,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		      "aria-label=\"places in the workspace, by calls and "
		      "addresses\" viewBox=\"0 0 %d %d\" font-size=\"13\" "
		      "font-family=\"sans-serif\">\n",
		      PICTURE_WIDTH, PICTURE_HEIGHT);
	for (int i = 0; i < plan->named.n; i++) {
		put_place(r, &plan->places.data[plan->named.data[i]], i, &s);
	}
	put_axes(r, &s);
	strbuf_puts(&s, "</svg>");
	tdata_text(r->data, "memory_picture", arena_strdup(r->a, s.data));
	strbuf_release(&s);
}
