/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* MESSAGE_ID= of each kind of event, for `journalctl MESSAGE_ID=…` and for alerts. Never reused,
 * never changed. */

#define SG_MESSAGE_JOB_ENDED "b78b9756f490415e856c2f96d3320bc3"
#define SG_MESSAGE_LIMIT_NOT_ENFORCED "222678f3085d4c52a48aa881e82aee02"
#define SG_MESSAGE_STORE_FAILED "8d271da223ec4d66821fd51e3762c7c9"
#define SG_MESSAGE_STORE_DAMAGED "75c47322e44b48c18f2994250d077738"
#define SG_MESSAGE_GPU "5a1dcf1c3b764b1697f64e2248cc11f3"
#define SG_MESSAGE_CONFIG_REJECTED "fdbc51b3da8b4afeac6b566abe751c2f"
