/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "say.h"

#include <math.h>

#define BAR 30

const char *const style_names[_STYLE_MAX] = {"pytorch", "keras", "tqdm", "plain"};
const char *const claim_names[_CLAIM_MAX] = {"truth", "nothing", "nan", "near", "stall", "back"};

/* Where it says that it is. */
static uint64_t claimed(const struct say *s, uint64_t done)
{
        uint64_t all = s->epochs * s->batches;

        switch (s->claim) {
        case CLAIM_NEAR:
                return all - (all - done) / 10;
        case CLAIM_STALL:
                return done < all / 4 ? done : all / 4 > 0 ? all / 4 : 1;
        case CLAIM_BACK:
                return all - done > 0 ? all - done : 1;
        default:
                return done;
        }
}

static void say_bar(const struct say *s, uint64_t batch)
{
        uint64_t full = batch * BAR / s->batches;

        for (uint64_t i = 0; i < BAR; i++)
                (void)fputc(i < full ? '=' : i == full ? '>' : '.', s->out);
}

static void say_keras(struct say *s, uint64_t epoch, uint64_t batch, const struct said *r)
{
        double left = r->elapsed * ((double)(s->batches - batch) / (double)r->done);

        if (epoch != s->epoch)
                (void)fprintf(s->out, "Epoch %lu/%lu\n", epoch, s->epochs);
        s->epoch = epoch;
        (void)fprintf(s->out, "%lu/%lu [", batch, s->batches);
        say_bar(s, batch);
        if (batch < s->batches)
                (void)fprintf(s->out, "] - ETA: %.0fs", left);
        else
                (void)fprintf(s->out, "] - %.0fs %.0fms/step", r->elapsed / (double)epoch,
                              1e3 * r->elapsed / (double)r->done);
        (void)fprintf(s->out, " - loss: %.5g", r->loss);
        if (s->accuracy)
                (void)fprintf(s->out, " - accuracy: %.4f", r->accuracy);
        (void)fputc('\n', s->out);
}

static void say_pytorch(const struct say *s, uint64_t epoch, uint64_t batch, const struct said *r)
{
        (void)fprintf(s->out, "Epoch [%lu/%lu], Step [%lu/%lu], Loss: %.5g", epoch, s->epochs,
                      batch, s->batches, r->loss);
        if (s->accuracy)
                (void)fprintf(s->out, ", Accuracy: %.4f", r->accuracy);
        (void)fputc('\n', s->out);
}

static void say_clock(const struct say *s, double seconds)
{
        (void)fprintf(s->out, "%02lu:%02lu", (uint64_t)seconds / 60, (uint64_t)seconds % 60);
}

static void say_tqdm(const struct say *s, uint64_t epoch, uint64_t batch, const struct said *r)
{
        double each = r->elapsed / (double)r->done;

        (void)fprintf(s->out, "\rEpoch %lu/%lu: %3lu%%|", epoch, s->epochs,
                      batch * 100 / s->batches);
        for (uint64_t i = 0; i < 10; i++)
                (void)fputs(i < batch * 10 / s->batches ? "█" : " ", s->out);
        (void)fprintf(s->out, "| %lu/%lu [", batch, s->batches);
        say_clock(s, each * (double)batch);
        (void)fputc('<', s->out);
        say_clock(s, each * (double)(s->batches - batch));
        (void)fprintf(s->out, ", %5.2fit/s, loss=%.5g", 1 / fmax(each, 1e-6), r->loss);
        if (s->accuracy)
                (void)fprintf(s->out, ", acc=%.4f", r->accuracy);
        (void)fputs(batch == s->batches ? "]\n" : "]", s->out);
}

void say(struct say *s, struct said r)
{
        uint64_t done = claimed(s, r.done), epoch = (done - 1) / s->batches + 1;
        uint64_t batch = (done - 1) % s->batches + 1;

        if (s->claim == CLAIM_NOTHING)
                return;
        if (!isfinite(r.accuracy))
                s->accuracy = 0;
        if (s->claim == CLAIM_NAN)
                r.loss = NAN;
        switch (s->style) {
        case STYLE_KERAS:
                say_keras(s, epoch, batch, &r);
                break;
        case STYLE_TQDM:
                say_tqdm(s, epoch, batch, &r);
                break;
        case STYLE_PLAIN:
                (void)fprintf(s->out, "step %lu/%lu loss=%.5g", done, s->epochs * s->batches,
                              r.loss);
                if (s->accuracy)
                        (void)fprintf(s->out, " accuracy=%.4f", r.accuracy);
                (void)fputc('\n', s->out);
                break;
        default:
                say_pytorch(s, epoch, batch, &r);
        }
        (void)fflush(s->out);
}
