/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* bpf(2), as far as programs on groups of a v2 tree need it; and putting these together by hand. */

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

struct sg_bpf_code {
        struct bpf_insn *insns; /* the caller's, and large enough */
        size_t n;
};

#define SG_BPF_INSN(c, dst, src, o, i)                                                             \
        ((struct bpf_insn){.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i)})

static inline void sg_bpf_emit(struct sg_bpf_code *p, struct bpf_insn insn)
{
        p->insns[p->n++] = insn;
}

/* The call itself: -errno. What it opens is CLOEXEC. */
int sg_bpf(enum bpf_cmd cmd, union bpf_attr *attr);

/* name: at most 15 characters. An fd. */
int sg_bpf_load(enum bpf_prog_type type, enum bpf_attach_type attach_type, const char *name,
                const struct sg_bpf_code *code);

/* What is attached to this very group: ids in the order in which they run. */
#define SG_BPF_ATTACHED_MAX 64 /* the kernel's own bound for one group */
int sg_bpf_query(int group, enum bpf_attach_type type, uint32_t ids[SG_BPF_ATTACHED_MAX],
                 size_t *ret_n);
int sg_bpf_program_open(uint32_t id); /* needs CAP_SYS_ADMIN */
/* info: zero, or with room for what has to be asked for. */
int sg_bpf_info(int fd, void *info, uint32_t size);
#define sg_bpf_program_info(fd, info) sg_bpf_info((fd), (info), sizeof(struct bpf_prog_info))

/* Beside programs of others (BPF_F_ALLOW_MULTI); replace_id: in the place of that one, 0 = none. */
int sg_bpf_attach(int group, int program, enum bpf_attach_type type, uint32_t replace_id);
int sg_bpf_detach(int group, int program, enum bpf_attach_type type);
