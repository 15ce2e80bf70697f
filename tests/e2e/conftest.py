"""One server for each pair of parser names, shared by the tests of that pair."""

from __future__ import annotations

import importlib.util
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.e2e.cases import CASES, Case
from tests.e2e.client import CLIENTS, ChatClient, Client, ScriptEncoder
from tests.e2e.model import build_model, build_tokenizer
from tests.e2e.server import Server

HAVE_VLLM = importlib.util.find_spec("vllm") is not None
LOG_LINES = 60
HERE = Path(__file__).parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs for every case that it can."""
    if "case" in metafunc.fixturenames:
        where = metafunc.definition.get_closest_marker("cases_where")
        cases = filter(where.args[0], CASES) if where else CASES
        parameters = [pytest.param(case, id=case.id) for case in cases]
        metafunc.parametrize("case", parameters, indirect=True, scope="session")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Keeps the tests of a case in one process, for they share a server."""
    return CaseScheduling(config, log)


class CaseScheduling(LoadScopeScheduling):
    """Shares the tests out by their server."""

    def _split_scope(self, nodeid: str) -> str:
        return _server_of(nodeid)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Brings the tests of a server together, whatever their module, so that it starts once."""
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    first = {_server_of(item.nodeid): number for number, item in reversed([*enumerate(ours)])}
    ours.sort(key=lambda item: first[_server_of(item.nodeid)])
    items[:] = [item for item in items if not item.path.is_relative_to(HERE)] + ours


def _server_of(nodeid: str) -> str:
    """The case in ``module::test_name[case-...]``; a module without cases has a server of its own."""
    module, _, test = nodeid.partition("::")
    case = test.partition("[")[2].rstrip("]").partition("-")[0]
    return case if case in {case.id for case in CASES} else module


@pytest.fixture(scope="session")
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(scope="session")
def server(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not HAVE_VLLM:
        pytest.skip("vLLM is not installed")
    directory = tmp_path_factory.mktemp(case.id) / "model"
    build_model(directory, build_tokenizer(case.special, case.added))
    with Server(directory, reasoning=case.reasoning_parser, tool=case.tool_parser) as running:
        yield running


@pytest.fixture(scope="session")
def script(case: Case) -> ScriptEncoder:
    return ScriptEncoder(build_tokenizer(case.special, case.added))


@pytest.fixture(scope="session")
def clients(server: Server, script: ScriptEncoder) -> dict[str, Client]:
    """A client of every endpoint, by the endpoint's name."""
    return {name: kind(server.url, script) for name, kind in CLIENTS.items()}


@pytest.fixture(scope="session")
def client(server: Server, script: ScriptEncoder) -> ChatClient:
    return ChatClient(server.url, script)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the end of its server's log."""
    report = yield
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, Server):
        tail = server.log_text().splitlines()[-LOG_LINES:]
        report.sections.append((f"vllm serve ({server.log})", "\n".join(tail)))
    return report
