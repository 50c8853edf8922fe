/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/metric.h"

#include "base/cleanup.h"
#include <string.h>

struct word {
        const char *s;
        uint8_t kind;
};

static const struct word losses[] = {
        {"rmse", SG_METRIC_KNOWN},
        {"mse", SG_METRIC_KNOWN},
        {"mae", SG_METRIC_KNOWN},
        {"perplexity", SG_METRIC_KNOWN},
        {"ppl", SG_METRIC_KNOWN},
        {"nll", SG_METRIC_KNOWN},
        {"bpb", SG_METRIC_KNOWN},
        {"bpc", SG_METRIC_KNOWN},
        {"wer", SG_METRIC_KNOWN},
        {"cer", SG_METRIC_KNOWN},
        {"fid", SG_METRIC_KNOWN},
        {"mape", SG_METRIC_KNOWN},
        {"rmsle", SG_METRIC_KNOWN},
        {"mphe", SG_METRIC_KNOWN},
        {"merror", SG_METRIC_KNOWN},
        {"l1", SG_METRIC_KNOWN},
        {"l2", SG_METRIC_KNOWN},
        {"huber", SG_METRIC_KNOWN},
        {"quantile", SG_METRIC_KNOWN},
        {"deviance", SG_METRIC_KNOWN},
        {"cross_entropy", SG_METRIC_KNOWN},
        {"binary_error", SG_METRIC_KNOWN},
        {"multi_error", SG_METRIC_KNOWN},
        {"xent", SG_METRIC_KNOWN},
        {"elbo", SG_METRIC_KNOWN},
        {"error", SG_METRIC_EVERYDAY},
        {"err", SG_METRIC_EVERYDAY},
        {"cost", SG_METRIC_EVERYDAY},
        {"objective", SG_METRIC_EVERYDAY},
        {"residual", SG_METRIC_EVERYDAY},
};

static const struct word gains[] = {
        {"auc", SG_METRIC_KNOWN},
        {"aucpr", SG_METRIC_KNOWN},
        {"f1", SG_METRIC_KNOWN},
        {"f1_score", SG_METRIC_KNOWN},
        {"bleu", SG_METRIC_KNOWN},
        {"rouge", SG_METRIC_KNOWN},
        {"rougel", SG_METRIC_KNOWN},
        {"ndcg", SG_METRIC_KNOWN},
        {"mrr", SG_METRIC_KNOWN},
        {"r2", SG_METRIC_KNOWN},
        {"iou", SG_METRIC_KNOWN},
        {"miou", SG_METRIC_KNOWN},
        {"dice", SG_METRIC_KNOWN},
        {"psnr", SG_METRIC_KNOWN},
        {"ssim", SG_METRIC_KNOWN},
        {"top1", SG_METRIC_KNOWN},
        {"mcc", SG_METRIC_KNOWN},
        {"pearson", SG_METRIC_KNOWN},
        {"spearman", SG_METRIC_KNOWN},
        {"kappa", SG_METRIC_KNOWN},
        {"reward", SG_METRIC_KNOWN},
        {"ep_rew_mean", SG_METRIC_KNOWN},
        {"precision", SG_METRIC_KNOWN},
        {"recall", SG_METRIC_KNOWN},
        {"average_precision", SG_METRIC_KNOWN},
        {"exact_match", SG_METRIC_KNOWN},
        {"win_rate", SG_METRIC_KNOWN},
        {"map", SG_METRIC_EVERYDAY},
        {"score", SG_METRIC_EVERYDAY},
        {"return", SG_METRIC_EVERYDAY},
};

static const char *const training[] = {"train_", "training_", "tr_"};
static const char *const held_out[] = {"val_",  "valid_", "validation_", "eval_",
                                       "test_", "dev_",   "heldout_"};
static const char *const manners[] = {"avg_", "mean_", "running_", "final_", "total_", "smoothed_"};
static const char *const occasions[] = {"_step", "_epoch", "_avg", "_mean", "_train"};
/* "loss_scale" is of mixed precision, "loss_weight" a setting. */
static const char *const settings[] = {"scale", "weight", "coef", "fn", "type", "time"};

struct name {
        char s[SG_METRIC_NAME_MAX];
        size_t n;
};

static bool starts(const struct name *m, const char *prefix, size_t n)
{
        return m->n > n && memcmp(m->s, prefix, n) == 0;
}

static bool ends(const struct name *m, const char *suffix, size_t n)
{
        return m->n > n && memcmp(m->s + m->n - n, suffix, n) == 0;
}

static bool drop_prefix(struct name *m, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                size_t size = strlen(list[i]);

                if (!starts(m, list[i], size))
                        continue;
                m->n -= size;
                memmove(m->s, m->s + size, m->n + 1);
                return true;
        }
        return false;
}

