/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Connections and requests of schedgov-launch. All state is here and bounded: a connection has one
 * answer under way at most, and isn't read before that has been taken.
 */

#include "launcher/peer.h"
#include "launcher/start.h"
#include "proto/launch.h"

/* The daemon needs one, and a second while it is restarted. */
#define SG_CONNECTIONS_MAX 8

struct sg_connection {
        int fd; /* -1 = none */
        struct sg_peer peer;
        bool answering;
        struct sg_launch_answer answer;
        int pidfd; /* of the answer */
};

struct sg_server {
        struct sg_starter starter;
        const char *peer_unit;
        int listener, signals; /* signals: a signalfd of SIGCHLD */
        struct sg_connection connections[SG_CONNECTIONS_MAX];
};

void sg_server_init(struct sg_server *s);
/* Serves until something is wrong with poll(2) itself. */
int sg_server_run(struct sg_server *s);
/* One line on stderr. */
void sg_complain(const char *what, const char *object, int error);
