/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Network bytes of the cgroupfs backend's scopes, wherever there is a v2 tree and the kernel lets
 * us count: one pair of programs for all of them. */

#include "edge/cgroup/bpf/net.h"
#include "edge/cgroup/fs.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

/* base/CLASS/SCOPE */
#define SCOPE_BELOW_BASE 2

int sg_fs_net_start(struct sg_backend *b)
{
        _cleanup_free_ char *why = NULL;
        int r;

        if (!b->hier[SG_HIER_UNIFIED].usable)
                return 0;
        r = sg_net_bpf_open(&b->net, b->hier[SG_HIER_UNIFIED].base, SCOPE_BELOW_BASE, &why);
        if (r > 0)
                sg_log(LOG_INFO, "network bytes of jobs are not counted: %s", why ? why : "?");
        return r < 0 ? r : 0;
}

uint64_t sg_fs_net_id(struct sg_scope *s)
{
        const char *base = s->backend->hier[SG_HIER_UNIFIED].base;
        const char *dir = s->backend->net ? sg_scope_dir(s, SG_HIER_UNIFIED) : NULL;

        /* It may be below another base, of a daemon that ran elsewhere. */
        if (s->net_id == 0 && dir && strncmp(dir, base, strlen(base)) == 0)
                (void)sg_net_bpf_id(dir, &s->net_id);
        return s->net_id;
}

int sg_fs_scope_net(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx)
{
        uint64_t id = sg_fs_net_id(s);
        struct sg_net_count count;
        int r;

        if (id == 0)
                return -ENODATA;
        r = sg_net_bpf_read(s->backend->net, id, &count);
        if (r < 0)
                return r;
        *ret_rx = count.rx_bytes;
        *ret_tx = count.tx_bytes;
        return 0;
}

void sg_fs_net_forget(struct sg_scope *s)
{
        if (s->net_id > 0)
                sg_net_bpf_forget(s->backend->net, s->net_id);
        s->net_id = 0;
}
