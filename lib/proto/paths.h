/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where the governor of one user lives (schedgovd --user), as the XDG base directories say. Each
 * result is for free(3); -ENXIO where the environment doesn't say. */

/* $XDG_RUNTIME_DIR/schedgov/bus */
int sg_user_socket(char **ret);
/* $XDG_STATE_HOME/schedgov, else ~/.local/state/schedgov */
int sg_user_state_dir(char **ret);
/* $XDG_CONFIG_HOME/schedgov, else ~/.config/schedgov */
int sg_user_config_dir(char **ret);
