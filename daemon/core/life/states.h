/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where a job stands in its life (life.h). */

#define SG_LIFE_STATES(X)                                                                          \
        X(NEW, new)               /* its submission is being stored, nobody sees it */             \
        X(WAITING, waiting)       /* in the queue, or kept out of it */                            \
        X(BEGINNING, beginning)   /* its groups are made, `starting` is being stored */            \
        X(YIELDING, yielding)     /* something is short: what it has got goes back */              \
        X(OFFERED, offered)       /* stored, until its terminal comes for it */                    \
        X(STARTING, starting)     /* its keeper, its place and its process are waited for */       \
        X(PUBLISHING, publishing) /* its fate is being published by us, not by its keeper */       \
        X(RELEASED, released)     /* GO was sent */                                                \
        X(RUNNING, running)       /* or suspended */                                               \
        X(DROPPED, dropped)       /* its gate was closed before GO: its keeper goes away */        \
        X(LOOKING, looking)       /* its directory is asked what became of it */                   \
        X(LINGERING, lingering)   /* that is known, but something of it lives */                   \
        X(ASKING, asking)         /* systemd is asked how it ended */                              \
        X(LISTENING, listening)   /* what it said last is being read */                            \
        X(ENDING, ending)         /* its end is being stored */                                    \
        X(CLEARING, clearing)     /* … is stored; its keeper and its groups are still there */   \
        X(GONE, gone)

#define SG_LIFE_STATE(name, text) SG_LIFE_##name,
enum sg_life_state { SG_LIFE_STATES(SG_LIFE_STATE) _SG_LIFE_STATE_MAX };

const char *sg_life_state_to_string(enum sg_life_state state);
