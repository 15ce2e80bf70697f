"""Settings shared by all tests: import path of the test helpers, Hypothesis profiles, ``--no-skips``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Test modules import their helpers as `support` and `readers`.
_TESTS = str(Path(__file__).parent)
if _TESTS not in sys.path:
    sys.path.insert(0, _TESTS)

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
# The default run gives the same examples every time; "thorough" looks for new ones.
settings.register_profile(
    "default", max_examples=20, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile(
    "thorough", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=_SLOW
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips", action="store_true", help="Fail if anything was skipped: all is installed."
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test or module fails the run where nothing may be missing."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if session.config.getoption("--no-skips") and skipped:
        for report in skipped:
            reporter.write_line(f"skipped although --no-skips: {report.nodeid or report.longrepr}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
