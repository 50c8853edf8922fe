/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program looks for the ancestor's id among the groups above a packet's socket, and counts for
 * the group so many levels below it. It can't be told the ancestor's level, as who is in a cgroup
 * namespace doesn't see what is above: it begins at the level that is seen, which is right outside
 * of one, and goes on from there.
 *
 * References: bpf-helpers(7), kernel/bpf/cgroup.c (__cgroup_bpf_run_filter_skb: skb->len is that of
 * the IP packet).
 */

#include "edge/cgroup/bpf/net-program.h"
#include "base/cleanup.h"

/* Levels above us that are looked at in a cgroup namespace. */
#define HIDDEN_MAX 64

#define MOV(dst, src) SG_BPF_INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define SET(dst, value) SG_BPF_INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value)
#define ADD(dst, value) SG_BPF_INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value)
#define CALL(helper) SG_BPF_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define STORE(at, src) SG_BPF_INSN(BPF_STX | BPF_MEM | BPF_DW, 10, src, at, 0)
#define CLEAR(at) SG_BPF_INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, at, 0)
#define WIDE(dst, src, value)                                                                      \
        SG_BPF_INSN(BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, (int32_t)(uint32_t)(value)),           \
                SG_BPF_INSN(0, 0, 0, 0, (int32_t)(uint32_t)((uint64_t)(value) >> 32))
#define JUMP(op, dst, src, value, from, to)                                                        \
        SG_BPF_INSN(BPF_JMP | (op), dst, src, (to) - (from)-1, value)
#define EXIT SG_BPF_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* r6: the packet; r7: a level. On the stack: the id at −8, an empty count at −24. */
enum { NEXT = 2, FOUND = 12, COUNT = 40, OUT = 42 };
#define KEY (-8)
#define EMPTY (-24)

int sg_net_program_load(const struct sg_net_program *p)
{
        struct bpf_insn insns[] = {
                MOV(6, 1),
                SET(7, p->base_level),
                /* 2 NEXT: is the ancestor on this level? */
                MOV(1, 6),
                MOV(2, 7),
                CALL(BPF_FUNC_skb_ancestor_cgroup_id),
                JUMP(BPF_JEQ | BPF_K, 0, 0, 0, 5, OUT),
                WIDE(1, 0, p->base_id),
                JUMP(BPF_JEQ | BPF_X, 0, 1, 0, 8, FOUND),
                ADD(7, 1),
                JUMP(BPF_JLT | BPF_K, 7, 0, p->base_level + HIDDEN_MAX, 10, NEXT),
                JUMP(BPF_JA, 0, 0, 0, 11, OUT),
                /* 12 FOUND */
                ADD(7, p->below),
                MOV(1, 6),
                MOV(2, 7),
                CALL(BPF_FUNC_skb_ancestor_cgroup_id),
                JUMP(BPF_JEQ | BPF_K, 0, 0, 0, 16, OUT),
                STORE(KEY, 0),
                WIDE(1, BPF_PSEUDO_MAP_FD, p->map),
                MOV(2, 10),
                ADD(2, KEY),
                CALL(BPF_FUNC_map_lookup_elem),
                JUMP(BPF_JNE | BPF_K, 0, 0, 0, 23, COUNT),
                /* 24: its first packet */
                CLEAR(EMPTY),
                CLEAR(EMPTY + 8),
                WIDE(1, BPF_PSEUDO_MAP_FD, p->map),
                MOV(2, 10),
                ADD(2, KEY),
                MOV(3, 10),
                ADD(3, EMPTY),
                SET(4, BPF_NOEXIST),
                CALL(BPF_FUNC_map_update_elem),
                WIDE(1, BPF_PSEUDO_MAP_FD, p->map),
                MOV(2, 10),
                ADD(2, KEY),
                CALL(BPF_FUNC_map_lookup_elem),
                JUMP(BPF_JEQ | BPF_K, 0, 0, 0, 39, OUT),
                /* 40 COUNT */
                SG_BPF_INSN(BPF_LDX | BPF_MEM | BPF_W, 1, 6, offsetof(struct __sk_buff, len), 0),
                SG_BPF_INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, p->offset, BPF_ADD),
                /* 42 OUT: let it pass */
                SET(0, 1),
                EXIT,
        };
        struct sg_bpf_code code = {.insns = insns, .n = SG_ELEMENTSOF(insns)};

        return sg_bpf_load(BPF_PROG_TYPE_CGROUP_SKB, p->type, p->name, &code);
}
