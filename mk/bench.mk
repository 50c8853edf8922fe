# Benchmarks and demonstrations. A new one is a paragraph here, and nothing elsewhere: its line of `make help`, its name in
# RUNS, what tests/deps brings for it on a fresh machine, and how it is built and run.

#h make demo            three training jobs under three policies, live, within 90 seconds
RUNS += demo
NEEDS_demo := build demo
demo: all $(WORKLOADS)
	@$(TEST_ENV) tests/demo/demo

#h make pictures        those of the README, from live runs
RUNS += pictures
NEEDS_pictures := build check pictures
# (the screen is tmux's)
pictures: all $(WORKLOADS)
	@$(TEST_ENV) tests/demo/screenshot >build/top.svg && mv build/top.svg docs/top.svg
	@$(TEST_ENV) SG_DEMO_SVG=docs/demo.svg tests/demo/demo

#h make bench-against   BUILD=: launch, loop and monitor in turns with another build, and the ratios
RUNS += bench-against
NEEDS_bench-against := build check bench
bench-against: all $(BENCHES) $(WORKLOADS)
	@$(TEST_ENV) tests/bench/bench-against $(or $(BUILD),$(error BUILD=…/build/release of a checkout of before)) $(ROUNDS)

#h make bench-gpu-start what a GPU adds to a job's start
RUNS += bench-gpu-start
NEEDS_bench-gpu-start := build check
bench-gpu-start: all $(FAKE_NVML)
	@$(TEST_ENV) tests/bench/bench-gpu-start

#h make bench-gpu       what it costs to ask for eight GPUs
RUNS += bench-gpu
NEEDS_bench-gpu := build check
bench-gpu: all $(FAKE_NVML)
	@$(TEST_ENV) tests/bench/bench-gpu $(ARGS)

#h make bench-launch    what a job's start costs, next to its peers
RUNS += bench-launch
NEEDS_bench-launch := build bench
bench-launch: all $(WORKLOADS) $(BENCHES)
	@$(TEST_ENV) tests/bench/bench-launch

#h make bench-loop      a step of each policy, and from a job's start or end to changed weights
RUNS += bench-loop
NEEDS_bench-loop := build check
bench-loop: all $(O)/tests/bench/bench_governor
	@$(O)/tests/bench/bench_governor && $(TEST_ENV) tests/bench/bench-loop

#h make bench-loop-vm   the latter under systemd in a guest, next to one SetUnitProperties
RUNS += bench-loop-vm
NEEDS_bench-loop-vm := build vm
bench-loop-vm: all $(O)/tests/workloads/busprobe
	@$(TEST_ENV) tests/bench/bench-loop-vm

#h make bench-monitor   what it costs to watch jobs: samples, logs, the whole governor, next to peers
RUNS += bench-monitor
NEEDS_bench-monitor := build bench
bench-monitor: all $(BENCHES)
	@$(TEST_ENV) tests/bench/bench-monitor; first=$$?; $(TEST_ENV) tests/bench/bench-watch && exit $$first

#h make bench-siege     what a user waits at most while four others attack for SG_SIEGE_SECONDS (120)
RUNS += bench-siege
NEEDS_bench-siege := build check
bench-siege: all $(WORKLOADS)
	@$(TEST_ENV) SG_SIEGE_BENCH=1 SG_SIEGE_SECONDS=$(or $(SG_SIEGE_SECONDS),120) tests/integration/siege

#h make bench-sim       how fast policies are simulated: 300 instances of 15 jobs each
RUNS += bench-sim
NEEDS_bench-sim := build bench
bench-sim: $(O)/schedctl
	@$(TEST_ENV) tests/bench/bench-sim

#h make bench-parse     how fast logs are read, next to regexec(3)
RUNS += bench-parse
NEEDS_bench-parse := build bench
bench-parse: $(O)/tests/bench/bench_parse
	@$(O)/tests/bench/bench_parse

#h make bench-gpu-place how long one job's GPUs are looked for, on 16 GPUs and 64 MIG instances; and what placement is worth
RUNS += bench-gpu-place
NEEDS_bench-gpu-place := build check bench
bench-gpu-place: $(O)/tests/bench/bench_gpu_place $(O)/tests/unit/core/gpu/test_place_table
	@$(O)/tests/bench/bench_gpu_place && $(O)/tests/unit/core/gpu/test_place_table

#h make bench-omp       OpenMP programs: under a quota, two of which one comes later, and alone; beside fixed threads
RUNS += bench-omp
NEEDS_bench-omp := build check
bench-omp: all
	@$(TEST_ENV) tests/integration/omp-quota 9; first=$$?; $(TEST_ENV) tests/bench/bench-omp $(ARGS) && exit $$first

#h make bench-policy    training jobs under each share policy, on one CPU; SG_BENCH_SCALE=, SG_BENCH_REPEAT=
RUNS += bench-policy
NEEDS_bench-policy := build check
bench-policy: all $(WORKLOADS)
	@$(TEST_ENV) tests/bench/bench-policy --out build/bench-policy.json

#h make bench-real      real training scripts that arrive together, without and with a governor: SG_ROUNDS=, SG_SEED=, ARGS=
RUNS += bench-real
NEEDS_bench-real := build real
bench-real: all
	@$(TEST_ENV) tests/bench/bench-real --json build/bench-real.json $(ARGS)

#h make bench-vm        what bench-launch measures, under systemd in a guest, next to systemd-run
RUNS += bench-vm
NEEDS_bench-vm := build vm
bench-vm: all
	@$(TEST_ENV) tests/bench/bench-vm

.PHONY: $(RUNS)
$(RUNS): deps
