# schedgov: see `make help`. One Makefile, no recursion but for the variants that tests compare.

VARIANT ?= release
O := build/$(VARIANT)
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
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
CPPFLAGS_ALL := -D_GNU_SOURCE -Ilib -Idaemon -I.
CFLAGS_ALL := -std=gnu11 -g $(WARN) -fno-common -ffunction-sections -fdata-sections -fvisibility=hidden
LDFLAGS_ALL := -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
STATIC := -static

ifeq ($(VARIANT),release)
CFLAGS_ALL += -O2 $(HARDEN) -D_FORTIFY_SOURCE=2
else ifeq ($(VARIANT),debug)
CFLAGS_ALL += -O1 $(HARDEN) -DSG_FAULTS
else ifeq ($(VARIANT),asan)
CFLAGS_ALL += -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSG_FAULTS
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
CFLAGS_ALL += -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
LDFLAGS_ALL += -fsanitize=address,undefined
STATIC :=
else
$(error VARIANT=$(VARIANT): use release, debug, asan, tsan, cov or fuzz)
endif

# --- what is built --------------------------------------------------------------------------------

BASE_SRC := $(wildcard lib/base/*.c)
PROTO_SRC := $(wildcard lib/proto/*.c)
CORE_SRC := $(wildcard daemon/core/*.c)
EDGE_SRC := $(wildcard daemon/edge/*.c)
DAEMON_SRC := $(wildcard daemon/*.c)
SHIM_SRC := $(wildcard daemon/shim/*.c)
CTL_SRC := $(wildcard ctl/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
WORK_SRC := $(wildcard tests/workloads/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
BASE_LIB := $(O)/libbase.a
CORE_LIB := $(O)/libcore.a
EDGE_LIB := $(O)/libedge.a

EDGE_PKGS := libsystemd libcgroup sqlite3 inih jansson
CTL_PKGS := libsystemd jansson
EDGE_LIBS = $(call pkg,libs,$(EDGE_PKGS))
CTL_LIBS = $(call pkg,libs,$(CTL_PKGS))

PROGRAMS := $(if $(DAEMON_SRC),$(O)/schedgovd) $(if $(SHIM_SRC),$(O)/schedgov-shim) $(if $(CTL_SRC),$(O)/schedctl)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(UNIT_SRC))
WORKLOADS := $(patsubst tests/workloads/%.c,$(O)/tests/workloads/%,$(WORK_SRC))
BENCHES := $(patsubst tests/bench/%.c,$(O)/tests/bench/%,$(BENCH_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%,$(FUZZ_SRC))

.PHONY: all
all: $(PROGRAMS) $(WORKLOADS)

# A change of flags rebuilds: the stamp's content is what the objects were made with.
FLAGS_STAMP := $(O)/.flags
FLAGS_NOW := $(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(CFLAGS_ALL) $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS)
.PHONY: FORCE
$(FLAGS_STAMP): FORCE
	@mkdir -p $(@D); echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' >$@

$(O)/obj/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(CFLAGS_ALL) $(CFLAGS) -MMD -MP -c -o $@ $<

archive = @echo '  AR    $@'; rm -f $@; ar rcs $@ $^
link = @mkdir -p $(@D); echo '  LD    $@'; \
       $(CC) $(CFLAGS_ALL) $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)

$(BASE_LIB): $(call obj,$(BASE_SRC) $(PROTO_SRC))
	$(archive)
$(CORE_LIB): $(call obj,$(CORE_SRC))
	$(archive)
$(EDGE_LIB): $(call obj,$(EDGE_SRC))
	$(archive)

$(O)/schedgovd: $(call obj,$(DAEMON_SRC)) $(EDGE_LIB) $(CORE_LIB) $(BASE_LIB)
	$(link) $(EDGE_LIBS) -lm
$(O)/schedgov-shim: $(call obj,$(SHIM_SRC)) $(BASE_LIB)
	$(link) $(STATIC)
$(O)/schedctl: $(call obj,$(CTL_SRC)) $(BASE_LIB)
	$(link) $(CTL_LIBS)

$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(EDGE_LIB) $(CORE_LIB) $(BASE_LIB)
	$(link) $(EDGE_LIBS) -lcmocka -lm
$(O)/tests/workloads/%: $(O)/obj/tests/workloads/%.o
	$(link) -lm
$(O)/tests/bench/%: $(O)/obj/tests/bench/%.o $(BASE_LIB)
	$(link) $(CTL_LIBS) -lm
$(O)/tests/fuzz/%: $(O)/obj/tests/fuzz/%.o $(EDGE_LIB) $(CORE_LIB) $(BASE_LIB)
	$(link) -fsanitize=fuzzer $(EDGE_LIBS) -lm

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
.SECONDARY:

.PHONY: clean
clean:
	rm -rf build
