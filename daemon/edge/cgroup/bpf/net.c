/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map and the two programs are found again through what is attached to the ancestor, and die
 * with it: nothing is pinned.
 *
 * Reference: fs/kernfs/mount.c (handles of groups are their ids).
 */

#include "edge/cgroup/bpf/net.h"
#include "base/cleanup.h"
#include "edge/cgroup/bpf/net-program.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* The name stands for the layout of the map, too: a map of another layout isn't taken over. */
#define MAP_NAME "schedgov_net1"
/* Only groups that have had a packet take room, some 100 bytes of the kernel's each. */
#define LINES_MAX 65536
#define LINES_AT_FIRST 256
/* Sockets that outlive their group are few, and finding their lines means looking at all lines. */
#define FORGOTTEN_PER_SWEEP 256

enum way { RX, TX, N_WAYS };
static const enum bpf_attach_type attach_types[N_WAYS] = {BPF_CGROUP_INET_INGRESS,
                                                          BPF_CGROUP_INET_EGRESS};
static const char *const program_names[N_WAYS] = {"schedgov_net_rx", "schedgov_net_tx"};
static const int16_t count_offsets[N_WAYS] = {offsetof(struct sg_net_count, rx_bytes),
                                              offsetof(struct sg_net_count, tx_bytes)};

/* As for name_to_handle_at(2), of a group. */
struct handle {
        struct file_handle head;
        uint64_t id;
};

struct sg_net_bpf {
        int base;
        struct handle base_handle;
        int32_t base_level;
        unsigned below;
        int map, programs[N_WAYS];
        unsigned n_forgotten;        /* since the last sweep */
        uint64_t *ids;               /* of what was read last, */
        struct sg_net_count *counts; /* and its values */
        size_t n_room;
};

/* --- the map */

static int map_new(void)
{
        union bpf_attr attr = {};

        attr.map_type = BPF_MAP_TYPE_HASH;
        attr.key_size = sizeof(uint64_t);
        attr.value_size = sizeof(struct sg_net_count);
        attr.max_entries = LINES_MAX;
        attr.map_flags = BPF_F_NO_PREALLOC;
        memcpy(attr.map_name, MAP_NAME, sizeof(MAP_NAME));
        return sg_bpf(BPF_MAP_CREATE, &attr);
}

/* -ENOENT: it is no map of ours. */
static int map_open(uint32_t id)
{
        _cleanup_close_ int fd = -1;
        struct bpf_map_info info = {};
        union bpf_attr attr = {};
        int r;

        attr.map_id = id;
        fd = sg_bpf(BPF_MAP_GET_FD_BY_ID, &attr);
        if (fd < 0)
                return fd;
        r = sg_bpf_info(fd, &info, sizeof(info));
        if (r < 0)
                return r;
        return strcmp(info.name, MAP_NAME) == 0 ? TAKE_FD(fd) : -ENOENT;
}

/* A map of a program of ours, which an earlier run has left. */
static int map_of_program(int program, const char *name)
{
        uint32_t maps[4] = {};
        struct bpf_prog_info info = {.nr_map_ids = SG_ELEMENTSOF(maps),
                                     .map_ids = (uint64_t)(uintptr_t)maps};
        int r, fd = -ENOENT;

        r = sg_bpf_program_info(program, &info);
        if (r < 0)
                return r;
        if (strcmp(info.name, name) != 0)
                return -ENOENT;
        for (size_t i = 0; i < SG_ELEMENTSOF(maps) && i < info.nr_map_ids && fd == -ENOENT; i++)
                fd = map_open(maps[i]);
        return fd;
}

/* --- programs on the ancestor */

static int load(const struct sg_net_bpf *n, enum way way)
{
        const struct sg_net_program p = {
                .type = attach_types[way],
                .name = program_names[way],
                .base_id = n->base_handle.id,
                .base_level = n->base_level,
                .below = (int32_t)n->below,
                .map = n->map,
                .offset = count_offsets[way],
        };

        return sg_net_program_load(&p);
}

/* The id of ours that is attached already, 0 if there is none; and its map, if that is of use. */
static int find_attached(struct sg_net_bpf *n, enum way way, uint32_t *ret_id)
{
        uint32_t ids[SG_BPF_ATTACHED_MAX];
        size_t n_ids;
        int r;

        *ret_id = 0;
        r = sg_bpf_query(n->base, attach_types[way], ids, &n_ids);
        for (size_t i = 0; r >= 0 && i < n_ids; i++) {
                _cleanup_close_ int program = sg_bpf_program_open(ids[i]);
                struct bpf_prog_info info = {};

                if (program < 0)
                        return program;
                r = sg_bpf_program_info(program, &info);
                if (r < 0 || strcmp(info.name, program_names[way]) != 0)
                        continue;
                *ret_id = ids[i];
                if (n->map < 0)
                        n->map = map_of_program(program, program_names[way]);
        }
        return r;
}

