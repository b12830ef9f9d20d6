# SPDX-License-Identifier: GPL-2.0-or-later
# Each target calls the lab (docs/contributing/tests.md). Options of `make experiment`: SCENARIO=geo TRIALS=6 DURATION=30 SEED=1
# JOBS=2, BACKEND=virtual|host|vm, ENGINE=netns|containerlab|mininet|pair, SHAPER=replay|netem, RESUME=1 (continue the
# last unfinished run).
# Instead of a scenario: PROFILE=geo-viasat CCA=search,cubic TOPOLOGY=path. Of `make reproduce`: QUICK=1 NO_PCAP=1 JOBS=2
# MIRROR=folder-of-recordings CLAIM=C3 (what one claim of ARTIFACT.md needs). Of `make setup`: BUNDLE=FILE. Of `make provision`: HOST=user@machine.
SCENARIO ?= geo
lab := scripts/lab
experiment := $(if $(PROFILE)$(CCA),$(if $(PROFILE),--profile $(PROFILE)) $(if $(CCA),--cca $(CCA)),$(SCENARIO))
folder := $(if $(PROFILE),try-$(basename $(notdir $(PROFILE))),$(SCENARIO))$(if $(filter netem,$(SHAPER)),-netem)
options := $(if $(TRIALS),--trials $(TRIALS)) $(if $(DURATION),--duration $(DURATION)) $(if $(JOBS),--jobs $(JOBS))
options += $(if $(SEED),--seed $(SEED)) $(if $(TOPOLOGY),--topology $(TOPOLOGY))
options += $(if $(BACKEND),--backend $(BACKEND)) $(if $(ENGINE),--engine $(ENGINE)) $(if $(SHAPER),--shaper $(SHAPER)) $(if $(RESUME),--resume)

sanitized := $(patsubst %,tests/kernel/test_%.py,kunit hardships stress)

# These need more than a bundle brings: Python packages of the tests and tools, and so the network.
test test-fast test-sanitize test-hostile mutants lint lint-ansible lock docs notebook setup-vm box image test-vm test-fresh bundle test-bundle: export LAB_SETUP = whole

.PHONY: same sample test-course
.PHONY: experiment test test-fast test-sanitize test-hostile setup reproduce verify evaluate page report check doctor lint lock clean docs
.PHONY: artifact kick-tires bundle test-bundle mutants bench bench-senders bench-kernels bench-replay bench-reproduce
.PHONY: bench-truths bench-geo-recorded bench-short-flows bench-family bench-search bench-try bench-shapers bench-same-exit bench-whatif bench-break-mutants
.PHONY: setup-vm box image vm provision agree notebook test-vm test-fresh lint-ansible

