# schedgov: see `make help`. One Makefile, no recursion but for a second variant of the programs.

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
EDGE_SRC := $(call sources,daemon/edge)
SHIM_SRC := $(call sources,daemon/shim)
LAUNCH_SRC := $(call sources,daemon/launcher)
DAEMON_SRC := $(filter-out $(CORE_SRC) $(EDGE_SRC) $(SHIM_SRC) $(LAUNCH_SRC),$(call sources,daemon))
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
            $(if $(LAUNCH_SRC),$(O)/schedgov-launch) $(if $(CTL_SRC),$(O)/schedctl)
VECTORS := $(O)/tests/unit/vectors/vectors
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(UNIT_SRC)) \
              $(patsubst tests/prop/%.c,$(O)/tests/prop/%,$(PROP_SRC))
FAKE_NSS := $(O)/tests/fakes/libnss_hang.so.2
WORKLOADS := $(patsubst %.c,$(O)/%,$(WORK_SRC) $(FAKE_SRC)) $(FAKE_NSS) $(O)/tests/workloads/train
BENCHES := $(patsubst tests/bench/%.c,$(O)/tests/bench/%,$(BENCH_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%,$(FUZZ_SRC))
MAN_PAGES := $(patsubst docs/%.scd,build/man/%,$(wildcard docs/*.scd))

# What jobs link or load.
CLIENT_SO := $(O)/libschedgov.so.1
CLIENT_A := $(O)/libschedgov.a
OMP_SO := $(O)/libschedgov-omp.so
LIBRARIES := $(CLIENT_SO) $(CLIENT_A) $(if $(OMP_SRC),$(OMP_SO))

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

# --- set-up ---------------------------------------------------------------------------------------

# Goals that stand for "on a fresh machine" bring their packages: nothing is compiled before.
NEEDS_check := build check
NEEDS_check-unit := build check
NEEDS_check-vm := build check
NEEDS_coverage := build check
NEEDS_kills := build check
NEEDS_soak := build check
NEEDS_lint := build lint
NEEDS_fuzz := build fuzz
NEEDS_demo := build demo
NEEDS_pictures := build check pictures
NEEDS_deb := build deb
NEEDS_bench-launch := build bench
NEEDS_bench-against := build check bench
NEEDS_bench-loop := build check
NEEDS_bench-loop-vm := build vm
NEEDS_bench-monitor := build bench
NEEDS_bench-parse := build bench
NEEDS_bench-siege := build check
NEEDS_bench-sim := build bench
NEEDS_bench-vm := build vm
NEEDS_bench-omp := build check
NEEDS_bench-policy := build check
NEEDS_bench-real := build real
DEP_GROUPS := $(if $(filter deps,$(MAKECMDGOALS)),,$(sort $(foreach g,$(MAKECMDGOALS),$(NEEDS_$(g)))))
ifneq ($(DEP_GROUPS),)
$(FLAGS_STAMP) $(MAN_PAGES): | deps
endif

.PHONY: deps
deps:
	@tests/deps $(DEP_GROUPS)

# --- tests ----------------------------------------------------------------------------------------

INTEGRATION_TESTS := $(shell find tests/integration -maxdepth 1 -type f -executable 2>/dev/null | sort)
SIM_TESTS := $(shell find tests/sim -maxdepth 1 -type f -executable 2>/dev/null | sort)
TEST_SECONDS ?= 120
# They wait as much as they compute.
TEST_JOBS ?= $(shell expr $$(nproc) \* 2)

# Variants with sanitizers have the fault points themselves.
FAULT_BUILD := $(if $(filter release,$(VARIANT)),$(O:%/release=%)/debug,$(O))
.PHONY: fault-build
fault-build: $(FLAGS_STAMP)
ifneq ($(FAULT_BUILD),$(O))
	+@$(MAKE) --no-print-directory VARIANT=debug O=$(FAULT_BUILD) all
endif

TEST_ENV = SG_BUILD=$(abspath $(O)) SG_FAULT_BUILD=$(abspath $(FAULT_BUILD)) VARIANT=$(VARIANT) \
           UBSAN_OPTIONS=print_stacktrace=1

# These run in guests of their own, and begin after the others: emulation takes the whole machine.
VM_TESTS := $(shell find tests/vm -maxdepth 1 -type f -executable -name 'test-*' 2>/dev/null | sort)
RUN_VM := $(if $(filter 1,$(SKIP_VM)),,$(if $(filter release debug asan,$(VARIANT)),$(VM_TESTS)))
WITH_VM := $(if $(RUN_VM),--with 'tests/vm/run --prepared' $(RUN_VM))
NOT_RUN := $(filter-out $(RUN_VM),$(VM_TESTS))
SAY_NOT_RUN = $(if $(NOT_RUN),@echo 'not run (VARIANT=$(VARIANT) SKIP_VM=$(SKIP_VM)): $(NOT_RUN)')

# Without QEMU each of them fails, and says why.
.PHONY: vm-ready
vm-ready: deps $(FLAGS_STAMP)
ifneq ($(RUN_VM),)
	@tests/deps vm && $(TEST_ENV) tests/vm/run --prepare || echo 'vm: the tests in guests are going to fail'
endif

.PHONY: deb-ready
deb-ready: deps
	+@$(MAKE) --no-print-directory deb || echo 'deb: the tests of the packages are going to fail'

.PHONY: check check-unit check-vm
check: deps all fault-build $(WORKLOADS) $(UNIT_TESTS) $(VECTORS) $(FUZZERS) deb-ready vm-ready
	$(SAY_NOT_RUN)
	@$(TEST_ENV) tests/run -j $(TEST_JOBS) -t $(TEST_SECONDS) $(UNIT_TESTS) $(FUZZERS) $(SIM_TESTS) $(INTEGRATION_TESTS) $(WITH_VM)
check-vm: deps all fault-build $(WORKLOADS) deb-ready vm-ready
	$(SAY_NOT_RUN)
	@$(if $(RUN_VM),$(TEST_ENV) tests/run -j $(TEST_JOBS) -t $(TEST_SECONDS) $(WITH_VM))
check-unit: deps $(UNIT_TESTS) $(VECTORS) $(FUZZERS)
	@$(TEST_ENV) tests/run -j $(TEST_JOBS) -t $(TEST_SECONDS) $(UNIT_TESTS) $(FUZZERS) tests/integration/vectors

# What check does with fewer of them: each costs 0.2 s.
.PHONY: kills
kills: deps all $(WORKLOADS)
	@$(TEST_ENV) SG_KILLS=$(or $(SG_KILLS),1000) tests/run tests/integration/crash-random

# Mixed load, kills, changes of policy: SG_SOAK_SECONDS (1200), SG_SEED; tests/soak/soak says the rest.
.PHONY: soak
soak: deps all $(WORKLOADS)
	@$(TEST_ENV) tests/soak/soak --json build/soak.json

FUZZ_SECONDS ?= 120
.PHONY: fuzz
ifeq ($(VARIANT),fuzz)
fuzz: deps $(FUZZERS)
	@printf '%s\n' $(FUZZERS) | xargs -P "$$(nproc)" -I '{}' tests/fuzz/run '{}' $(FUZZ_SECONDS)
else
fuzz: deps
	+@$(MAKE) --no-print-directory VARIANT=fuzz fuzz
endif

.PHONY: coverage
ifeq ($(VARIANT),cov)
# Programs of other users can't write their counts, and say so where tests look: what fails is for check to tell.
coverage: deps
	+@$(MAKE) --no-print-directory check || echo 'coverage: of what ran'
	@tests/coverage $(O)/obj
else
coverage: deps
	+@$(MAKE) --no-print-directory VARIANT=cov coverage
endif

.PHONY: demo bench-against bench-launch bench-loop bench-loop-vm bench-monitor bench-parse bench-real bench-siege bench-sim bench-vm bench-omp
demo: deps all $(WORKLOADS)
	@$(TEST_ENV) tests/demo/demo
# Those in the README, from live runs; the screen is tmux's.
.PHONY: pictures
pictures: deps all $(WORKLOADS)
	@$(TEST_ENV) tests/demo/screenshot >build/top.svg && mv build/top.svg docs/top.svg
	@$(TEST_ENV) SG_DEMO_SVG=docs/demo.svg tests/demo/demo
bench-launch: deps all $(WORKLOADS) $(BENCHES)
	@$(TEST_ENV) tests/bench/bench-launch
bench-loop: deps all $(O)/tests/bench/bench_governor
	@$(O)/tests/bench/bench_governor && $(TEST_ENV) tests/bench/bench-loop
bench-loop-vm: deps all $(O)/tests/workloads/busprobe
	@$(TEST_ENV) tests/bench/bench-loop-vm
bench-monitor: deps all $(BENCHES)
	@$(TEST_ENV) tests/bench/bench-monitor; first=$$?; $(TEST_ENV) tests/bench/bench-watch && exit $$first
bench-siege: deps all $(WORKLOADS)
	@$(TEST_ENV) SG_SIEGE_BENCH=1 SG_SIEGE_SECONDS=$(or $(SG_SIEGE_SECONDS),120) tests/integration/siege
bench-sim: deps $(O)/schedctl
	@$(TEST_ENV) tests/bench/bench-sim
bench-against: deps all $(BENCHES) $(WORKLOADS)
	@$(TEST_ENV) tests/bench/bench-against $(or $(BUILD),$(error BUILD=…/build/release of a checkout of before)) $(ROUNDS)
bench-parse: deps $(O)/tests/bench/bench_parse
	@$(O)/tests/bench/bench_parse
bench-omp: deps all
	@$(TEST_ENV) tests/integration/omp-quota 9; first=$$?; $(TEST_ENV) tests/bench/bench-omp $(ARGS) && exit $$first
bench-vm: deps all
	@$(TEST_ENV) tests/bench/bench-vm
bench-policy: deps all $(WORKLOADS)
	@$(TEST_ENV) tests/bench/bench-policy --out build/bench-policy.json
bench-real: deps all
	@$(TEST_ENV) tests/bench/bench-real --json build/bench-real.json $(ARGS)

# --- lint -----------------------------------------------------------------------------------------

LINTS := layers format cppcheck shell sizes asserts words man docs
lint_layers = $(O)
lint_man = $(MAN_PAGES)
.PHONY: lint $(LINTS:%=lint-%)
lint: deps all $(MAN_PAGES)
	@failed=; $(foreach l,$(LINTS),tests/lint/$(l) $(lint_$(l)) || failed="$$failed $(l)";) \
	 if [ -n "$$failed" ]; then echo "lint: failed:$$failed"; exit 1; else echo 'lint: clean'; fi
$(LINTS:%=lint-%): all $(MAN_PAGES)
	@tests/lint/$(@:lint-%=%) $(lint_$(@:lint-%=%))

# --- installation ---------------------------------------------------------------------------------

LIBDIR := $(PREFIX)/lib/schedgov
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
DOCDIR ?= $(PREFIX)/share/doc/schedgov
MANDIR ?= $(PREFIX)/share/man
BASH_COMPLETION_DIR ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETION_DIR ?= $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
DBUS_SERVICES_DIR ?= $(PREFIX)/share/dbus-1/system-services
# These are looked for in one place only, whatever the prefix: by the daemon, the bus, polkit and fish.
VENDOR_CONF_DIR ?= /usr/lib/schedgov
DBUS_POLICY_DIR ?= /usr/share/dbus-1/system.d
POLKIT_DIR ?= /usr/share/polkit-1/actions
FISH_COMPLETION_DIR ?= /usr/share/fish/vendor_completions.d
CONF_FILES := $(shell find conf -type f -not -name '.*' 2>/dev/null)

# What the manual refers to, and other pages for users.
GUIDES := adoption cgroups metrics policies progress simulate

UNITS := $(O)/units/schedgovd.service $(O)/units/schedgov-launch.service units/schedgov-launch.socket \
         units/schedgov.slice
USER_UNITS := $(O)/units/user/schedgovd.service
$(O)/units/%: units/%.in $(FLAGS_STAMP)
	@mkdir -p $(@D)
	@sed 's,@SBINDIR@,$(PREFIX)/sbin,g; s,@BINDIR@,$(PREFIX)/bin,g; s,@LIBDIR@,$(LIBDIR),g' $< >$@

$(O)/%.pc: lib/client/%.pc.in lib/proto/names.h $(FLAGS_STAMP)
	@version=$$(sed -n 's/^#define SG_VERSION "\(.*\)"/\1/p' lib/proto/names.h); \
	 sed "s,@PREFIX@,$(PREFIX),; s,@USRLIBDIR@,$(USRLIBDIR),; s,@VERSION@,$$version," $< >$@

# MODE:FILE:WHERE, for both ways.
INSTALLED := 0755:$(O)/schedgovd:$(PREFIX)/sbin/schedgovd 0755:$(O)/schedctl:$(PREFIX)/bin/schedctl \
        0755:$(O)/schedgov-shim:$(LIBDIR)/schedgov-shim 0755:$(O)/schedgov-launch:$(LIBDIR)/schedgov-launch \
        $(foreach u,$(UNITS),0644:$(u):$(UNITDIR)/$(notdir $(u))) \
        $(foreach u,$(USER_UNITS),0644:$(u):$(USERUNITDIR)/$(notdir $(u))) \
        0644:units/sysusers.conf:$(SYSUSERSDIR)/schedgov.conf 0644:units/tmpfiles.conf:$(TMPFILESDIR)/schedgov.conf \
        0644:ctl/complete/schedctl.bash:$(BASH_COMPLETION_DIR)/schedctl 0644:ctl/complete/schedctl.zsh:$(ZSH_COMPLETION_DIR)/_schedctl \
        0644:ctl/complete/schedctl.fish:$(FISH_COMPLETION_DIR)/schedctl.fish \
        0644:units/org.schedgov1.conf:$(DBUS_POLICY_DIR)/org.schedgov1.conf \
        0644:units/org.schedgov1.service:$(DBUS_SERVICES_DIR)/org.schedgov1.service \
        0644:units/org.schedgov1.policy:$(POLKIT_DIR)/org.schedgov1.policy \
        $(foreach p,$(MAN_PAGES),0644:$(p):$(MANDIR)/man$(patsubst .%,%,$(suffix $(p)))/$(notdir $(p))) \
        $(foreach f,$(CONF_FILES),0644:$(f):$(VENDOR_CONF_DIR)/$(f:conf/%=%)) \
        $(foreach l,$(LIBRARIES),0644:$(l):$(USRLIBDIR)/$(notdir $(l))) \
        0644:$(O)/schedgov.pc:$(USRLIBDIR)/pkgconfig/schedgov.pc 0644:lib/client/schedgov.h:$(PREFIX)/include/schedgov.h \
        0644:lib/client/schedgov.py:$(PYTHONDIR)/schedgov.py \
        $(foreach e,$(wildcard examples/*.py),0644:$(e):$(DOCDIR)/$(e)) \
        $(foreach g,$(GUIDES),0644:docs/$(g).md:$(DOCDIR)/$(g).md)
LINKED := $(USRLIBDIR)/libschedgov.so
OWN_DIRS := $(DOCDIR)/examples $(DOCDIR) $(VENDOR_CONF_DIR)/policy.d $(VENDOR_CONF_DIR) $(LIBDIR)
# By a rename: programs of running jobs start all the time, and have the library of that moment preloaded.
put = install -D -m $(word 1,$(1)) $(word 2,$(1)) $(DESTDIR)$(word 3,$(1)).new && mv -f $(DESTDIR)$(word 3,$(1)).new $(DESTDIR)$(word 3,$(1))
where = $(DESTDIR)$(word 3,$(subst :, ,$(1)))
define newline


endef

.PHONY: man install uninstall
man: $(MAN_PAGES)
install: all man $(UNITS) $(USER_UNITS) $(O)/schedgov.pc
	$(foreach i,$(INSTALLED),@$(call put,$(subst :, ,$(i)))$(newline)	)
	@ln -sf $(notdir $(CLIENT_SO)) $(DESTDIR)$(LINKED)
uninstall:
	rm -f $(foreach i,$(INSTALLED),$(call where,$(i))) $(DESTDIR)$(LINKED)
	@rmdir --ignore-fail-on-non-empty $(wildcard $(OWN_DIRS:%=$(DESTDIR)%)) 2>/dev/null || true

# --- Debian packages ------------------------------------------------------------------------------

# Of a copy, since debhelper works where the sources are. Its objects stay: what hasn't changed isn't
# compiled again. Our tests are run by `make check`, so not here, too.
DEB := build/deb
DEB_SOURCES := Makefile LICENSE README.md conf ctl daemon debian docs examples lib units
.PHONY: deb
deb: $(DEB)/.made
$(DEB)/.made: $(shell find $(DEB_SOURCES) -type f 2>/dev/null) | deps
	@mkdir -p $(DEB)/source && rm -f $(DEB)/*.deb
	@find $(DEB)/source -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	@tar -c $(DEB_SOURCES) | tar -x -C $(DEB)/source
	@echo '  DEB   $(DEB)'; cd $(DEB)/source && \
	 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL DEB_BUILD_OPTIONS='nocheck noautodbgsym' \
	 dpkg-buildpackage -us -uc -b -nc -Jauto -Pnocheck >../log 2>&1 || { tail -n 40 ../log; exit 1; }
	@touch $@

.PHONY: clean help
clean:
	rm -rf build
help:
	@sed -n 's/^#h //p' $(firstword $(MAKEFILE_LIST))

#h make                 the programs, in build/release
#h make check           all tests; the last line is "N passed, N failed"
#h make check-unit      unit tests and the fuzzers' corpora only
#h make check-vm        those in QEMU guests only; SKIP_VM=1 leaves them out, here and in check
#h make kills           1,000 kill -9 at random under load (SG_KILLS=), and what was lost: nothing
#h make soak            20 minutes of mixed load (SG_SOAK_SECONDS=): is anything lost, doubled, left, growing?
#h make demo            three training jobs under three policies, live, within 90 seconds
#h make pictures        those of the README, from live runs
#h make bench-against   BUILD=: launch, loop and monitor in turns with another build, and the ratios
#h make bench-launch    what a job's start costs, next to its peers
#h make bench-loop      a step of each policy, and from a job's start or end to changed weights
#h make bench-loop-vm   the latter under systemd in a guest, next to one SetUnitProperties
#h make bench-monitor   what it costs to watch jobs: samples, logs, the whole governor, next to peers
#h make bench-siege     what a user waits at most while four others attack for SG_SIEGE_SECONDS (120)
#h make bench-sim       how fast policies are simulated: 300 instances of 15 jobs each
#h make bench-parse     how fast logs are read, next to regexec(3)
#h make bench-omp       OpenMP programs: under a quota, two of which one comes later, and alone; beside fixed threads
#h make bench-policy    training jobs under each share policy, on one CPU; SG_BENCH_SCALE=, SG_BENCH_REPEAT=
#h make bench-real      real training scripts that arrive together, without and with a governor: SG_ROUNDS=, SG_SEED=, ARGS=
#h make bench-vm        what bench-launch measures, under systemd in a guest, next to systemd-run
#h make lint            layers, format, cppcheck, shellcheck, sizes, assertions, words, man pages, and what they say
#h make fuzz            every fuzzer for FUZZ_SECONDS (120), as many at a time as there are CPUs
#h make coverage        the tests with gcov, and lines covered by folder
#h make man             manual pages, in build/man
#h make install         PREFIX=/usr/local DESTDIR=; `make uninstall` takes it back
#h make deb             Debian packages, in build/deb
#h make deps            the Debian packages for all of this; check, demo, … call it for theirs
#h
#h VARIANT=release|debug|asan|tsan|cov|fuzz builds in build/$VARIANT; CI=1 makes warnings errors;
#h INTEGRATION_TESTS="tests/integration/x …" runs only those, VM_TESTS= likewise;
#h SG_ALLOW_SKIP=1 forgives skipped ones.
