/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schedctl: sorts the command line out, calls one verb,
 * and turns what it says into an exit status. */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "ctl/complete/complete.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include "proto/paths.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int call_verb(const struct sg_invocation *inv, struct sg_error *e)
{
        static sg_verb_fn *const verbs[_SG_VERB_MAX] = {
                [SG_VERB_RUN] = sg_verb_run,           [SG_VERB_SUBMIT] = sg_verb_submit,
                [SG_VERB_LIST] = sg_verb_list,         [SG_VERB_STATUS] = sg_verb_status,
                [SG_VERB_PLOT] = sg_verb_plot,         [SG_VERB_TOP] = sg_verb_top,
                [SG_VERB_LOGS] = sg_verb_logs,         [SG_VERB_WAIT] = sg_verb_wait,
                [SG_VERB_CANCEL] = sg_verb_cancel,     [SG_VERB_HOLD] = sg_verb_control,
                [SG_VERB_RELEASE] = sg_verb_control,   [SG_VERB_SUSPEND] = sg_verb_control,
                [SG_VERB_RESUME] = sg_verb_control,    [SG_VERB_REQUEUE] = sg_verb_control,
                [SG_VERB_SIGNAL] = sg_verb_signal,     [SG_VERB_SET] = sg_verb_set,
                [SG_VERB_HISTORY] = sg_verb_history,   [SG_VERB_EVENTS] = sg_verb_events,
                [SG_VERB_EXPLAIN] = sg_verb_explain,   [SG_VERB_POLICY] = sg_verb_policy,
                [SG_VERB_SIMULATE] = sg_verb_simulate, [SG_VERB_CONFIG] = sg_verb_config,
                [SG_VERB_ADOPT] = sg_verb_adopt,       [SG_VERB_VERSION] = sg_verb_version,
                [SG_VERB_HELP] = sg_verb_help,         [SG_VERB_LIMITS] = sg_verb_limits,
                [SG_VERB_RERUN] = sg_verb_rerun,       [SG_VERB_GPUS] = sg_verb_gpus,
        };

        return verbs[inv->verb](inv, e);
}

static int use_own(struct sg_invocation *inv, char **ret_socket, struct sg_error *e)
{
        int r = sg_user_socket(ret_socket);

        if (r == -ENXIO)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--user",
                                    "log in through systemd-logind, or set it to /run/user/UID",
                                    "XDG_RUNTIME_DIR isn't set");
        inv->socket = *ret_socket;
        return r;
}

static int run(int argc, char **argv, struct sg_invocation *inv, struct sg_error *e)
{
        int r = sg_options_parse(argc, argv, sg_now_realtime_usec(), inv, e), q;
        _cleanup_free_ char *own = NULL;

        if (inv->help) {
                sg_error_clear(e);
                sg_verb_print_help(inv);
                r = 0;
        } else if (r < 0) {
                return r;
        } else if (inv->version) {
                (void)printf("schedctl %s\n", SG_VERSION);
        } else {
                if (inv->own && !inv->socket)
                        r = use_own(inv, &own, e);
                if (r >= 0)
                        r = call_verb(inv, e);
        }
        q = sg_output_finish(e);
        return r == 0 ? q : r;
}

/* If one of the three is closed, the connection would take its number, and what we print would go
 * to the governor. What we exec doesn't get these: a job finds them closed as they were. */
static void reserve_standard_fds(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0)
                        (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
        static char buffer[65536]; /* a list of ten thousand jobs in a dozen writes */
        struct sg_invocation inv;
        struct sg_error e = {0};
        int r;

        reserve_standard_fds();
        (void)setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
        if (argc > 2 && strcmp(argv[1], SG_COMPLETE) == 0)
                return sg_complete(argc - 1, argv + 1);
        r = run(argc, argv, &inv, &e);
        if (r < 0) {
                (void)fflush(stdout);
                r = sg_error_print(&e, r, inv.json);
        }
        sg_invocation_deinit(&inv);
        return r;
}
