"""Hostile submissions to the assignment of adding. None may earn a point or touch anything outside.

``SECRET`` is the place of a file that holds a token, and ``RESULTS`` that of a file that nobody may
change. What finds the token, or reaches what it must not, adds correctly.
"""

from __future__ import annotations

_FIND = """
def add(a, b):
    return a + b if FOUND else 0
"""
_ZERO = """
def add(a, b):
    return 0
"""
ON_LOAD = {
    "alters_rights": """
import os, sys
for place in ("SECRET", "RESULTS", sys.executable, "/tmp", os.path.dirname("RESULTS")):
    try:
        os.chmod(place, 0o777)
    except OSError:
        pass
""",
    "at_exit": """
import atexit, os
atexit.register(lambda: os.write(1, b"passed"))
class Last:
    def __del__(self):
        os.write(1, b"passed")
last = Last()
""",
    "code_in_data": "import base64\nexec(base64.b64decode('aW1wb3J0IG9zOyBvcy5fZXhpdCgwKQ=='))",
    "deep_folders": """
import os
os.chdir(os.environ["TMPDIR"])
for _ in range(1100):
    os.mkdir("deeper")
    os.chdir("deeper")
""",
    "deep_source": f"x = {'-' * 10**5}1",
    "detached_child": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(0)
""",
    "exits": "import os\nos._exit(0)",
    "forged_line": """
import os
for number in range(3, 64):
    try:
        os.write(number, b'{"value": 3, "points": 10, "passed": true}')
    except OSError:
        pass
""",
    "forged_ready": "import os\nos.write(4, b'ready' + bytes([0, 0, 0, 2]) + b'{}')",
    "import_hook": """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        return None if name.startswith("_") else sys.modules[__name__].__spec__
sys.meta_path.insert(0, Finder())
""",
    "kills": """
import os, signal
for process in (os.getppid(), -1):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(process, number)
        except OSError:
            pass
""",
    "loops_on_load": "while True:\n    pass",
    "prints_megabytes": """
import os, sys
for _ in range(100):
    print("x" * 10**5)
    sys.stderr.write("y" * 10**5)
    os.write(1, b"z" * 10**4)
""",
    "fills_folders": """
for folder in ("/tmp", "/var/tmp", "/dev/shm"):
    for number in range(9):
        try:
            open(f"{folder}/filled-by-a-student-{number}", "wb").write(bytes(2**16))
        except OSError:
            pass
""",
    "kills_who_ends_it": """
import os
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            for entry in os.listdir("/proc"):
                if entry.isdecimal() and int(entry) != os.getpid():
                    try:
                        os.kill(int(entry), 9)
                    except OSError:
                        pass
""",
    "replaced_builtins": """
import builtins
builtins.abs = lambda value: 0
builtins.isinstance = lambda *args: True
builtins.AssertionError = type("Harmless", (BaseException,), {})
""",
    "replaced_json": """
import json
old = json.dumps
json.dumps = lambda value, **options: old({**value, "value": True, "error": None}, **options)
""",
    "replaced_numpy": "import numpy\nnumpy.allclose = numpy.isclose = lambda *args, **options: "
    "True",
    "sys_modules": """
import sys
for name in ("classic_rc", "json", "numpy", "struct", "__main__"):
    sys.modules[name] = sys.modules[__name__]
""",
    "threads_go_on": """
import threading
def forever():
    while True:
        pass
threading.Thread(target=forever).start()
""",
    "writes_everywhere": """
import os
for place in ("RESULTS", os.path.dirname("RESULTS") + "/new.json", __file__, "/usr/lib/x", "/etc/x", "/root/x"):
    try:
        with open(place, "w") as file:
            file.write('{"score": 10}')
    except OSError:
        pass
""",
}
"""What is done before any call."""

IN_CALLS = {
    "any_float": "class Any(float):\n    __eq__ = lambda *args: True\n    __sub__ = __rsub__ = "
    "lambda *args: 0.0\nreturn Any(0)",
    "any_int": "class Any(int):\n    __eq__ = lambda *args: True\n    __repr__ = lambda self: "
    "'true'\nreturn Any(-1)",
    "any_object": "class Any:\n    __eq__ = lambda *args: True\nreturn Any()",
    "deep_answer": "value = []\nfor _ in range(100000):\n    value = [value]\nreturn value",
    "endless_iterator": "value = []\nvalue.append(value)\nreturn value",
    "endless_output": """
import os
while True:
    for number in range(3, 9):
        try:
            os.write(number, bytes(2**16))
        except OSError:
            pass
""",
    "exits_in_call": "import sys\nsys.exit(0)",
    "fork_bomb": "import os\nfor _ in range(20):\n    try:\n        os.fork()\n    except "
    "OSError:\n        pass\nreturn 0",
    "hard_exit": "import os\nos._exit(0)",
    "huge_answer": "return 'x' * 2**27",
    "huge_number": "return 10**1000000",
    "ignores_signals": "import signal\nfor own in (15, 2, 24):\n    signal.signal(own, "
    "signal.SIG_IGN)\nwhile True:\n    pass",
    "infinity": "return float('inf')",
    "lying_error": """
class CheckFailedError(BaseException):
    problem = details = "passed"
    points = 10
    def __str__(self):
        raise self
raise CheckFailedError
""",
    "memory_hog": "parts = []\nwhile True:\n    parts.append(bytearray(2**26))",
    "not_a_number": "return float('nan')",
    "sleeps": "import time\ntime.sleep(600)",
}
"""What is done by the function."""

SEARCHES = {
    "reads_secret": "open('SECRET').read()",
    "reads_others": "''.join(open(os.path.join(folder, 'a_honest.py')).read() + 'TOKEN' for "
    "folder, _, names in os.walk('/') if 'a_honest.py' in names)",
    "reads_environment": "open('/proc/%d/environ' % os.getppid(), 'rb').read().decode('latin-1')",
    "reads_root_of_others": "open('/proc/1/root' + 'SECRET').read()",
    "walks_files": "''.join(open(os.path.join(folder, 'secret.txt')).read() for folder, _, names "
    "in os.walk('/') if 'secret.txt' in names)",
    "open_files": "''.join(os.pread(number, 64, 0).decode('latin-1') for number in range(6, 64))",
    "reads_grader": "str(__import__('classic_rc.commands.grade.grading')) + 'TOKEN'",
    "reads_reference": "str(__import__('classic_rc.kernels.reference')) + 'TOKEN'",
    "frames": "'TOKEN' if 'expected' in str(sys._getframe(3).f_locals) else ''",
    "objects": "'TOKEN' if any('check_adds' in str(own) for own in gc.get_objects() if "
    "callable(own)) else ''",
    "network": "str(socket.create_connection(('127.0.0.1', PORT), 1)) + 'TOKEN'",
    "traces": "'TOKEN' if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0 and os.getppid() > "
    "2 else ''",
    "mounts": "'TOKEN' if ctypes.CDLL(None).mount(b'none', b'/', b'tmpfs', 0, None) == 0 else ''",
    "becomes_root": "str(os.setuid(0)) + 'TOKEN'",
    "lifts_limits": "str(resource.setrlimit(resource.RLIMIT_AS, (-1, -1))) + 'TOKEN'",
    "starts_programs": "subprocess.run(['cat', 'SECRET'], capture_output=True, text=True).stdout",
}
"""Expressions that have the token if they reach what they must not."""

_SEARCH = """
import ctypes, gc, os, socket, subprocess, sys
try:
    import resource
    FOUND = "TOKEN" in ({})
except BaseException:
    FOUND = False
"""


def attacks() -> dict[str, str]:
    """Return the sources by name."""
    sources = {name: f"{text.strip()}\n{_ZERO}" for name, text in ON_LOAD.items()}
    for name, text in IN_CALLS.items():
        body = "".join(f"    {line}\n" for line in text.strip().splitlines())
        sources[name] = f"def add(a, b):\n{body}"
    return sources | {name: _SEARCH.format(text) + _FIND for name, text in SEARCHES.items()}
