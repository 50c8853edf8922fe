/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for libFuzzer where a fuzz target is built as a test: feeds it every file of its seed
 * corpus, each cut short at every length too, because truncation is what records meet in life.
 * Every input is a heap copy of its exact size, so that sanitizers see a read beyond it.
 */
#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define INPUT_MAX (1024 * 1024)
#define CUTS_MAX 4096 /* beyond this size only the whole input is tried */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(const void *data, size_t size)
{
        _cleanup_free_ uint8_t *copy = malloc(size > 0 ? size : 1);

        if (!copy)
                return -ENOMEM;
        if (size > 0)
                memcpy(copy, data, size);
        (void)LLVMFuzzerTestOneInput(copy, size);
        return 0;
}

static int replay_file(int dirfd, const char *name)
{
        _cleanup_free_ char *data = NULL;
        size_t size;
        int r = sg_read_file(dirfd, name, INPUT_MAX, &data, &size);

        if (r < 0)
                return r;
        for (size_t cut = size <= CUTS_MAX ? 0 : size; cut <= size; cut++) {
                r = feed(data, cut);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The number of files replayed. */
static int replay_corpus(const char *path)
{
        _cleanup_closedir_ DIR *dir = opendir(path);
        int n = 0;

        if (!dir)
                return -errno;
        for (const struct dirent *e; (e = readdir(dir));) {
                if (e->d_name[0] == '.')
                        continue;
                int r = replay_file(dirfd(dir), e->d_name);
                if (r < 0)
                        return r;
                n++;
        }
        return n;
}

int main(int argc, char **argv)
{
        const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
        const char *name = slash ? slash + 1 : "fuzz_";
        char path[256];
        int r;

        r = sg_path_join(path, sizeof(path), "tests/fuzz/corpus", name + strlen("fuzz_"));
        if (r >= 0)
                r = replay_corpus(path);
        printf("1..1\n%s 1 - %s: %d inputs of %s\n", r > 0 ? "ok" : "not ok", name, r, path);
        return r > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
