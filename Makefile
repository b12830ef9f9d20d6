# SPDX-License-Identifier: GPL-2.0-or-later
# Each line calls the lab. SCENARIO=geo TRIALS=6 DURATION=30 JOBS=2 choose.
SCENARIO ?= geo
lab := scripts/lab
options := $(if $(TRIALS),--trials $(TRIALS)) $(if $(DURATION),--duration $(DURATION)) $(if $(JOBS),--jobs $(JOBS))

sanitized := $(patsubst %,lab/tests/test_%.py,kunit sender_matrix failslab hardships crowd modules)

.PHONY: experiment test test-sanitize setup report bench bench-senders bench-versions bench-kernels bench-replay check doctor lint lock clean

experiment: setup ; @$(lab) run $(SCENARIO) $(options)
test: setup lint ; @$(lab) kernel build && scripts/python -m pytest -n auto --dist loadfile
test-sanitize: setup ; @$(lab) kernel build --sanitize && LAB_TEST_KERNEL=sanitize scripts/python -m pytest -n auto --dist loadfile $(sanitized)
setup: ; @scripts/setup
report: setup ; @$(lab) report results/$(SCENARIO)/latest
bench: setup ; @$(lab) bench
bench-senders: setup ; @scripts/python -m lab.bench_senders
bench-versions: setup ; @scripts/python -m lab.bench_versions $(BENCH)
bench-kernels: setup ; @scripts/python -m lab.kernel.table
bench-replay: setup ; @scripts/python -m lab.bench_replay $(BENCH)
check: setup ; @$(lab) check
doctor: setup ; @$(lab) doctor
lint: setup ; @scripts/python -m ruff check . && scripts/python -m mypy
lock: setup ; @scripts/lock
clean: setup ; @$(lab) clean
