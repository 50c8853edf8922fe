# schedgov: see `make help`. What is built is here, what is done with it in mk/. No recursion but for a second variant of the
# programs.

VARIANT ?= release
O := build/$(VARIANT)
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:

# --- flags ----------------------------------------------------------------------------------------

CC ?= cc
ifeq ($(origin CC),default)
CC := cc
endif
PKG_CONFIG ?= pkg-config
pkg = $(shell $(PKG_CONFIG) --$(1) $(2) 2>/dev/null)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wvla -Wformat=2 -Wmissing-prototypes \
        -Wstrict-prototypes -Wundef -Wimplicit-fallthrough -Wpointer-arith -Wwrite-strings
ifdef CI
WARN += -Werror
endif
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection
PREFIX ?= /usr/local
USRLIBDIR ?= $(PREFIX)/lib
CPPFLAGS_ALL := -D_GNU_SOURCE -DSG_LIBDIR=\"$(PREFIX)/lib/schedgov\" -DSG_USRLIBDIR=\"$(USRLIBDIR)\" -Ilib -Idaemon -I.
CFLAGS_ALL := -std=gnu11 -g $(WARN) -fno-common -ffunction-sections -fdata-sections -fvisibility=hidden
LDFLAGS_ALL := -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
STATIC := -static

# What sanitizers report are lines, for which -g1 will do; with all of -g they compile a third longer.
ifeq ($(VARIANT),release)
CFLAGS_ALL += -O2 $(HARDEN) -D_FORTIFY_SOURCE=2
else ifeq ($(VARIANT),debug)
CFLAGS_ALL += -O1 $(HARDEN) -DSG_FAULTS
else ifeq ($(VARIANT),asan)
CFLAGS_ALL += -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSG_FAULTS
LDFLAGS_ALL += -fsanitize=address,undefined
STATIC :=
else ifeq ($(VARIANT),tsan)
CFLAGS_ALL += -O1 -fsanitize=thread -DSG_FAULTS
LDFLAGS_ALL += -fsanitize=thread
STATIC :=
else ifeq ($(VARIANT),cov)
CFLAGS_ALL += -O0 --coverage -DSG_FAULTS
LDFLAGS_ALL += --coverage
STATIC :=
else ifeq ($(VARIANT),fuzz)
CC := clang
CFLAGS_ALL += -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
LDFLAGS_ALL += -fsanitize=address,undefined
STATIC :=
else
$(error VARIANT=$(VARIANT): use release, debug, asan, tsan, cov or fuzz)
endif

# --- what is built --------------------------------------------------------------------------------

