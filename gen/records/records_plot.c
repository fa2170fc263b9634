/* SPDX-License-Identifier: Apache-2.0 */
/* Draws records as SVG. Each kernel and target has a panel: points show the
 * measured times, and a line shows the best time so far, all relative to the
 * time of the rules' schedule. The drawing uses only black, grey and shapes, so
 * that it can be printed. */
#include "records_plot.h"

#include <math.h>
#include <string.h>

#include "quote.h"
#include "text.h"

enum {
	COLUMNS = 2,
	WIDTH = 400, /* the size of a panel */
	HEIGHT = 230,
	/* the margins around the axes of a panel, left, right, top and
	 * bottom */
	LEFT = 46,
	RIGHT = 14,
	TOP = 44,
	BOTTOM = 34,
	MOST_PANELS = 200,
	MOST_LABEL = 44
};

/* A measurement with a larger ratio is drawn at this ratio. */
#define MOST_TIME 1.5

struct panel {
	const struct record *first;
	VEC(const struct record *) trials;
	/* the least ratio of the panel's records; 1 if all are larger */
	double best;
};

struct plot {
	struct arena *arena;
	VEC(struct panel) panels;
	int left_out; /* the number of kernels that get no panel */
	struct strbuf *out;
};

/* Appends the text as the content of an element, cut to the width of a panel. */
static void
put_label(struct plot *p, const char *text)
{
	const struct quote *html = quote_find("html", strlen("html"));

	html->put(text_cut(p->arena, text, MOST_LABEL, MOST_LABEL), p->out);
}

static struct panel *
panel_of(struct plot *p, const struct record *r)
{
	struct panel one = { .first = r, .best = 1 };

	for (int i = 0; i < p->panels.n; i++) {
		struct panel *x = &p->panels.data[i];

		if (strcmp(x->first->workload, r->workload) == 0 &&
		    strcmp(x->first->facts, r->facts) == 0) {
			return x;
		}
	}
	if (p->panels.n >= MOST_PANELS) {
		p->left_out++;
		return NULL;
	}
	vec_push(p->arena, &p->panels, one);
	return &p->panels.data[p->panels.n - 1];
}

/* -- one panel -- */

static double
x_of(const struct panel *x, double trial)
{
	int n = x->trials.n > 1 ? x->trials.n : 2;

	return LEFT + (trial - 1) / (n - 1) * (WIDTH - LEFT - RIGHT);
}

/* The least ratio on the axis: about a tenth below the best ratio. */
static double
least_of(const struct panel *x)
{
	double least = floor(x->best * 10 - 0.5) / 10;

	return least > 0 ? least : 0;
}

static double
y_of(const struct panel *x, double ratio)
{
	double least = least_of(x);
	double at = ratio > MOST_TIME ? MOST_TIME : ratio;

	return TOP +
	       (MOST_TIME - at) / (MOST_TIME - least) * (HEIGHT - TOP - BOTTOM);
}

static void
put_axes(struct plot *p, const struct panel *x)
{
	double least = least_of(x);
	double step = MOST_TIME - least > 0.8 ? 0.5 : 0.1;

	for (double at = MOST_TIME; at > least - 0.01; at -= step) {
		strbuf_printf(p->out,
			      "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
			      "y2=\"%.1f\" class=\"%s\"/>\n"
			      "<text x=\"%d\" y=\"%.1f\" class=\"end\">"
			      "%.1f</text>\n",
			      LEFT, WIDTH - RIGHT, y_of(x, at), y_of(x, at),
			      fabs(at - 1) < 0.01 ? "rules" : "grid", LEFT - 5,
			      y_of(x, at) + 4, at);
	}
	strbuf_printf(p->out,
		      "<text x=\"%d\" y=\"%d\">1</text>\n"
		      "<text x=\"%d\" y=\"%d\" class=\"end\">%d</text>\n"
		      "<text x=\"%d\" y=\"%d\" class=\"middle\">trial</text>\n",
		      LEFT, HEIGHT - BOTTOM + 16, WIDTH - RIGHT,
		      HEIGHT - BOTTOM + 16, x->trials.n, WIDTH / 2,
		      HEIGHT - BOTTOM + 16);
}

