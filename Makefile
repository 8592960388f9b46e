# The text after two hashes is a target's help; `make` alone prints all of them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

# The Pythons of pyproject.toml, by any of their names: that of .venv, or the first of these that is here.
# Another one: make PYTHON=/path/to/python …
PYTHONS := $(shell sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
TRIED := $(shell for each in .venv/bin/python $(PYTHONS:%=python%) python3 python; do \
	$$each -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(PYTHONS)".split())' 2>/dev/null \
	&& echo $$each && break; done)
PYTHON ?= $(or $(TRIED),python3)
# uv installs where there is one, and gets Python where there is none of these. With pip: make UV= …
UV ?= $(shell command -v uv 2>/dev/null)
FOR_UV := $(if $(filter file,$(origin PYTHON)),$(or $(TRIED),$(firstword $(PYTHONS))),$(PYTHON))
START := $(if $(UV),$(UV) run --quiet --no-project --python $(FOR_UV) python,$(PYTHON))
# A package may be in several indexes, as with pip.
export UV_INDEX_STRATEGY ?= unsafe-best-match
# Another package index for torch, for example PyTorch's own for a CPU build: envs/torch_build.lock is of
# that one. For a further one: make lock TORCH_INDEX=<address>, then make environment TORCH_INDEX=<address>.
TORCH_INDEX ?=

BIN := .venv/bin
INTO = $(if $(UV),$(UV) pip install --python $(1),$(1) -m pip install)
# Prints the folder of a Python's packages.
SITE := -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
PIP := $(call INTO,$(BIN)/python)
INDEX := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
# Nothing but the listed files, whatever an index has under their names.
LOCKED := --no-deps --require-hashes
LOCKS := envs/torch.lock envs/torch_build.lock envs/requirements.lock envs/fairseq.lock

export PIP_DISABLE_PIP_VERSION_CHECK := 1
LOG := .venv/install.log

COMMA := ,
SPACE := $(subst x,,x x)
say = @printf '\n== %s\n' '$(1)'
# What installs writes to a log; where it fails, the end of the log says why.
logged = >$(LOG) 2>&1 || { tail -n 20 $(LOG) >&2; \
	echo "environment: could not install $(1); the reason is above, all of it in $(LOG)$(if $(UV),; with pip: make UV= environment)" >&2; exit 1; }

# Makes an environment that sees the packages of .venv.
define beside
@$(BIN)/python -m venv $(1)
@$(BIN)/python $(SITE) >"$$($(1)/bin/python $(SITE))/fathom.pth"
endef

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Transparent attention and its baseline: encoders of 6 and 20 layers.
FIRST := $(foreach row,plain transparent,$(foreach layers,6 20,transparent_attention/en_de_transformer_$(row)_$(layers)))
AT_DEPTH := --scale deep --seeds 3

.PHONY: reproduce
reproduce: environment ## from text to the first result: 12 trainings, their table and page (ten minutes on two cores)
	$(call say,12 trainings and their scores: about eight minutes on two cores)
	@$(BIN)/fathom run $(FIRST) $(AT_DEPTH)
	$(call say,the table and the page)
	@$(BIN)/fathom table transparent_attention_table1 $(AT_DEPTH) --partial
	@$(BIN)/fathom page transparent_attention --scale deep
	$(call say,what came out)
	@$(BIN)/python -m docs.first_result results

.PHONY: reproduce-all
reproduce-all: environment ## train every run and draw every table and figure at tiny scale (one to three hours on two cores)
	$(call say,every run and table and figure)
	@$(BIN)/fathom run all
	$(call say,what came out)
	@$(BIN)/fathom status

.PHONY: test
test: environment ctranslate2 transformers lint ## lint and all tests: first by room, then the full chain from text to table
	$(call say,tests)
	$(BIN)/pytest -n 2 --dist worksteal -m 'not pipeline and not slurm'
	$(call say,the full chain)
	$(BIN)/pytest -n 2 --dist loadfile -m pipeline tests/pipeline

.PHONY: fast
fast: environment ctranslate2 transformers ## the quick tests: all but the chain and those that are marked slow
	$(BIN)/pytest -n 2 --dist worksteal -m 'not pipeline and not slow and not slurm'

.PHONY: test-slurm
test-slurm: environment .venv-slurm_official/.complete ## jobs on a real Slurm, which the tests start: needs root, slurm-wlm and munge (minutes)
	$(BIN)/pytest -rs -m 'slurm and not slow' tests/slurm

.PHONY: test-slurm-all
test-slurm-all: environment .venv-slurm_official/.complete ## the same with preemption, a node that goes down, two nodes, accounting
	$(BIN)/pytest -rs -m slurm tests/slurm

.PHONY: lint
lint: environment ctranslate2 transformers ## check style, rules and config; zero findings
	$(call say,lint)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --project pyproject.toml
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/fathom validate

.PHONY: docs
docs: .venv-docs/.complete ## build the site of docs/ in site/, which needs no network to be read
	$(call say,site)
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=lib .venv-docs/bin/python -m mkdocs --quiet build --strict
	@echo "site: $(CURDIR)/site/index.html"

# Its own packages, and those of .venv.
.venv-docs/.complete: envs/docs.lock .venv/.complete
	$(call beside,.venv-docs)
	@$(call INTO,.venv-docs/bin/python) $(LOCKED) -r envs/docs.lock $(call logged,the packages of docs)
	@touch $@

# The official executor for Slurm, beside which nothing else must change.
.venv-slurm_official/.complete: envs/slurm_official.lock .venv/.complete
	$(call beside,.venv-slurm_official)
	@$(call INTO,.venv-slurm_official/bin/python) $(LOCKED) -r envs/slurm_official.lock $(call logged,the official executor)
	@touch $@

.PHONY: freeze
freeze: environment ## after an addition: write what tests compare with, and the numbers of README.md and docs/
	$(BIN)/python -m tests.contracts.freeze $(if $(MOVED),--moved)

.PHONY: bench
bench: environment ## time training and translation against fairseq, in turns, on this CPU (minutes)
	$(BIN)/python -m benchmarks.peer

.PHONY: bench-gpu
bench-gpu: environment ## the same on one CUDA device, at the paper's size (minutes)
	$(BIN)/python -m benchmarks.peer --device cuda training operations

# A Python of that machine, with its own torch, and the folder that benchmarks/first_gpu/build.sh made.
GPU_PYTHON ?= python3
CARRIED ?= .carried
.PHONY: first-gpu
first-gpu: ## try updates, a training and a translation where a GPU, its torch and no network are (half an hour)
	@$(GPU_PYTHON) -m benchmarks.first_gpu --carried $(CARRIED)

.PHONY: bench-fake-cuda
bench-fake-cuda: environment ## estimate how fast each kind of run trains on a GPU, from counts (minutes)
	$(BIN)/python -m benchmarks.fake_cuda

.PHONY: mutants
mutants: environment ## break each equation, and list the test that notices in benchmarks/mutants.csv (long)
	$(BIN)/python benchmarks/mutants.py

.PHONY: environment
environment: .venv/.complete ## build .venv from the locks in envs/

# torch comes first, so that no other package chooses its version, and from the lock that has the file which
# pip takes here: a build for CPUs brings no package of CUDA. The locks list every requirement, so pip
# resolves nothing. READTHEDOCS makes fairseq build without a compiler.
.venv/.complete: $(LOCKS) pyproject.toml
	$(call say,environment 1/5: Python and disk)
	@command -v $(or $(UV),$(PYTHON)) >/dev/null && $(START) -c '' || { echo "environment: no Python starts as $(or $(UV),$(PYTHON)); install Python $(subst $(SPACE),$(COMMA) ,$(PYTHONS)) (Debian, Ubuntu: python3-venv) or uv, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(START) envs/doctor.py machine
	@$(if $(UV),$(UV) venv --quiet --seed --allow-existing --python $(FOR_UV) .venv,$(PYTHON) -m venv .venv)
	@$(BIN)/python envs/doctor.py torch $(INDEX) >.venv/torch
	$(call say,environment 2/5: torch)
	@$(PIP) $(LOCKED) $(INDEX) -r "$$(cat .venv/torch)" $(call logged,torch)
	$(call say,environment 3/5: the other packages)
	@$(PIP) $(LOCKED) --no-build-isolation -r envs/requirements.lock $(call logged,the other packages)
	$(call say,environment 4/5: fairseq)
	@READTHEDOCS=1 $(PIP) $(LOCKED) --no-cache-dir --no-build-isolation --no-binary fairseq-fixed \
		-r envs/fairseq.lock $(call logged,fairseq)
	$(call say,environment 5/5: fathom)
	@$(PIP) --no-deps --no-build-isolation --editable . $(call logged,fathom)
	@touch $@

.PHONY: ctranslate2
ctranslate2: .venv/.ctranslate2 ## install CTranslate2, for which runs can be exported (43 MB)

.venv/.ctranslate2: envs/ctranslate2.lock .venv/.complete
	$(call say,CTranslate2)
	@$(PIP) $(LOCKED) -r envs/ctranslate2.lock $(call logged,CTranslate2)
	@touch $@

.PHONY: transformers
transformers: .venv/.transformers ## install Hugging Face's transformers, for which runs are exported (22 MB)

.venv/.transformers: envs/transformers.lock .venv/.complete
	$(call say,transformers)
	@$(PIP) $(LOCKED) -r envs/transformers.lock $(call logged,transformers)
	@touch $@

.PHONY: bundle
bundle: environment ctranslate2 transformers ## write fathom-bundle.tar, for ./install-offline on a machine without a network
	@$(BIN)/python envs/bundle.py $(INDEX)

# What a lock has already stays, unless a list says otherwise; for newer versions, delete the lock first.
# One uv for everyone, so that everyone's locks are the same.
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version $(firstword $(PYTHONS)) \
	--generate-hashes --annotation-style line --custom-compile-command 'make lock'
ADDED := ctranslate2 transformers docs
.PHONY: lock
lock: .venv-lock/bin/uv ## resolve the lists in envs/ for all Pythons, and write the locks, with the hashes of all files
	$(COMPILE) envs/torch.txt -o envs/torch.lock
	$(if $(TORCH_INDEX),$(COMPILE) -c envs/torch.lock --index '$(TORCH_INDEX)' envs/torch.txt -o envs/torch_build.lock)
	$(COMPILE) -c envs/torch.lock envs/requirements.txt -o envs/requirements.lock
	$(foreach list,fairseq slurm_official,$(COMPILE) --no-deps envs/$(list).txt -o envs/$(list).lock &&) true
	$(foreach list,$(ADDED),$(COMPILE) -c envs/torch.lock -c envs/requirements.lock envs/$(list).txt -o envs/$(list).lock &&) true
	@sed "s/^# Locks: .*/# Locks: $$(cat $(LOCKS) | cksum)/" envs/fathom.post-deploy.sh >.venv-lock/script
	@cat .venv-lock/script >envs/fathom.post-deploy.sh

.venv-lock/bin/uv:
	@$(PYTHON) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv==0.13.9
