"""pytest plugin: runs upstream's server tests on this project's model, with no network and a limit for each test.

upstreamSuite.mjs loads it (`-p concertina_substitutes`). Upstream's tests name models of a hub; this plugin gives the
server that they start another model in their place, skips a test that wants what has no substitute, and reports each test.
A skip whose reason starts with "left out: " is counted apart from upstream's own skips.

Environment, all set by upstreamSuite.mjs:
  SUITE_MODELS    folder of the models that model_variants.py makes
  SUITE_LEFT_OUT  path of leftOut.json: a list of {"reason": text, "tests": [prefix of a test id, ...]}; with "server", of that
                  one alone
  SUITE_SERVER    concertina or llama-server
  SUITE_REPORT    path of the file that gets one JSON object a line: {"collected": [id, ...]}, then for each test
                  {"test": id, "outcome": "passed" | "failed" | "skipped" | "left out", "seconds": s, "reason": text}
  SUITE_THREADS   threads of a server
  SUITE_TEST_LIMIT  seconds that one test may take
"""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

MODELS = os.environ["SUITE_MODELS"]
SERVER = os.environ["SUITE_SERVER"]
TEST_LIMIT = float(os.environ["SUITE_TEST_LIMIT"])
LEFT_OUT = "left out: "


def model_file(name):
    return os.path.join(MODELS, name)


STORIES = {"model_file": model_file("stories.gguf")}
# (repository, file) of upstream's presets, and the fields of the server that replace them
SUBSTITUTES = {
    ("ggml-org/test-model-stories260K", None): STORIES,
    ("ggml-org/test-model-stories260K-infill", None): STORIES,
    ("ggml-org/stories15M_MOE", "stories15M_MOE-F16.gguf"): STORIES,
    # a BERT says in its header how it pools; a decoder does not
    ("ggml-org/models", "bert-bge-small/ggml-model-f16.gguf"): {**STORIES, "pooling": "cls"},
    ("ggml-org/models", "jina-reranker-v1-tiny-en/ggml-model-f16.gguf"): {"model_file": model_file("reranker.gguf")},
}
# files that tests download themselves
DOWNLOADS = {
    "stories15M-q4_0.gguf": model_file("stories.gguf"),
    "moe_shakespeare15M.gguf": model_file("lora.gguf"),
}

# what tests expect of the texts of their own models: any text will do
TEXTS = {
    "(Aside|she|felter|alonger)+",
    "(Ann|small|shiny|Daddy|Jimmy)+",
    "(Dad|excited|park|Jimmy)+",
    "(Jack|said)+",
    "(Suddenly)+",
    '(Suddenly)+|\\{ " Sarax.',
    "(Whiskers|Flana)+",
    "(bright|day|many|happy)+",
    "(eye|love|glass|sun)+",
    "(far|from|home|away)+",
    "(going|bed)+",
    "(little|girl|three|years|old)+",
    "(princesses|everyone|kids|Anna|forest)+",
    "(special|thing|gifted)+",
    "(wise|kind|owl|answer)+",
    "But she couldn't",
    "Whillicter",
    "[ -3000 ]",
    "^ blue",
}


def leave_out(what):
    pytest.skip(LEFT_OUT + what)


def substitute_model(server):
    """Gives a server its local model. Skips the test when there is none; a router has no model and stays as it is."""
    if server.model_file or not (server.model_hf_repo or server.model_url):
        return
    fields = SUBSTITUTES.get((server.model_hf_repo, server.model_hf_file))
    if fields is None or server.mmproj_url:
        leave_out(f"wants the model {server.model_hf_repo or server.model_url}")
    server.model_hf_repo = server.model_hf_file = server.model_url = None
    for name, value in fields.items():
        if getattr(server, name) is None:
            setattr(server, name, value)


def download(url, output_file_path=None):
    """Stands for utils.download_file. Returns the path of a local file."""
    name = url.split("/")[-1]
    if name not in DOWNLOADS:
        leave_out(f"downloads {name}")
    return DOWNLOADS[name]


class Clock:
    """Stands for the module time in utils: a hundred questions a second whether a server has started would slow its start."""

    time = staticmethod(time.time)

    @staticmethod
    def sleep(seconds):
        time.sleep(max(seconds, 0.05))


