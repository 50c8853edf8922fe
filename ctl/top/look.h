/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What has which colour in `top`. Pure. */

#include "ctl/top/view.h"

/* Of a job's whole line. */
enum sg_top_look sg_top_look_of_job(const struct sg_top_job *j);
/* Of its state, in a line that is plain. */
enum sg_top_look sg_top_look_of_state(const char *state);
/* Of its id and name (bold: it is its turn) … */
enum sg_top_look sg_top_look_of_turn(const char *list);
/* … and of the list itself. */
enum sg_top_look sg_top_look_of_list(const char *list);
/* Whether jobs wait for what is short; for the CPU they often do, and nothing is wrong. */
enum sg_top_look sg_top_look_of_pressure(const double psi[_SG_PRESSURE_MAX]);
/* Of memory in use, 0 … 1. */
enum sg_top_look sg_top_look_of_memory(double used);
