/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Where the processes of one attempt see each other: a file in shared memory that the first of them
 * makes and the daemon removes when the attempt has ended. It is named after the path of the
 * attempt's allocation, which no other attempt has, whatever daemons the host has.
 */

#define SG_TEAM_DIR "/dev/shm"
#define SG_TEAM_NAME_MAX 32

void sg_team_name(char buf[SG_TEAM_NAME_MAX], const char *allocation);
