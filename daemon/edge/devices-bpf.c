/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program is a list of tests, one per rule, that falls through to "deny". It is attached with
 * BPF_F_ALLOW_MULTI: without that flag a container engine inside of the job could not attach a
 * program of its own below, and programs above us keep their say in both cases.
 * References: bpf(2), linux/bpf.h (struct bpf_cgroup_dev_ctx).
 */

#include "edge/devices-bpf.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>

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

struct program {
        struct bpf_insn *insns;
        size_t n;
};

#define INSN(c, dst, src, o, i)                                                                    \
        ((struct bpf_insn){.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i)})

static void emit(struct program *p, struct bpf_insn insn)
{
        p->insns[p->n++] = insn;
}

static int access_mask(const struct sg_device_rule *r)
{
        int mask = 0;

        for (size_t i = 0; i < sizeof(r->access) && r->access[i]; i++)
                mask |= r->access[i] == 'r'   ? BPF_DEVCG_ACC_READ
                        : r->access[i] == 'w' ? BPF_DEVCG_ACC_WRITE
                                              : BPF_DEVCG_ACC_MKNOD;
        return mask;
}

/* r2 type, r3 access, r4 major, r5 minor; r1 is scratch once the context has been read. */
static void emit_rule(struct program *p, const struct sg_device_rule *r)
{
        size_t jumps[3], n_jumps = 0;

        jumps[n_jumps++] = p->n;
        emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, 2, 0, 0,
                     r->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR));
        if (r->major >= 0) {
                jumps[n_jumps++] = p->n;
                emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 0, r->major));
        }
        if (r->minor >= 0) {
                jumps[n_jumps++] = p->n;
                emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, 5, 0, 0, r->minor));
        }
        emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 3, 0, 0));
        emit(p, INSN(BPF_ALU64 | BPF_AND | BPF_K, 1, 0, 0, access_mask(r)));
        emit(p, INSN(BPF_JMP | BPF_JNE | BPF_X, 1, 3, 2, 0));
        emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1));
        emit(p, INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
        for (size_t i = 0; i < n_jumps; i++)
                p->insns[jumps[i]].off = (int16_t)(p->n - jumps[i] - 1);
}

static void emit_head(struct program *p)
{
        emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, 3, 1,
                     offsetof(struct bpf_cgroup_dev_ctx, access_type), 0));
        emit(p,
             INSN(BPF_LDX | BPF_MEM | BPF_W, 4, 1, offsetof(struct bpf_cgroup_dev_ctx, major), 0));
        emit(p,
             INSN(BPF_LDX | BPF_MEM | BPF_W, 5, 1, offsetof(struct bpf_cgroup_dev_ctx, minor), 0));
        emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 3, 0, 0));
        emit(p, INSN(BPF_ALU64 | BPF_AND | BPF_K, 2, 0, 0, 0xffff));
        emit(p, INSN(BPF_ALU64 | BPF_RSH | BPF_K, 3, 0, 0, 16));
}

static int sys_bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
        long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

        return r < 0 ? -errno : (int)r;
}

static int load(const struct sg_device_rule *rules, size_t n_rules)
{
        _cleanup_free_ struct bpf_insn *insns = NULL;
        struct program p = {};
        union bpf_attr attr = {};

        insns = calloc((n_rules + sg_devices_n_standard) * INSNS_PER_RULE + INSNS_FRAME,
                       sizeof(*insns));
        if (!insns)
                return -ENOMEM;
        p.insns = insns;
        emit_head(&p);
        for (size_t i = 0; i < sg_devices_n_standard; i++)
                emit_rule(&p, &sg_devices_standard[i]);
        for (size_t i = 0; i < n_rules; i++)
                emit_rule(&p, &rules[i]);
        emit(&p, INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0));
        emit(&p, INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));

        attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
        attr.expected_attach_type = BPF_CGROUP_DEVICE;
        attr.insns = (uint64_t)(uintptr_t)insns;
        attr.insn_cnt = (uint32_t)p.n;
        attr.license = (uint64_t)(uintptr_t) "LGPL-2.1-or-later";
        memcpy(attr.prog_name, PROGRAM_NAME, sizeof(PROGRAM_NAME));
        return sys_bpf(BPF_PROG_LOAD, &attr);
}

int sg_devices_bpf_supported(void)
{
        _cleanup_close_ int fd = load(NULL, 0);

        return fd >= 0;
}

/* The id of the last program attached to this very group, 0 if there is none. */
static int query(int group, uint32_t *ret_id)
{
        uint32_t ids[64] = {}; /* the kernel's own bound for one group */
        union bpf_attr attr = {};
        int r;

        attr.query.target_fd = (uint32_t)group;
        attr.query.attach_type = BPF_CGROUP_DEVICE;
        attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
        attr.query.prog_cnt = SG_ELEMENTSOF(ids);
        r = sys_bpf(BPF_PROG_QUERY, &attr);
        if (r < 0)
                return r;
        *ret_id = attr.query.prog_cnt ? ids[attr.query.prog_cnt - 1] : 0;
        return 0;
}

static int program_info(int program, struct bpf_prog_info *ret)
{
        union bpf_attr attr = {};

        *ret = (struct bpf_prog_info){};
        attr.info.bpf_fd = (uint32_t)program;
        attr.info.info = (uint64_t)(uintptr_t)ret;
        attr.info.info_len = sizeof(*ret);
        return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static int program_open(uint32_t id)
{
        union bpf_attr attr = {.prog_id = id};

        return sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
}

static int attach(int group, int program, uint32_t replace_id)
{
        _cleanup_close_ int old = -1;
        union bpf_attr attr = {};

        if (replace_id) {
                old = program_open(replace_id);
                if (old < 0)
                        return old;
                attr.replace_bpf_fd = (uint32_t)old;
        }
        attr.target_fd = (uint32_t)group;
        attr.attach_bpf_fd = (uint32_t)program;
        attr.attach_type = BPF_CGROUP_DEVICE;
        attr.attach_flags = BPF_F_ALLOW_MULTI | (replace_id ? BPF_F_REPLACE : 0);
        return sys_bpf(BPF_PROG_ATTACH, &attr);
}

int sg_devices_bpf_attach(const char *group, const struct sg_device_rule *rules, size_t n_rules)
{
        _cleanup_close_ int dir = -1, program = -1;
        struct bpf_prog_info wanted;
        uint32_t present = 0;
        int r;

        dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        program = load(rules, n_rules);
        if (program < 0)
                return program;
        r = query(dir, &present);
        if (r < 0)
                return r;
        r = attach(dir, program, present);
        if (r < 0)
                return r;
        r = program_info(program, &wanted);
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
        struct bpf_prog_info info;
        union bpf_attr attr = {};
        uint32_t present = 0;
        int r;

        dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        r = query(dir, &present);
        if (r < 0 || present == 0)
                return r;
        program = program_open(present);
        if (program < 0)
                return program;
        r = program_info(program, &info);
        if (r < 0 || strcmp(info.name, PROGRAM_NAME) != 0)
                return r;
        attr.target_fd = (uint32_t)dir;
        attr.attach_bpf_fd = (uint32_t)program;
        attr.attach_type = BPF_CGROUP_DEVICE;
        return sys_bpf(BPF_PROG_DETACH, &attr);
}
