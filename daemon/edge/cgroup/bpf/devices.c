/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program is a list of tests, one per rule, the first of which that fits decides; what fits
 * none is denied if the list is closed, and allowed if it is guarded. It is attached with
 * BPF_F_ALLOW_MULTI: without that flag a container engine inside of the job could not attach a
 * program of its own below, and programs above us keep their say in both cases.
 * References: linux/bpf.h (struct bpf_cgroup_dev_ctx).
 */

#include "edge/cgroup/bpf/devices.h"
#include "base/cleanup.h"
#include "edge/cgroup/bpf/bpf.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

const struct sg_device_rule sg_devices_standard[] = {
        {'c', 1, 3, "rwm"},    /* null */
        {'c', 1, 5, "rwm"},    /* zero */
        {'c', 1, 7, "rwm"},    /* full */
        {'c', 1, 8, "rwm"},    /* random */
        {'c', 1, 9, "rwm"},    /* urandom */
        {'c', 5, 0, "rwm"},    /* tty */
        {'c', 5, 2, "rwm"},    /* ptmx */
        {'c', 136, -1, "rwm"}, /* pts */
};
const size_t sg_devices_n_standard = SG_ELEMENTSOF(sg_devices_standard);

#define INSNS_PER_RULE 8
#define INSNS_FRAME 8
#define PROGRAM_NAME "schedgov_dev" /* at most 15 characters */

#define INSN SG_BPF_INSN

static int access_mask(const struct sg_device_rule *r)
{
        int mask = 0;

        for (size_t i = 0; i < sizeof(r->access) && r->access[i]; i++)
                mask |= r->access[i] == 'r'   ? BPF_DEVCG_ACC_READ
                        : r->access[i] == 'w' ? BPF_DEVCG_ACC_WRITE
                                              : BPF_DEVCG_ACC_MKNOD;
        return mask;
}

static void emit_answer(struct sg_bpf_code *p, bool allow)
{
        sg_bpf_emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, allow));
        sg_bpf_emit(p, INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

/* r2 type, r3 access, r4 major, r5 minor; r1 is scratch once the context has been read. An access
 * that is allowed in part isn't; what is denied is so whatever is wanted. */
static void emit_rule(struct sg_bpf_code *p, const struct sg_device_rule *r, bool allow)
{
        size_t jumps[3], n_jumps = 0;

        jumps[n_jumps++] = p->n;
        sg_bpf_emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, 2, 0, 0,
                            r->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR));
        if (r->major >= 0) {
                jumps[n_jumps++] = p->n;
                sg_bpf_emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 0, r->major));
        }
        if (r->minor >= 0) {
                jumps[n_jumps++] = p->n;
                sg_bpf_emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, 5, 0, 0, r->minor));
        }
        if (allow) {
                sg_bpf_emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 3, 0, 0));
                sg_bpf_emit(p, INSN(BPF_ALU64 | BPF_AND | BPF_K, 1, 0, 0, access_mask(r)));
                sg_bpf_emit(p, INSN(BPF_JMP | BPF_JNE | BPF_X, 1, 3, 2, 0));
        }
        emit_answer(p, allow);
        for (size_t i = 0; i < n_jumps; i++)
                p->insns[jumps[i]].off = (int16_t)(p->n - jumps[i] - 1);
}

static void emit_head(struct sg_bpf_code *p)
{
        sg_bpf_emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, 3, 1,
                            offsetof(struct bpf_cgroup_dev_ctx, access_type), 0));
        sg_bpf_emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, 4, 1,
                            offsetof(struct bpf_cgroup_dev_ctx, major), 0));
        sg_bpf_emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, 5, 1,
                            offsetof(struct bpf_cgroup_dev_ctx, minor), 0));
        sg_bpf_emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 3, 0, 0));
        sg_bpf_emit(p, INSN(BPF_ALU64 | BPF_AND | BPF_K, 2, 0, 0, 0xffff));
        sg_bpf_emit(p, INSN(BPF_ALU64 | BPF_RSH | BPF_K, 3, 0, 0, 16));
}

static void emit_list(struct sg_bpf_code *p, const struct sg_device_list *d)
{
        const struct sg_device_guard *g = d->guard;

        for (size_t i = 0; d->closed && i < sg_devices_n_standard; i++)
                emit_rule(p, &sg_devices_standard[i], true);
        for (size_t i = 0; i < d->n; i++)
                emit_rule(p, &d->rules[i], true);
        for (size_t i = 0; g && i < g->n_guarded; i++)
                emit_rule(p, &g->guarded[i], false);
        emit_answer(p, !d->closed);
}

static int load(const struct sg_device_list *d)
{
        size_t n_rules = sg_devices_n_standard + d->n + (d->guard ? d->guard->n_guarded : 0);
        _cleanup_free_ struct bpf_insn *insns = NULL;
        struct sg_bpf_code p = {};

        insns = calloc(n_rules * INSNS_PER_RULE + INSNS_FRAME, sizeof(*insns));
        if (!insns)
                return -ENOMEM;
        p.insns = insns;
        emit_head(&p);
        emit_list(&p, d);
        return sg_bpf_load(BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE, PROGRAM_NAME, &p);
}

int sg_devices_bpf_supported(void)
{
        const struct sg_device_list closed = {.closed = true};
        _cleanup_close_ int fd = load(&closed);

        return fd >= 0;
}

/* The id of the last program attached to this very group, 0 if there is none. */
static int query(int group, uint32_t *ret_id)
{
        uint32_t ids[SG_BPF_ATTACHED_MAX];
        size_t n;
        int r;

        r = sg_bpf_query(group, BPF_CGROUP_DEVICE, ids, &n);
        if (r < 0)
                return r;
        *ret_id = n > 0 ? ids[n - 1] : 0;
        return 0;
}

int sg_devices_bpf_attach(const char *group, const struct sg_device_list *d)
{
        _cleanup_close_ int dir = -1, program = -1;
        struct bpf_prog_info wanted = {};
        uint32_t present = 0;
        int r;

        dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        program = load(d);
        if (program < 0)
                return program;
        r = query(dir, &present);
        if (r < 0)
                return r;
        r = sg_bpf_attach(dir, program, BPF_CGROUP_DEVICE, present);
        if (r < 0)
                return r;
        r = sg_bpf_program_info(program, &wanted);
        if (r < 0)
                return r;
        r = query(dir, &present);
        if (r < 0)
                return r;
        return present == wanted.id ? 0 : -EIO;
}

int sg_devices_bpf_detach(const char *group)
{
        _cleanup_close_ int dir = -1, program = -1;
        struct bpf_prog_info info = {};
        uint32_t present = 0;
        int r;

        dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        r = query(dir, &present);
        if (r < 0 || present == 0)
                return r;
        program = sg_bpf_program_open(present);
        if (program < 0)
                return program;
        r = sg_bpf_program_info(program, &info);
        if (r < 0 || strcmp(info.name, PROGRAM_NAME) != 0)
                return r;
        return sg_bpf_detach(dir, program, BPF_CGROUP_DEVICE);
}
