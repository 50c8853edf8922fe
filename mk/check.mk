# Tests and lints. A goal's line of `make help` begins with #h; NEEDS_GOAL is what tests/deps brings for it on a fresh machine.

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

#h make check           all tests; the last line is "N passed, N failed"
#h make check-unit      unit tests and the fuzzers' corpora only
#h make check-vm        those in QEMU guests only; SKIP_VM=1 leaves them out, here and in check
NEEDS_check := build check
NEEDS_check-unit := build check
NEEDS_check-vm := build check
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
#h make kills           1,000 kill -9 at random under load (SG_KILLS=), and what was lost: nothing
NEEDS_kills := build check
.PHONY: kills
kills: deps all $(WORKLOADS)
	@$(TEST_ENV) SG_KILLS=$(or $(SG_KILLS),1000) tests/run tests/integration/crash-random

# Mixed load, kills, changes of policy: SG_SOAK_SECONDS (1200), SG_SEED; tests/soak/soak says the rest.
#h make soak            20 minutes of mixed load (SG_SOAK_SECONDS=): is anything lost, doubled, left, growing?
NEEDS_soak := build check
.PHONY: soak
soak: deps all $(WORKLOADS)
	@$(TEST_ENV) tests/soak/soak --json build/soak.json

#h make fuzz            every fuzzer for FUZZ_SECONDS (120), as many at a time as there are CPUs
NEEDS_fuzz := build fuzz
FUZZ_SECONDS ?= 120
.PHONY: fuzz
ifeq ($(VARIANT),fuzz)
fuzz: deps $(FUZZERS)
	@printf '%s\n' $(FUZZERS) | xargs -P "$$(nproc)" -I '{}' tests/fuzz/run '{}' $(FUZZ_SECONDS)
else
fuzz: deps
	+@$(MAKE) --no-print-directory VARIANT=fuzz fuzz
endif

#h make coverage        the tests with gcov, and lines covered by folder
NEEDS_coverage := build check
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

# --- lint -----------------------------------------------------------------------------------------

#h make lint            layers, format, cppcheck, shellcheck, sizes, assertions, words, man pages, and what they say
NEEDS_lint := build lint
LINTS := layers format cppcheck shell sizes asserts words man docs
lint_layers = $(O)
lint_man = $(MAN_PAGES)
.PHONY: lint $(LINTS:%=lint-%)
lint: deps all $(MAN_PAGES)
	@failed=; $(foreach l,$(LINTS),tests/lint/$(l) $(lint_$(l)) || failed="$$failed $(l)";) \
	 if [ -n "$$failed" ]; then echo "lint: failed:$$failed"; exit 1; else echo 'lint: clean'; fi
$(LINTS:%=lint-%): all $(MAN_PAGES)
	@tests/lint/$(@:lint-%=%) $(lint_$(@:lint-%=%))