experiment: setup ; @$(lab) run $(experiment) $(options)
# test: everything; with CI=1 a test that cannot run fails it, else one line counts those. test-fast: the unit folders, with a tenth of the fuzzing.
test: setup lint ; @scripts/setup-tests && $(lab) kernel build && scripts/python -m pytest -n auto --dist loadfile
test-fast: setup ; @scripts/setup-tests fast && LAB_TEST_FAST=1 PYTHONDONTWRITEBYTECODE= scripts/python -m pytest -n auto --dist loadfile tests/unit packages/*/tests/unit bench/tests/unit
test-sanitize: setup ; @$(lab) kernel build --sanitize && LAB_TEST_KERNEL=sanitize scripts/python -m pytest --strict-skips -n auto --dist loadfile $(sanitized) && scripts/python -m pytest --strict-skips -n auto packages/try/tests/kernel/test_own_module.py
# test-hostile: fuzzing of every reader, and odd conditions, under 10 minutes; EXAMPLES=1000000 is the long form, SEED=... repeats one.
test-hostile: setup ; @$(lab) kernel build && scripts/python -m tests.hostile $(EXAMPLES) $(SEED)
# mutants: do the tests notice small changes of the program? A day; BENCH="'lab.judge.*'": of a room; BENCH=--kernel: of the C
mutants: setup ; @scripts/mutants $(BENCH)
# setup: BUNDLE=FILE installs from that file, without network, root and build (docs/bundle.md)
setup: ; @scripts/setup
# bundle: FILE=search-lab.bundle WHEELS=3.13 (their Python; default: this one) QUIC=1 (with the QUIC programs): all that the lab builds and downloads, in one file
bundle: setup ; @$(lab) kernel build && $(lab) bundle make $(or $(FILE),search-lab.bundle) --with recordings,wheels$${QUIC:+,quic} $(if $(WHEELS),--python $(WHEELS))
# test-course: every solution, starting point, mistake and cheat of the course, graded by real kernels; ASSIGNMENTS=3
test-course: setup ; @$(lab) kernel build && $(lab) course check $(if $(ASSIGNMENTS),--assignments $(ASSIGNMENTS)) $(if $(JOBS),--jobs $(JOBS))
test-bundle: setup ; @$(lab) kernel build && scripts/test-bundle $(FILE)
reproduce: setup ; @$(lab) reproduce $(if $(CLAIM),--claim $(CLAIM)) $(if $(QUICK),--quick) $(if $(JOBS),--jobs $(JOBS)) $(if $(NO_PCAP),--no-pcap) $(if $(MIRROR),--mirror $(MIRROR))
# artifact: what a reviewer and an archive need, in results/artifact/; BUNDLE=FILE puts that bundle into it
artifact: ; @BUNDLE= scripts/setup && $(lab) artifact $(if $(BUNDLE),--bundle $(BUNDLE))
# kick-tires: does the lab work here? One trial over each kind of link, then half of same; under 5 minutes
kick-tires: setup ; @$(lab) kick-tires
# same: are packets and tables those of reference/? sample: analysis/sample and the README's picture, from the present commit
same: setup ; @$(lab) same $(if $(JOBS),--jobs $(JOBS))
sample: setup ; @scripts/setup-tests && scripts/sample
verify: setup ; @$(lab) verify
evaluate: setup ; @$(lab) evaluate
page: setup ; @$(lab) page
bench-reproduce: setup ; @scripts/python -m bench.reproduce
report: setup ; @$(lab) report results/$(folder)/latest
# bench: what trials cost in processor seconds, by phase, beside the stored figures; BENCH=10: virtual seconds of the GEO trial
bench: setup ; @scripts/python -m bench.speed $(BENCH)
bench-try: setup ; @$(lab) kernel build && scripts/python -m bench.try_own
# bench-short-flows: what an exit costs web pages, video and calls; runs what is not stored
bench-short-flows: setup ; @scripts/python -m bench.short_flows $(BENCH)
# bench-geo-recorded: recorded GEO downloads beside emulated ones; BENCH=FOLDER: with the logs in it
bench-geo-recorded: setup ; @scripts/python -m bench.geo_recorded $(BENCH)
# bench-family: the start-up family ranked over every kind of link; BENCH="--trials 6 --links geo,leo"
bench-family: setup ; @scripts/python -m bench.family $(BENCH)
# bench-search: the open questions about SEARCH; runs what is not stored. BENCH=NAME...: these alone
bench-search: setup ; @scripts/python -m bench.questions $(BENCH)
bench-senders: setup ; @scripts/python -m bench.senders
# bench-truths: shares by both truths of every stored scenario; lab reproduce makes them
bench-truths: setup ; @scripts/python -m bench.truths
# bench-kernels: where CUBIC's HyStart leaves on each kernel of Debian; BENCH="6.12": on these alone
bench-kernels: setup ; @scripts/python -m bench.kernels $(BENCH)
# bench-same-exit: core, modules, QUIC and BPF on the same recorded ACKs; a stock kernel in QEMU
bench-same-exit: setup-vm ; @$(lab) kernel build && scripts/python -m bench.same_exit $(BENCH)
bench-replay: setup ; @scripts/python -m bench.replay $(BENCH)
# bench-shapers: both shapers, the lab's qdiscs and tc alone, on the same links and trials
bench-shapers: setup ; @scripts/python -m bench.shapers
# bench-whatif: how often ranges of lab whatif hold the truth; BENCH="2 wired-clean": two draws of one link
bench-whatif: setup ; @scripts/python -m bench.whatif $(BENCH)
# bench-break-mutants: how soon lab break finds faults
bench-break-mutants: setup ; @scripts/python -m bench.break_mutants $(BENCH)
check: setup ; @$(lab) check
doctor: setup ; @$(lab) doctor
lint: setup ; @scripts/lint
lint-ansible: setup ; @PATH=$(CURDIR)/.venv/bin:$$PATH ansible-lint --nocolor -q --profile production --offline ansible/
lock: setup ; @scripts/lock
clean: setup ; @$(lab) clean

setup-vm: setup ; @scripts/setup-vm
box: setup-vm ; @$(lab) box build
image: setup ; @$(lab) image build
vm: setup-vm ; @vagrant up
provision: setup-vm ; @scripts/provision $(HOST)
agree: setup ; @$(lab) agree
docs: setup ; @scripts/setup docs && scripts/docs
notebook: setup ; @scripts/notebook
test-vm: setup-vm ; @scripts/test-vm
test-fresh: setup ; @scripts/test-fresh
