# SPDX-License-Identifier: GPL-2.0-or-later
# Each line calls the lab. SCENARIO=geo TRIALS=6 DURATION=30 JOBS=2 choose; QUICK=1 NO_PCAP=1 of reproduce.
SCENARIO ?= geo
lab := scripts/lab
options := $(if $(TRIALS),--trials $(TRIALS)) $(if $(DURATION),--duration $(DURATION)) $(if $(JOBS),--jobs $(JOBS))

.PHONY: experiment test setup reproduce verify evaluate page bench-reproduce report bench bench-senders bench-replay check doctor lint lock clean

experiment: setup ; @$(lab) run $(SCENARIO) $(options)
test: setup lint ; @scripts/setup-browser && $(lab) kernel build && scripts/python -m pytest -n auto --dist loadfile
setup: ; @scripts/setup
reproduce: setup ; @$(lab) reproduce $(if $(QUICK),--quick) $(if $(JOBS),--jobs $(JOBS)) $(if $(NO_PCAP),--no-pcap)
verify: setup ; @$(lab) verify
evaluate: setup ; @$(lab) evaluate
bench-reproduce: setup ; @scripts/python -m lab.bench_reproduce
page: setup ; @$(lab) page
report: setup ; @$(lab) report results/$(SCENARIO)/latest
bench: setup ; @$(lab) bench
bench-senders: setup ; @scripts/python -m lab.bench_senders
bench-replay: setup ; @scripts/python -m lab.bench_replay $(BENCH)
check: setup ; @$(lab) check
doctor: setup ; @$(lab) doctor
lint: setup ; @scripts/python -m ruff check . && scripts/python -m mypy
lock: setup ; @scripts/lock
clean: setup ; @$(lab) clean
