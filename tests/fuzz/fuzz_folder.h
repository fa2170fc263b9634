/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for what tirc reads from folders: made once, its files written for
 * each input. */
#ifndef TIRC_FUZZ_FOLDER_H
#define TIRC_FUZZ_FOLDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char fuzz_dir[64];

static inline void
fuzz_remove(void)
{
	char command[96];

	snprintf(command, sizeof command, "rm -rf %s", fuzz_dir);
	if (system(command) != 0) {
		fprintf(stderr, "%s is left\n", fuzz_dir);
	}
}

/* The folder, and one within it that is called "fuzz". In memory where there
 * is such a place: files are all that it does. */
static inline const char *
fuzz_folder(void)
{
	char path[96];

	if (fuzz_dir[0] == '\0') {
		snprintf(fuzz_dir, sizeof fuzz_dir, "%s/tirc-fuzz-XXXXXX",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		if (mkdtemp(fuzz_dir) == NULL) {
			abort();
		}
		atexit(fuzz_remove);
		snprintf(path, sizeof path, "%s/fuzz", fuzz_dir);
		if (mkdir(path, 0700) != 0) {
			abort();
		}
	}
	return fuzz_dir;
}

static inline void
fuzz_write(const char *name, const void *data, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
	file = fopen(path, "wb");
	if (file == NULL || fwrite(data, 1, size, file) != size ||
	    fclose(file) != 0) {
		abort();
	}
}

#endif
