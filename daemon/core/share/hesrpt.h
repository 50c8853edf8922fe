/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * heSRPT: the shares that end jobs soonest on average when each gets on as share^exponent, after
 * Berg, Vesilo and Harchol-Balter. The jobs are ranked, i = 1 … n, the largest first; the i-th gets
 * (i/n)^c − ((i−1)/n)^c with c = 1/(1 − exponent). An exponent of 0 makes all equal, and towards 1
 * the last, which is the shortest, gets it all.
 */

#include <stddef.h>

/* 0 ≤ exponent ≤ 1; 1 ≤ rank ≤ n. The shares of all ranks add up to 1. */
double sg_hesrpt_share(size_t rank, size_t n, double exponent);
/* Of equal ones the first in the array counts as the shortest. -ENOMEM */
int sg_hesrpt_shares(const double *remaining, size_t n, double exponent, double *shares);
