/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References: bpf(2), linux/bpf.h. */

#include "edge/cgroup/bpf/bpf.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

int sg_bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
        long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

        return r < 0 ? -errno : (int)r;
}

int sg_bpf_load(enum bpf_prog_type type, enum bpf_attach_type attach_type, const char *name,
                const struct sg_bpf_code *code)
{
        union bpf_attr attr = {};

        attr.prog_type = type;
        attr.expected_attach_type = attach_type;
        attr.insns = (uint64_t)(uintptr_t)code->insns;
        attr.insn_cnt = (uint32_t)code->n;
        attr.license = (uint64_t)(uintptr_t) "LGPL-2.1-or-later";
        strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
        return sg_bpf(BPF_PROG_LOAD, &attr);
}

int sg_bpf_query(int group, enum bpf_attach_type type, uint32_t ids[SG_BPF_ATTACHED_MAX],
                 size_t *ret_n)
{
        union bpf_attr attr = {};
        int r;

        attr.query.target_fd = (uint32_t)group;
        attr.query.attach_type = type;
        attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
        attr.query.prog_cnt = SG_BPF_ATTACHED_MAX;
        r = sg_bpf(BPF_PROG_QUERY, &attr);
        if (r < 0)
                return r;
        *ret_n = attr.query.prog_cnt;
        return 0;
}

int sg_bpf_program_open(uint32_t id)
{
        union bpf_attr attr = {.prog_id = id};

        return sg_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
}

int sg_bpf_info(int fd, void *info, uint32_t size)
{
        union bpf_attr attr = {};

        attr.info.bpf_fd = (uint32_t)fd;
        attr.info.info = (uint64_t)(uintptr_t)info;
        attr.info.info_len = size;
        return sg_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

int sg_bpf_attach(int group, int program, enum bpf_attach_type type, uint32_t replace_id)
{
        _cleanup_close_ int old = -1;
        union bpf_attr attr = {};

        if (replace_id) {
                old = sg_bpf_program_open(replace_id);
                if (old < 0)
                        return old;
                attr.replace_bpf_fd = (uint32_t)old;
        }
        attr.target_fd = (uint32_t)group;
        attr.attach_bpf_fd = (uint32_t)program;
        attr.attach_type = type;
        attr.attach_flags = BPF_F_ALLOW_MULTI | (replace_id ? BPF_F_REPLACE : 0);
        return sg_bpf(BPF_PROG_ATTACH, &attr);
}

int sg_bpf_detach(int group, int program, enum bpf_attach_type type)
{
        union bpf_attr attr = {};

        attr.target_fd = (uint32_t)group;
        attr.attach_bpf_fd = (uint32_t)program;
        attr.attach_type = type;
        return sg_bpf(BPF_PROG_DETACH, &attr);
}
