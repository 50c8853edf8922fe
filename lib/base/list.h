/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Embedded circular doubly linked list: a head and its nodes are the same struct. */

#include <stdbool.h>
#include <stddef.h>

struct sg_list {
        struct sg_list *prev, *next;
};

#define SG_LIST_INIT(name)                                                                         \
        {                                                                                          \
                &(name), &(name)                                                                   \
        }

static inline void sg_list_init(struct sg_list *l)
{
        l->prev = l->next = l;
}

static inline bool sg_list_empty(const struct sg_list *l)
{
        return l->next == l;
}

/* Inserts node before pos: with pos = the head that is the tail of the list. */
static inline void sg_list_insert_before(struct sg_list *pos, struct sg_list *node)
{
        node->prev = pos->prev;
        node->next = pos;
        pos->prev->next = node;
        pos->prev = node;
}

static inline void sg_list_append(struct sg_list *head, struct sg_list *node)
{
        sg_list_insert_before(head, node);
}

/* Unlinks node and leaves it pointing at itself, so that unlinking twice is harmless. */
static inline void sg_list_remove(struct sg_list *node)
{
        node->prev->next = node->next;
        node->next->prev = node->prev;
        sg_list_init(node);
}

#define sg_list_entry(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))

#define sg_list_foreach(it, head, member)                                                          \
        for (it = sg_list_entry((head)->next, __typeof__(*it), member); &it->member != (head);     \
             it = sg_list_entry(it->member.next, __typeof__(*it), member))

/* As above; `it` may be unlinked or freed in the body, `tmp` is a second cursor. */
#define sg_list_foreach_safe(it, tmp, head, member)                                                \
        for (it = sg_list_entry((head)->next, __typeof__(*it), member),                            \
            tmp = sg_list_entry(it->member.next, __typeof__(*it), member);                         \
             &it->member != (head);                                                                \
             it = tmp, tmp = sg_list_entry(tmp->member.next, __typeof__(*it), member))
