# The two commands: `make run` shows Trainyard at work, `make test` proves it.
# Everything is built under build/<preset>; `make help` lists the rest.

# As many compilers as there are processors, and a gigabyte of memory for each.
JOBS ?= $(shell awk -v cores="$$(nproc)" '/^MemAvailable/ {n = int($$2 / 1e6); if (n > cores) n = cores; print n < 1 ? 1 : n}' /proc/meminfo)
PRESET ?= release
SEEDS ?= 100000
SECONDS ?= 60
MINUTES ?= 10
RELEASE := build/release
CXX_FILES = $(shell git ls-files '*.cc' '*.h' | grep -v /bad_sample/)

.DEFAULT_GOAL := help
.PHONY: run test test-clients test-cluster test-tensorflow test-sanitizers test-mutants bench fuzz soak format lint build clean help

help:
	@echo 'make run               install what is missing, build, run a distributed training job to its end (TF=1: with TensorFlow)'
	@echo 'make test              install what is missing, build, run every test that needs no other toolchain'
	@echo 'make test-clients      kubectl 1.33, the official Python client and the kubeflow-training SDK against a plane'
	@echo 'make test-cluster      the operator and the scheduler on a real Kubernetes API server, with simulated nodes'
	@echo 'make test-tensorflow   the examples with real TensorFlow'
	@echo 'make test-sanitizers   address and undefined-behaviour sanitizers on the tests of every room, the thread sanitizer on those with threads'
	@echo 'make test-mutants      build the deliberate defects of tests/mutants; the tests must catch each'
	@echo 'make soak SEEDS=n MINUTES=m  simulate n seeds (default $(SEEDS)), then kill -9 a loaded plane for m minutes (default $(MINUTES))'
	@echo 'make fuzz SECONDS=n    run each fuzz target for n seconds (default $(SECONDS); needs clang)'
	@echo 'make bench             measure'
	@echo 'make build PRESET=p    build only; presets: release debug asan tsan fuzz'
	@echo 'make format            rewrite all sources with clang-format'
	@echo 'make lint              clang-format and clang-tidy, complaining only'
	@echo 'make clean             remove build/'

build:
	@tools/setup
	@tools/build $(PRESET) $(JOBS)

run:
	@tools/setup
	@tools/build release $(JOBS) trainyard
	@tools/demo $(RELEASE)/trainyard

test:
	@tools/setup test
	@tools/build release $(JOBS)
	@tools/run-tests release $(JOBS)

test-clients:
	@tools/setup test
	@echo 'test-clients: builds kubectl from Go modules once (a Go toolchain; some minutes and 2 GB of caches) and installs the Python clients (77 MB).'
	@tools/build release $(JOBS) trainyard
	@TRAINYARD=$(CURDIR)/$(RELEASE)/trainyard tests/e2e/clients

test-cluster:
	@tools/setup test
	@echo 'test-cluster: builds etcd, Kubernetes 1.33 (K8S=v1.36.3: another), helm and Volcano 1.10 from Go modules once (8 to 30 minutes, 4 GB of caches), then runs ours against them.'
	@tools/build release $(JOBS) trainyard
	@tools/test-cluster $(RELEASE)/trainyard

test-tensorflow:
	@tools/setup test
	@echo 'test-tensorflow: installs TensorFlow 2.15 into a virtual environment once (207 MB to download, 1.3 GB on disk).'
	@tools/build release $(JOBS) trainyard
	@TRAINYARD=$(CURDIR)/$(RELEASE)/trainyard tests/e2e/tensorflow

test-sanitizers:
	@tools/setup test
	@echo 'test-sanitizers: builds what it runs in build/asan and build/tsan (10 minutes and more each from nothing).'
	@tools/sanitize $(JOBS)

test-mutants:
	@tools/setup
	@echo 'test-mutants: builds the tests once per defect in tests/mutants, in build/mutants; each defect must make a test fail.'
	@tests/mutants/run $(JOBS)

bench:
	@tools/setup
	@tools/bench $(JOBS)

fuzz:
	@tools/setup fuzz
	@echo 'fuzz: builds the fuzz targets with clang in build/fuzz and runs each for $(SECONDS) s; findings stay in build/fuzz/findings.'
	@tools/fuzz $(SECONDS) $(JOBS)

soak:
	@tools/setup
	@tools/build release $(JOBS) trainyard
	@MINUTES=$(MINUTES) tools/soak $(RELEASE)/trainyard $(SEEDS) $(JOBS)

format:
	@tools/setup lint
	@clang-format -i $(CXX_FILES)

lint:
	@tools/setup lint
	@tools/lint $(JOBS)

clean:
	rm -rf build