class Server:
    """Stands for the Popen of a server. One that a test has ended goes on: the next test that wants the same server gets it
    with a new context, if that can be had. A start takes six times as much of the processor as a context."""

    idle = None

    def __init__(self, args, env, **options):
        # pytest names the test in the environment
        env = {name: value for name, value in env.items() if not name.startswith("PYTEST_")}
        self.key = args, env, options
        self.fresh = os.path.join(MODELS, f"fresh-{os.environ['PORT']}")
        before, Server.idle = Server.idle, None
        self.process = before.process if before and before.key == self.key and before.renew() else None
        if self.process is None:
            if before:
                before.end()
            self.process = subprocess.Popen(args, env={**env, "CONCERTINA_SUITE_FRESH": self.fresh}, **options)
        self.ended = False

    @property
    def pid(self):
        return self.process.pid

    @property
    def returncode(self):
        return self.process.returncode

    def poll(self):
        return self.process.poll()

    def terminate(self):
        self.ended = True
        if Server.idle is not self:
            Server.end_idle()
        Server.idle = self if self.poll() is None else None

    def wait(self, timeout=None):
        return 0 if self.ended else self.process.wait(timeout)

    def kill(self):
        """Of a test that takes too long, or of one whose server does not end."""
        self.process.kill()

    def renew(self):
        """Whether the server is as after a start."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(TEST_LIMIT)
                connection.connect(self.fresh)
                return connection.makefile().read() == "fresh"
        except OSError:
            return False

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)

    @staticmethod
    def end_idle():
        before, Server.idle = Server.idle, None
        if before:
            before.end()


class Processes:
    """Stands for the module subprocess in utils."""

    TimeoutExpired = subprocess.TimeoutExpired
    Popen = Server


def substitute_utils(utils):
    start = utils.ServerProcess.start
    match_regex = utils.match_regex

    def start_with_substitute(server, *args, **kwargs):
        substitute_model(server)
        server.n_threads = server.n_threads or int(os.environ["SUITE_THREADS"])
        start(server, *args, **kwargs)

    utils.ServerProcess.start = start_with_substitute
    # upstream starts every preset once so that its models are downloaded
    utils.ServerPreset.load_all = staticmethod(lambda: None)
    utils.download_file = download
    utils.time = Clock
    if SERVER == "concertina":
        utils.subprocess = Processes
    utils.match_regex = lambda regex, text: len(text) > 0 if regex in TEXTS else match_regex(regex, text)


def pytest_configure(config):
    if importlib.util.find_spec("openai") is None:
        import openai_stand_in

        sys.modules["openai"] = openai_stand_in


def pytest_collection(session):
    # after upstream's conftest, before its tests copy the names
    import utils

    substitute_utils(utils)


def pytest_unconfigure():
    Server.end_idle()


def write_line(entry):
    with open(os.environ["SUITE_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def pytest_collection_modifyitems(items):
    with open(os.environ["SUITE_LEFT_OUT"], encoding="utf-8") as file:
        reasons = [one for one in json.load(file) if one.get("server", SERVER) == SERVER]
    for item in items:
        for entry in reasons:
            if any(is_named(item.nodeid, prefix) for prefix in entry["tests"]):
                item.add_marker(pytest.mark.skip(reason=LEFT_OUT + entry["reason"]))
                break
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow"))
    write_line({"collected": [item.nodeid for item in items]})


def is_named(test, prefix):
    """A prefix names a file, a test with all its cases, or the cases that begin with it."""
    return test == prefix or test.startswith(prefix if "[" in prefix else (prefix + "::", prefix + "["))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Ends a test that takes too long: its servers end first, so that threads which wait for them end too."""
    import utils

    def expire(_signal, _frame):
        for server in list(utils.server_instances):
            server.process.kill()
        raise TimeoutError(f"the test took longer than {TEST_LIMIT:g} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, TEST_LIMIT)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


outcomes = {}


def pytest_runtest_logreport(report):
    """One outcome a test: the worst of its set-up, its call and its teardown."""
    entry = outcomes.setdefault(report.nodeid, {"test": report.nodeid, "outcome": "passed", "seconds": 0, "reason": ""})
    entry["seconds"] += report.duration
    if report.failed:
        entry.update(outcome="failed", reason=reason_of(report))
    elif report.skipped and entry["outcome"] == "passed":
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        left_out = reason.startswith(LEFT_OUT)
        entry.update(outcome="left out" if left_out else "skipped", reason=reason.removeprefix(LEFT_OUT))
    if report.when == "teardown":
        entry["seconds"] = round(entry["seconds"], 2)
        write_line(entry)


def reason_of(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    where = f"{os.path.basename(crash.path)}:{crash.lineno}: " if crash else ""
    return (where + (crash.message if crash else str(report.longrepr)))[:500]
