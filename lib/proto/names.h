/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Names and limits that the daemon, schedctl and the shim must agree on. */

#define SG_VERSION "0.1.0"

#define SG_BUS_NAME "org.schedgov1"
#define SG_BUS_PATH "/org/schedgov1"
#define SG_BUS_JOB_PREFIX                                                                          \
        "/org/schedgov1/job" /* + "/" + sd_bus_path_encode'd id, "7" or "7@host" */
#define SG_BUS_MANAGER "org.schedgov1.Manager"
#define SG_BUS_JOB "org.schedgov1.Job"
#define SG_BUS_ERROR(name) "org.schedgov1.Error." name
#define SG_ERROR_NO_SUCH_JOB SG_BUS_ERROR("NoSuchJob")
#define SG_ERROR_NOT_YOURS SG_BUS_ERROR("NotYours")
#define SG_ERROR_DENIED SG_BUS_ERROR("AccessDenied")
/* The request is wrong; the message says where. */
#define SG_ERROR_INVALID SG_BUS_ERROR("Invalid")
#define SG_ERROR_WRONG_STATE SG_BUS_ERROR("WrongState") /* not possible for a job in this state */
#define SG_ERROR_BUSY SG_BUS_ERROR("TryLater") /* full, or --no-wait and no room: exit 75 */
#define SG_ERROR_STORE SG_BUS_ERROR("Store")   /* the state directory can't be written */

/* Polkit's names of what one may be allowed to do. */
#define SG_ACTION_OWN_JOBS "org.schedgov1.manage-own-jobs"
#define SG_ACTION_JOBS "org.schedgov1.manage-jobs"
#define SG_ACTION_NODE "org.schedgov1.manage-node"

#define SG_GPU_SOCKET "/run/schedgov/gpu" /* schedgov-gpu.socket's */
#define SG_SYSTEM_SOCKET "/run/schedgov/bus"
#define SG_SYSTEM_STATE_DIR "/var/lib/schedgov"
#define SG_SOCKET_ENV "SCHEDGOV_SOCKET"

/* Exit statuses of our own (see schedctl(1)). */
enum {
        SG_EXIT_TRY_LATER = 75,
        SG_EXIT_TIME_LIMIT = 124,
        SG_EXIT_OWN_FAILURE = 125,
        SG_EXIT_NOT_EXECUTABLE = 126,
        SG_EXIT_NOT_FOUND = 127,
};

/* Sizes include the NUL. */
#define SG_NODE_NAME_MAX 65
#define SG_JOB_NAME_MAX 65
#define SG_CLASS_NAME_MAX 33
#define SG_USER_NAME_MAX 33
#define SG_BOOT_ID_MAX 33
#define SG_TOKEN_MAX 65
#define SG_INVOCATION_ID_MAX 33
#define SG_UNIT_NAME_MAX 256           /* as systemd has it */
#define SG_SPEC_MAX (8U * 1024 * 1024) /* argv + environment + script of one job */
#define SG_SCRIPT_MAX (1024U * 1024)
#define SG_ARRAY_MAX 10000U
#define SG_WEIGHT_MAX 10000U /* of CPU and IO, as the kernel has it */
#define SG_PRIORITY_MAX 1000 /* −1000 … 1000 */
#define SG_PAGE_MAX 500U     /* jobs in one reply */
