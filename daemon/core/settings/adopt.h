/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which groups that others make are jobs as well, of which class, and what we may do to them. A
 * group is told by its path below the mount of the cgroup tree ("/system.slice/x.scope"). Groups
 * inside an adopted one are part of it; ours and what we started are never adopted.
 */

#include "core/settings/settings.h"

struct sg_adopt_rules {
        const struct sg_settings *settings;
        const char *slice; /* the group of schedgov.slice, NULL = no systemd */
};

/* What a walk through the tree has to do with a group: bits. */
enum { SG_LOOK_INSIDE = 1, SG_LOOK_AT = 2 };
unsigned sg_adopt_look(const struct sg_adopt_rules *rules, const char *path);

struct sg_adoptee {
        const struct sg_class *policy; /* whose limits hold */
        char class[SG_CLASS_NAME_MAX]; /* shown: that, or what its slice is called */
        char unit[SG_UNIT_NAME_MAX];   /* "" = no unit of systemd's */
        enum sg_adoption how;
};

/* 1: to be adopted, and how; 0: not. */
int sg_adopt_classify(const struct sg_adopt_rules *rules, const char *path, struct sg_adoptee *ret);

/* The class whose own slice is the parent of this group; false: another slice, or none. */
bool sg_adopt_class_slice(const struct sg_adopt_rules *rules, const char *path,
                          char ret[SG_CLASS_NAME_MAX]);
/* What a unit gets that has `now`: that, as far as the class allows it, and the class's where the
 * unit says nothing. */
void sg_adopt_limits(const struct sg_class *c, const struct sg_limits *now, struct sg_limits *ret);

/* The unit that has this group: a scope or service, whose name is the last component, without the
 * '_' that systemd puts before names that the kernel could mean. False: none. */
bool sg_adopt_unit_of(const char *path, char ret[SG_UNIT_NAME_MAX]);
/* Whether s could be the name of a scope or service. */
bool sg_adopt_unit_valid(const char *s);
/* A job's name made of its group's: without suffix and escapes, printable, of a long ID only its
 * beginning, cut. */
void sg_adopt_name(const char *path, char ret[SG_JOB_NAME_MAX]);
/* Whether a slice is called after a class that there isn't, and what to say then. */
#define SG_ADOPT_NO_CLASS_MAX 192
bool sg_adopt_no_class(const struct sg_settings *s, const char *class,
                       char ret[SG_ADOPT_NO_CLASS_MAX]);
/* Who may change it, in a word or two: "podman", "systemd" … */
const char *sg_adopt_owner(const char *path);

/* Absolute, no component empty, "." or "..", and at most one of them "**", which stands for any
 * number of components. */
bool sg_adopt_pattern_valid(const char *pattern);
