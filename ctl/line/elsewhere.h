/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What is typed by those who know pueue, task-spooler or Slurm, and what it is called here. Pure.
 */

/* The hint for a word that is no verb: "it is schedctl list here"; NULL: nobody's. */
const char *sg_elsewhere_verb(const char *word);

/* The same for "-c" or "--cpus-per-task", which the verb doesn't take. Verb −1: before any verb,
 * where task-spooler has its options. */
const char *sg_elsewhere_option(int verb, const char *spelled);