/* Attaches the programs in place of those that are there: after an upgrade they may be others. */
static int attach(struct sg_net_bpf *n)
{
        uint32_t present[N_WAYS];
        int r;

        for (enum way w = 0; w < N_WAYS; w++) {
                r = find_attached(n, w, &present[w]);
                if (r < 0)
                        return r;
        }
        if (n->map < 0)
                n->map = map_new();
        if (n->map < 0)
                return n->map;
        for (enum way w = 0; w < N_WAYS; w++) {
                n->programs[w] = load(n, w);
                if (n->programs[w] < 0)
                        return n->programs[w];
        }
        for (enum way w = 0; w < N_WAYS; w++) {
                r = sg_bpf_attach(n->base, n->programs[w], attach_types[w], present[w]);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- groups */

static int handle_of(const char *group, struct handle *ret)
{
        struct handle h = {.head.handle_bytes = sizeof(h.id)};
        int mount;

        if (name_to_handle_at(AT_FDCWD, group, (struct file_handle *)&h, &mount, 0) < 0)
                return -errno;
        if (h.head.handle_bytes != sizeof(h.id))
                return -EOPNOTSUPP;
        *ret = h;
        return 0;
}

int sg_net_bpf_id(const char *group, uint64_t *ret)
{
        struct handle h = {};
        int r;

        r = handle_of(group, &h);
        if (r < 0)
                return r;
        *ret = h.id;
        return 0;
}

/* How many groups above this one are seen: the tree ends where it is mounted. */
static int visible_level(int base, int32_t *ret)
{
        _cleanup_close_ int dir = -1;
        struct stat above, here;
        struct statfs fs;
        int32_t level = 0;

        if (fstatfs(base, &fs) < 0 || fstat(base, &here) < 0)
                return -errno;
        if (fs.f_type != CGROUP2_SUPER_MAGIC)
                return -EINVAL;
        for (;; level++) {
                int up = openat(dir < 0 ? base : dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

                if (up < 0)
                        return -errno;
                (void)sg_close(dir);
                dir = up;
                if (fstat(dir, &above) < 0)
                        return -errno;
                if (above.st_dev != here.st_dev || above.st_ino == here.st_ino)
                        break;
                here.st_ino = above.st_ino;
        }
        *ret = level;
        return 0;
}

static int look_at_base(struct sg_net_bpf *n, const char *base)
{
        int r;

        n->base = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (n->base < 0)
                return -errno;
        r = visible_level(n->base, &n->base_level);
        return r < 0 ? r : handle_of(base, &n->base_handle);
}

/* --- opening */

static const char *explain(int r)
{
        switch (r) {
        case -EPERM:
        case -EACCES:
                return "the kernel refuses BPF programs on groups: that takes CAP_BPF, "
                       "CAP_NET_ADMIN and CAP_SYS_ADMIN";
        case -EINVAL:
        case -ENOSYS:
        case -EOPNOTSUPP:
                return "this kernel has no BPF programs on groups";
        }
        return strerror(-r);
}

static void sweep(struct sg_net_bpf *n);

int sg_net_bpf_open(struct sg_net_bpf **ret, const char *base, unsigned below, char **ret_why)
{
        struct sg_net_bpf *n = calloc(1, sizeof(*n));
        int r;

        if (!n)
                return -ENOMEM;
        n->base = n->map = n->programs[RX] = n->programs[TX] = -1;
        n->below = below;
        r = look_at_base(n, base);
        if (r >= 0)
                r = attach(n);
        if (r >= 0) {
                sweep(n);
                *ret = n;
                return 0;
        }
        sg_net_bpf_free(n);
        *ret = NULL;
        if (r == -ENOMEM)
                return r;
        if (ret_why && asprintf(ret_why, "%s: %s", base, explain(r)) < 0)
                *ret_why = NULL;
        return 1;
}

struct sg_net_bpf *sg_net_bpf_free(struct sg_net_bpf *n)
{
        if (!n)
                return NULL;
        (void)sg_close(n->base);
        (void)sg_close(n->map);
        for (enum way w = 0; w < N_WAYS; w++)
                (void)sg_close(n->programs[w]);
        free(n->ids);
        free(n->counts);
        free(n);
        return NULL;
}

/* --- reading */

int sg_net_bpf_read(struct sg_net_bpf *n, uint64_t id, struct sg_net_count *ret)
{
        struct sg_net_count count = {};
        union bpf_attr attr = {};
        int r;

        attr.map_fd = (uint32_t)n->map;
        attr.key = (uint64_t)(uintptr_t)&id;
        attr.value = (uint64_t)(uintptr_t)&count;
        r = sg_bpf(BPF_MAP_LOOKUP_ELEM, &attr);
        if (r < 0 && r != -ENOENT)
                return r;
        *ret = count;
        return 0;
}

static int make_room(struct sg_net_bpf *n)
{
        size_t room = n->n_room ? n->n_room * 2 : LINES_AT_FIRST;
        struct sg_net_count *counts;
        uint64_t *ids;

        ids = reallocarray(n->ids, room, sizeof(*ids));
        if (!ids)
                return -ENOMEM;
        n->ids = ids;
        counts = reallocarray(n->counts, room, sizeof(*counts));
        if (!counts)
                return -ENOMEM;
        n->counts = counts;
        n->n_room = room;
        return 0;
}

/* Reads lines from *at on, as many as there is room for. 1: those were the last. */
static int read_batch(struct sg_net_bpf *n, uint32_t *at, bool first, size_t *got)
{
        union bpf_attr attr = {};
        uint32_t next = 0;
        int r;

        attr.batch.map_fd = (uint32_t)n->map;
        attr.batch.in_batch = first ? 0 : (uint64_t)(uintptr_t)at;
        attr.batch.out_batch = (uint64_t)(uintptr_t)&next;
        attr.batch.keys = (uint64_t)(uintptr_t)(n->ids + *got);
        attr.batch.values = (uint64_t)(uintptr_t)(n->counts + *got);
        attr.batch.count = (uint32_t)(n->n_room - *got);
        r = sg_bpf(BPF_MAP_LOOKUP_BATCH, &attr);
        if (r < 0 && r != -ENOENT)
                return r;
        *got += attr.batch.count;
        *at = next;
        return r == -ENOENT;
}

int sg_net_bpf_read_all(struct sg_net_bpf *n, const uint64_t **ret_ids,
                        const struct sg_net_count **ret_counts, size_t *ret_n)
{
        bool first = true;
        size_t got = 0;
        uint32_t at = 0;
        int r = 0;

        while (r == 0) {
                /* -ENOSPC: for one of the map's buckets there was not room enough. */
                if (n->n_room == got)
                        r = make_room(n);
                if (r >= 0)
                        r = read_batch(n, &at, first, &got);
                if (r == -ENOSPC)
                        r = make_room(n);
                else
                        first = false;
        }
        if (r < 0)
                return r;
        *ret_ids = n->ids;
        *ret_counts = n->counts;
        *ret_n = got;
        return 0;
}

/* --- forgetting */

static void drop_line(struct sg_net_bpf *n, uint64_t id)
{
        union bpf_attr attr = {};

        attr.map_fd = (uint32_t)n->map;
        attr.key = (uint64_t)(uintptr_t)&id;
        (void)sg_bpf(BPF_MAP_DELETE_ELEM, &attr);
}

/* Without CAP_DAC_READ_SEARCH no group is known to be gone. */
static bool is_gone(const struct sg_net_bpf *n, uint64_t id)
{
        struct handle h = n->base_handle;
        _cleanup_close_ int fd = -1;

        h.id = id;
        fd = open_by_handle_at(n->base, (struct file_handle *)&h, O_PATH | O_CLOEXEC);
        return fd < 0 && errno == ESTALE;
}

static void sweep(struct sg_net_bpf *n)
{
        const struct sg_net_count *counts;
        const uint64_t *ids;
        size_t n_ids;

        n->n_forgotten = 0;
        if (sg_net_bpf_read_all(n, &ids, &counts, &n_ids) < 0)
                return;
        for (size_t i = 0; i < n_ids; i++)
                if (is_gone(n, ids[i]))
                        drop_line(n, ids[i]);
}

void sg_net_bpf_forget(struct sg_net_bpf *n, uint64_t id)
{
        drop_line(n, id);
        if (++n->n_forgotten >= FORGOTTEN_PER_SWEEP)
                sweep(n);
}
