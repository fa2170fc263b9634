/* SPDX-License-Identifier: MIT-0 */
/* Classifies the digits in a file with the C that tirc wrote for digits.onnx
 * and prints each with its prediction. This is all that a user of an emitted
 * model writes: memory, init, run, fini.
 *
 *	digits samples.txt
 *
 * Exit status 1 if fewer than nine in ten are right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

#define SIDE 8
#define PER_ROW 5
#define CLASSES 10

struct sample {
	float image[SIDE][SIDE]; /* 0 paper .. 1 ink */
	int label;
	int guess;
	float prob; /* of the guess */
};

/* Reads the next sample; 0 at the end of the file, -1 where it is damaged. */
static int
read_sample(FILE *file, struct sample *s)
{
	char line[128];

	do {
		if (!fgets(line, sizeof line, file)) {
			return 0;
		}
	} while (line[0] == '#' || line[0] == '\n');
	if (sscanf(line, "label %d", &s->label) != 1) {
		return -1;
	}
	for (int h = 0; h < SIDE; ++h) {
		for (int w = 0; w < SIDE; ++w) {
			int pixel;

			if (fscanf(file, "%d", &pixel) != 1) {
				return -1;
			}
			s->image[h][w] = (float)pixel / 16.0f;
		}
	}
	return fgets(line, sizeof line, file) ? 1 : -1;
}

static int
classify(struct digits *model, struct sample *s)
{
	float prob[CLASSES];
	const struct digits_inputs in = { .image = &s->image[0][0] };
	const struct digits_outputs out = { .prob = prob };

	if (digits_run(model, &in, &out) != DIGITS_OK) {
		return 0;
	}
	s->guess = 0;
	for (int i = 1; i < CLASSES; ++i) {
		if (prob[i] > prob[s->guess]) {
			s->guess = i;
		}
	}
	s->prob = prob[s->guess];
	return 1;
}

/* Prints up to PER_ROW samples side by side. */
static void
print_row(const struct sample *samples, int n)
{
	static const char shades[] = " .:+#@";

	for (int h = 0; h < SIDE; ++h) {
		for (int i = 0; i < n; ++i) {
			for (int w = 0; w < SIDE; ++w) {
				char c = shades[(int)(samples[i].image[h][w] *
						      5.0f)];
				printf("%c%c", c, c);
			}
			printf(i + 1 < n ? "   " : "\n");
		}
	}
	for (int i = 0; i < n; ++i) {
		char text[32];

		snprintf(text, sizeof text, "%d (%2.0f %%), is %d%s",
			 samples[i].guess, (double)samples[i].prob * 100.0,
			 samples[i].label,
			 samples[i].guess == samples[i].label ? "" : " !");
		printf("%-19s", text);
	}
	printf("\n\n");
}

int
main(int argc, char **argv)
{
	static _Alignas(DIGITS_WORKSPACE_ALIGN) unsigned char
		workspace[DIGITS_WORKSPACE_BYTES];
	struct digits model;
	struct sample row[PER_ROW];
	int n = 0, total = 0, right = 0, more;
	FILE *file;

	if (argc != 2) {
		fprintf(stderr, "usage: %s samples.txt\n", argv[0]);
		return 2;
	}
	const struct digits_config config = {
		.workspace = workspace,
		.workspace_bytes = sizeof workspace,
	};
	if (digits_init(&model, &config) != DIGITS_OK) {
		fprintf(stderr, "digits_init refused the configuration\n");
		return 1;
	}
	file = fopen(argv[1], "r");
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	while ((more = read_sample(file, &row[n])) > 0) {
		if (!classify(&model, &row[n])) {
			fprintf(stderr, "digits_run failed\n");
			break;
		}
		right += row[n].guess == row[n].label;
		++total;
		if (++n == PER_ROW) {
			print_row(row, n);
			n = 0;
		}
	}
	if (n > 0) {
		print_row(row, n);
	}
	fclose(file);
	digits_fini(&model);
	if (more < 0) {
		fprintf(stderr, "%s: damaged after %d samples\n", argv[1],
			total);
		return 1;
	}
	printf("%d of %d right (%.1f %%)\n", right, total,
	       total ? 100.0 * right / total : 0.0);
	return total == 0 || right * 10 < total * 9;
}