# A folder is a room: its sources are found, however deep they are.
sources = $(sort $(shell find $(1) -name '$(or $(2),*.c)' 2>/dev/null))
BASE_SRC := $(call sources,lib/base)
PROTO_SRC := $(call sources,lib/proto)
CORE_SRC := $(call sources,daemon/core)
GPU_MAIN := daemon/edge/gpu/worker/main.c
EDGE_SRC := $(filter-out $(GPU_MAIN),$(call sources,daemon/edge))
SHIM_SRC := $(call sources,daemon/shim)
LAUNCH_SRC := $(call sources,daemon/launcher)
DAEMON_SRC := $(filter-out $(CORE_SRC) $(EDGE_SRC) $(GPU_MAIN) $(SHIM_SRC) $(LAUNCH_SRC),$(call sources,daemon))
CTL_SRC := $(call sources,ctl)
CLIENT_SRC := $(call sources,lib/client)
OMP_SRC := $(call sources,lib/omp)
UNIT_SRC := $(call sources,tests/unit,test_*.c)
PROP_SRC := $(call sources,tests/prop,prop_*.c)
FUZZ_SRC := $(call sources,tests/fuzz,fuzz_*.c)
WORK_SRC := $(wildcard tests/workloads/*.c)
TRAIN_SRC := $(wildcard tests/workloads/train/*.c)
FAKE_SRC := $(wildcard tests/fakes/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
BASE_LIB := $(O)/libbase.a
CORE_LIB := $(O)/libcore.a
EDGE_LIB := $(O)/libedge.a
CLIENT_LIB := $(O)/libclient.a

EDGE_PKGS := libsystemd libcgroup sqlite3 inih jansson libnl-route-3.0 libnl-genl-3.0 tre
CTL_PKGS := libsystemd jansson ncursesw
EDGE_LIBS = $(call pkg,libs,$(EDGE_PKGS))
CTL_LIBS = $(call pkg,libs,$(CTL_PKGS))

PROGRAMS := $(if $(DAEMON_SRC),$(O)/schedgovd) $(if $(SHIM_SRC),$(O)/schedgov-shim) \
            $(if $(LAUNCH_SRC),$(O)/schedgov-launch) $(O)/schedgov-gpu $(if $(CTL_SRC),$(O)/schedctl)
VECTORS := $(O)/tests/unit/vectors/vectors
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(UNIT_SRC)) \
              $(patsubst tests/prop/%.c,$(O)/tests/prop/%,$(PROP_SRC))
FAKE_NSS := $(O)/tests/fakes/libnss_hang.so.2
FAKE_NVML := $(foreach v,440 470 510 535.54 535.98 current,$(O)/tests/fakes/nvml/$(v)/libnvidia-ml.so.1)
WORKLOADS := $(patsubst %.c,$(O)/%,$(WORK_SRC) $(FAKE_SRC)) $(FAKE_NSS) $(FAKE_NVML) $(O)/tests/workloads/train
BENCHES := $(patsubst tests/bench/%.c,$(O)/tests/bench/%,$(BENCH_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%,$(FUZZ_SRC))
MAN_PAGES := $(patsubst docs/%.scd,build/man/%,$(wildcard docs/*.scd))

# What jobs link or load.
CLIENT_SO := $(O)/libschedgov.so.1
CLIENT_A := $(O)/libschedgov.a
OMP_SO := $(O)/libschedgov-omp.so
LIBRARIES := $(CLIENT_SO) $(CLIENT_A) $(if $(OMP_SRC),$(OMP_SO))

#h make                 the programs, in build/release
.PHONY: all
all: $(PROGRAMS) $(LIBRARIES)

# A change of flags rebuilds: the stamp's content is what the objects were made with.
FLAGS_STAMP := $(O)/.flags
FLAGS_NOW := $(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(CFLAGS_ALL) $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS)
.PHONY: FORCE
$(FLAGS_STAMP): FORCE
	@mkdir -p $(@D); echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' >$@

$(O)/obj/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) $(CFLAGS) -MMD -MP -c -o $@ $<
# Only they see its headers, which are in a folder of their own.
$(call obj,$(addprefix daemon/edge/kernel/,links.c delays.c listeners.c)): PKG_CFLAGS = $(call pkg,cflags,libnl-genl-3.0)

# So does a source that was removed or renamed: an archive would keep its object.
SOURCES_STAMP := $(O)/.sources
SOURCES_NOW := $(BASE_SRC) $(PROTO_SRC) $(CORE_SRC) $(EDGE_SRC) $(CLIENT_SRC)
$(SOURCES_STAMP): FORCE
	@mkdir -p $(@D); echo '$(SOURCES_NOW)' | cmp -s - $@ || echo '$(SOURCES_NOW)' >$@

archive = @echo '  AR    $@'; rm -f $@; ar rcs $@ $(filter %.o,$^)
link = @mkdir -p $(@D); echo '  LD    $@'; \
       $(CC) $(CFLAGS_ALL) $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^)

$(BASE_LIB): $(call obj,$(BASE_SRC) $(PROTO_SRC)) $(SOURCES_STAMP)
	$(archive)
$(CORE_LIB): $(call obj,$(CORE_SRC)) $(SOURCES_STAMP)
	$(archive)
$(EDGE_LIB): $(call obj,$(EDGE_SRC)) $(SOURCES_STAMP)
	$(archive)
$(CLIENT_LIB): $(call obj,$(CLIENT_SRC)) $(SOURCES_STAMP)
	$(archive)

# They are loaded into programs of others, so never with a sanitizer or gcov; those are for $(CLIENT_LIB), which
# tests link. In the static one, what the shared one hides is hidden, too.
SHARED_CFLAGS := $(filter-out -fsanitize% -fno-sanitize% --coverage,$(CFLAGS_ALL)) -fPIC
SHARED_LDFLAGS := $(filter-out -fsanitize% --coverage,$(LDFLAGS_ALL)) -shared -Wl,-z,defs
$(O)/pic/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	@echo '  PIC   $<'
	@$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(SHARED_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
pic = $(patsubst %.c,$(O)/pic/%.o,$(1))
link_shared = @echo '  LD    $@'; $(CC) $(SHARED_CFLAGS) $(CFLAGS) $(SHARED_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)
$(CLIENT_SO): $(call pic,$(CLIENT_SRC)) lib/client/libschedgov.sym
	$(link_shared) -Wl,-soname,$(@F) -Wl,--version-script=lib/client/libschedgov.sym
	@ln -sf $(@F) $(O)/libschedgov.so
$(CLIENT_A): $(call pic,$(CLIENT_SRC))
	@echo '  AR    $@'; rm -f $@; ld -r -o $(O)/pic/libschedgov.o $(filter %.o,$^)
	@objcopy --localize-hidden $(O)/pic/libschedgov.o && ar rcs $@ $(O)/pic/libschedgov.o
# The symbols that it stands in front of have versions of their libraries', so its own have none.
$(OMP_SO): $(call pic,$(OMP_SRC) $(addprefix lib/,client/follow.c client/allocation-text.c proto/preload.c proto/team.c))
	$(link_shared) -Wl,-soname,$(@F) -ldl

$(O)/schedgovd: $(call obj,$(DAEMON_SRC)) $(EDGE_LIB) $(CORE_LIB) $(BASE_LIB)
	$(link) $(EDGE_LIBS) -lm
# One shim is started per job: with musl it starts in a third of the time, as static glibc first asks the
# CPU about its caches, which a hypervisor answers slowly. Without musl-gcc it is static glibc all the same.
MUSL_CC := $(if $(STATIC),$(shell command -v musl-gcc 2>/dev/null))
ifneq ($(MUSL_CC),)
$(O)/musl/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	@echo '  MUSL  $<'
	@$(MUSL_CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(CFLAGS_ALL) $(CFLAGS) -MMD -MP -c -o $@ $<
# (signal-name.c wants sigabbrev_np(3), which is glibc's; none of them has a use for it)
SMALL_LIB_SRC := $(filter-out %/signal-name.c,$(BASE_SRC)) $(PROTO_SRC)
musl = $(patsubst %.c,$(O)/musl/%.o,$(1) $(SMALL_LIB_SRC))
$(O)/schedgov-shim: $(call musl,$(SHIM_SRC))
$(O)/schedgov-launch: $(call musl,$(LAUNCH_SRC))
$(O)/schedgov-shim $(O)/schedgov-launch:
	@echo '  LD    $@'; $(MUSL_CC) $(CFLAGS_ALL) $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS) -static -o $@ $^
else
$(O)/schedgov-shim: $(call obj,$(SHIM_SRC)) $(BASE_LIB)
	$(link) $(STATIC)
$(O)/schedgov-launch: $(call obj,$(LAUNCH_SRC)) $(BASE_LIB)
	$(link) $(STATIC)
endif
# It loads a driver's library by its name, so it isn't static.
$(O)/schedgov-gpu: $(call obj,$(GPU_MAIN)) $(EDGE_LIB) $(BASE_LIB)
	$(link) -ldl
# The core for `schedctl simulate`, which computes what the daemon would do.
$(O)/schedctl: $(call obj,$(CTL_SRC)) $(CORE_LIB) $(BASE_LIB)
	$(link) $(CTL_LIBS) -lm

# What the tests of a folder share is in its fixture.c (or *_fixture.c), which each of them is linked with.
fixtures = $(call obj,$(wildcard $(dir tests/unit/$(1))*fixture.c))
.SECONDEXPANSION:
$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $$(call fixtures,$$*) $(EDGE_LIB) $(CORE_LIB) $(CLIENT_LIB) $(BASE_LIB)
	$(link) $(EDGE_LIBS) $(UNIT_LIBS) -lcmocka -lm
$(addprefix $(O)/tests/unit/edge/kernel/,test_sampler_cgroup test_listeners): $(call obj,tests/unit/edge/cgroup/fixture.c)
$(VECTORS): $(call obj,$(wildcard tests/unit/vectors/vectors_*.c))
$(O)/tests/unit/core/life/test_life: $(call obj,$(addprefix tests/unit/core/life/,world.c moves.c wishes.c))
$(O)/tests/prop/%: $(O)/obj/tests/prop/%.o $(CORE_LIB) $(BASE_LIB)
	$(link) -lcmocka -lm
$(O)/tests/workloads/%: $(O)/obj/tests/workloads/%.o
	$(link) $(WORK_LIBS) -lm
$(O)/tests/workloads/busprobe: WORK_LIBS := -lsystemd
$(O)/tests/workloads/gpuscopes: $(EDGE_LIB) $(CORE_LIB) $(BASE_LIB)
$(O)/tests/workloads/gpuscopes: WORK_LIBS := $(EDGE_LIBS)
# One program, and a test of its parts; its threads are OpenMP's.
$(O)/tests/workloads/train: $(call obj,$(TRAIN_SRC)) $(BASE_LIB)
	$(link) -fopenmp -lm
$(call obj,tests/workloads/train/trainer.c): PKG_CFLAGS = -fopenmp
$(O)/tests/unit/workloads/test_train: $(call obj,$(filter-out %/main.c,$(TRAIN_SRC)))
$(O)/tests/unit/workloads/test_train: UNIT_LIBS := -fopenmp
$(O)/tests/fakes/%: $(O)/obj/tests/fakes/%.o $(BASE_LIB)
	$(link) $(CTL_LIBS)
$(FAKE_NSS): $(call pic,tests/fakes/nss/hang.c)
	@mkdir -p $(@D)
	$(link_shared)
# Drivers of several ages: the table `exports` says which has what, and the lists of one have larger entries.
$(FAKE_NVML): $(O)/tests/fakes/nvml/%/libnvidia-ml.so.1: \
                $(call pic,$(addprefix tests/fakes/nvml/,events.c gpus.c processes.c script.c)) \
                tests/fakes/nvml/variant.c tests/fakes/nvml/exports
	@mkdir -p $(@D)
	@awk -v of=$* 'BEGIN { print "{ global:" } \
	        !/^#/ { for (i = 2; i <= NF; i++) if ($$i == of || $$i == "all") print $$1 ";" } \
	        END { print "local: *; };" }' tests/fakes/nvml/exports >$(@D)/exports
	$(link_shared) $(CPPFLAGS_ALL) -DFAKE_V3_STRIDE=$(if $(filter 535.54,$*),32,24) tests/fakes/nvml/variant.c \
	        -Wl,-soname,$(@F) -Wl,--version-script=$(@D)/exports
$(filter $(O)/tests/unit/edge/gpu/worker/%,$(UNIT_TESTS)): | $(FAKE_NVML)
$(O)/tests/bench/%: $(O)/obj/tests/bench/%.o $(EDGE_LIB) $(CORE_LIB) $(BASE_LIB)
	$(link) $(EDGE_LIBS) -lm
# Without libFuzzer the same target is linked with a main that replays its corpus.
FUZZ_MAIN := $(if $(filter fuzz,$(VARIANT)),,$(O)/obj/tests/fuzz/replay.o)
$(O)/tests/fuzz/%: $(O)/obj/tests/fuzz/%.o $(FUZZ_MAIN) $(EDGE_LIB) $(CORE_LIB) $(CLIENT_LIB) $(BASE_LIB)
	$(link) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) $(EDGE_LIBS) -lm

build/man/%: docs/%.scd
	@mkdir -p $(@D); echo '  MAN   $@'; scdoc <$< >$@

-include $(shell find $(O)/obj $(O)/pic $(O)/musl -name '*.d' 2>/dev/null)
.SECONDARY:

# --- tests, benchmarks, installation --------------------------------------------------------------

PARTS := mk/check.mk mk/bench.mk mk/install.mk
include $(PARTS)

# --- set-up ---------------------------------------------------------------------------------------

# Goals that stand for "on a fresh machine" bring their packages (NEEDS_GOAL): nothing is compiled before.
#h make deps            the Debian packages for all of this; check, demo, … call it for theirs
DEP_GROUPS := $(if $(filter deps,$(MAKECMDGOALS)),,$(sort $(foreach g,$(MAKECMDGOALS),$(NEEDS_$(g)))))
ifneq ($(DEP_GROUPS),)
$(FLAGS_STAMP) $(MAN_PAGES): | deps
endif

.PHONY: deps
deps:
	@tests/deps $(DEP_GROUPS)

.PHONY: clean help
clean:
	rm -rf build
help:
	@sed -n 's/^#h //p' Makefile $(PARTS); sed -n 's/^#v *//p' Makefile

#v
#v VARIANT=release|debug|asan|tsan|cov|fuzz builds in build/$VARIANT; CI=1 makes warnings errors;
#v INTEGRATION_TESTS="tests/integration/x …" runs only those, VM_TESTS= likewise;
#v SG_ALLOW_SKIP=1 forgives skipped ones.