static void drop_suffix(struct name *m, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                size_t size = strlen(list[i]);

                if (ends(m, list[i], size)) {
                        m->n -= size;
                        m->s[m->n] = '\0';
                        return;
                }
        }
}

static uint8_t look_up(const struct name *m, const struct word *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (m->s[0] == list[i].s[0] && strcmp(m->s, list[i].s) == 0)
                        return list[i].kind;
        return 0;
}

static uint8_t loss_kind(const struct name *m)
{
        const char *loss = strstr(m->s, "loss");

        if (!loss)
                return look_up(m, losses, SG_ELEMENTSOF(losses));
        if (m->n == 4)
                return SG_METRIC_ITSELF;
        for (size_t i = 0; i < SG_ELEMENTSOF(settings); i++)
                if (strstr(loss + 4, settings[i]))
                        return 0;
        /* "lossless", "glossary" */
        if (loss[4] >= 'a' && loss[4] <= 'z' && strcmp(loss + 4, "es") != 0)
                return 0;
        return SG_METRIC_LIKE;
}

static uint8_t gain_kind(const struct name *m)
{
        const char *cut;

        if (strcmp(m->s, "accuracy") == 0 || strcmp(m->s, "acc") == 0)
                return SG_METRIC_ITSELF;
        if (strstr(m->s, "accuracy") || ends(m, "_acc", 4) || starts(m, "acc_", 4) ||
            starts(m, "acc1", 4))
                return SG_METRIC_LIKE;
        /* "ndcg_5", "map_10": at so many; "auc_2": Keras numbers them. */
        cut = strrchr(m->s, '_');
        if (cut && cut[1] >= '0' && cut[1] <= '9' && cut < m->s + m->n - 1) {
                struct name base = *m;

                base.n = (size_t)(cut - m->s);
                base.s[base.n] = '\0';
                return look_up(&base, gains, SG_ELEMENTSOF(gains));
        }
        return look_up(m, gains, SG_ELEMENTSOF(gains));
}

static void normalise(struct name *m, const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                char c = s[i];

                if (c >= 'A' && c <= 'Z')
                        c = (char)(c | 0x20);
                m->s[i] = c == '/' || c == '-' || c == '.' || c == '@' ? '_' : c;
        }
        while (n > 0 && m->s[n - 1] == '_')
                n--;
        m->s[n] = '\0';
        m->n = n;
}

struct sg_metric sg_metric_of(const char *name, size_t n)
{
        struct sg_metric r = {0};
        struct name m;

        if (n < 2 || n >= SG_METRIC_NAME_MAX)
                return r;
        normalise(&m, name, n);
        r.held_out = drop_prefix(&m, held_out, SG_ELEMENTSOF(held_out));
        if (!r.held_out)
                (void)drop_prefix(&m, training, SG_ELEMENTSOF(training));
        (void)drop_prefix(&m, manners, SG_ELEMENTSOF(manners));
        drop_suffix(&m, occasions, SG_ELEMENTSOF(occasions));
        /* The other way around, as Lightning's users do: "loss/val". */
        if (ends(&m, "_val", 4) || ends(&m, "_test", 5) || ends(&m, "_valid", 6)) {
                r.held_out = true;
                drop_suffix(&m, (const char *const[]){"_val", "_test", "_valid"}, 3);
        }
        r.goal = SG_GOAL_MIN;
        r.kind = loss_kind(&m);
        if (r.kind == 0) {
                r.goal = SG_GOAL_MAX;
                r.kind = gain_kind(&m);
        }
        return r;
}

/* Never 0. The name decides about what its own job's numbers mean: who makes it collide deceives
 * nobody else. */
static uint64_t hash(const char *s, size_t n)
{
        const uint64_t odd = 0x9e3779b97f4a7c15;
        uint64_t h = n * odd, v;

        for (; n >= sizeof(v); s += sizeof(v), n -= sizeof(v)) {
                memcpy(&v, s, sizeof(v));
                h = (h ^ v) * odd;
                h ^= h >> 32;
        }
        for (v = 0; n > 0; n--)
                v = v << 8 | (unsigned char)*s++;
        h = (h ^ v) * odd;
        return (h ^ h >> 32) | 1;
}

struct sg_metric sg_metric_look_up(struct sg_metric_cache *c, const char *name, size_t n)
{
        uint64_t h;
        size_t i;

        if (n >= SG_METRIC_NAME_MAX)
                return (struct sg_metric){0};
        h = hash(name, n);
        i = h >> 1 & (SG_ELEMENTSOF(c->entries) - 1);
        if (c->entries[i].hash != h) {
                c->entries[i].hash = h;
                c->entries[i].metric = sg_metric_of(name, n);
        }
        return c->entries[i].metric;
}