static void
put_points(struct plot *p, const struct panel *x)
{
	for (int i = 0; i < x->trials.n; i++) {
		const struct record *r = x->trials.data[i];
		double at = x_of(x, i + 1);

		if (r->error != NULL) {
			strbuf_printf(p->out,
				      "<path d=\"M%.1f %d l6 6 m0 -6 l-6 6\" "
				      "class=\"failed\"/>\n",
				      at - 3, TOP - 9);
		} else {
			strbuf_printf(p->out,
				      "<circle cx=\"%.1f\" cy=\"%.1f\" "
				      "r=\"2.2\"/>\n",
				      at, y_of(x, record_ratio(r)));
		}
	}
}

static void
put_best(struct plot *p, const struct panel *x)
{
	double best = 1;

	strbuf_printf(p->out, "<path class=\"best\" d=\"M%.1f %.1f", x_of(x, 1),
		      y_of(x, best));
	for (int i = 0; i < x->trials.n; i++) {
		const struct record *r = x->trials.data[i];

		strbuf_printf(p->out, " H%.1f", x_of(x, i + 1));
		if (r->error == NULL && record_ratio(r) < best) {
			best = record_ratio(r);
			strbuf_printf(p->out, " V%.1f", y_of(x, best));
		}
	}
	strbuf_puts(p->out, "\"/>\n");
}

static void
put_panel(struct plot *p, const struct panel *x, int i)
{
	strbuf_printf(p->out, "<g transform=\"translate(%d %d)\">\n",
		      i % COLUMNS * WIDTH, i / COLUMNS * HEIGHT + 40);
	strbuf_printf(p->out, "<text x=\"%d\" y=\"%d\" class=\"name\">", LEFT,
		      TOP - 26);
	put_label(p, x->first->kernel);
	strbuf_printf(p->out, "</text>\n<text x=\"%d\" y=\"%d\">", LEFT,
		      TOP - 12);
	put_label(p, x->first->target);
	strbuf_printf(p->out,
		      ": best %.2f of the rules\xe2\x80\x99 time</text>\n",
		      x->best);
	put_axes(p, x);
	put_points(p, x);
	put_best(p, x);
	strbuf_puts(p->out, "</g>\n");
}

static void
collect(struct plot *p, const struct records *list)
{
	for (int i = 0; i < list->list.n; i++) {
		const struct record *r = &list->list.data[i];
		struct panel *x = panel_of(p, r);

		if (x == NULL) {
			continue;
		}
		vec_push(p->arena, &x->trials, r);
		if (r->error == NULL && record_ratio(r) < x->best) {
			x->best = record_ratio(r);
		}
	}
}

bool
records_plot(struct arena *a, const struct records *list, struct strbuf *out)
{
	struct plot p = { .arena = a, .out = out };
	int rows, height;

	collect(&p, list);
	if (p.panels.n == 0) {
		return false;
	}
	rows = (p.panels.n + COLUMNS - 1) / COLUMNS;
	height = rows * HEIGHT + 60;
	strbuf_printf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
		"role=\"img\">\n"
		"<title>Best time over the trials of tirc tune</title>\n"
		"<style>text { font: 11px sans-serif } "
		".name { font-weight: bold } .end { text-anchor: end } "
		".middle { text-anchor: middle } "
		".grid { stroke: #bbb; stroke-width: 0.5 } "
		".rules { stroke: #000; stroke-dasharray: 5 3 } "
		"circle { fill: #777 } "
		".failed, .best { fill: none; stroke: #000 } "
		".best { stroke-width: 1.8 }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"24\">Time relative to the rules\xe2\x80\x99 "
		"schedule (dashed): each trial (points; crosses failed), "
		"the best so far (line).</text>\n",
		COLUMNS * WIDTH, height, COLUMNS * WIDTH, height, LEFT);
	for (int i = 0; i < p.panels.n; i++) {
		put_panel(&p, &p.panels.data[i], i);
	}
	if (p.left_out > 0) {
		strbuf_printf(out,
			      "<text x=\"%d\" y=\"%d\">%d records of more "
			      "kernels are not drawn.</text>\n",
			      LEFT, height - 8, p.left_out);
	}
	strbuf_puts(out, "</svg>\n");
	return true;
}
