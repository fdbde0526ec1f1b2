"""Folders with a `.venv/bin/messaging` that forks the command from a process with the service loaded."""

import marshal
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.e2e.commands import COMMAND, FORKS, run_here

PROGRAM = """#!{python} -IS
import marshal, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    socket.send_fds(asked, [b"."], [0, 1, 2])
    asked.sendall(marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ))))
    asked.shutdown(socket.SHUT_WR)
    answers = asked.makefile()
    pid = int(answers.readline())
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    sys.exit(int(answers.readline()))
"""


@contextmanager
def terminal(folder: Path) -> Iterator[None]:
    """Create `.venv` in a folder, with a `messaging` that works until the end of the block."""
    programs, address = folder / ".venv" / "bin", str(folder / "commands")
    programs.mkdir(parents=True)
    for name in ("lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(COMMAND.parents[1] / name)
    (programs / "python").symlink_to(sys.executable)
    (programs / COMMAND.name).write_text(PROGRAM.format(python=sys.executable, address=address))
    (programs / COMMAND.name).chmod(0o755)
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(address)
        listening.listen()
        answering = FORKS.Process(target=_answer, args=(listening,), daemon=True)
        answering.start()
    yield
    answering.kill()
    answering.join()


def _answer(listening: socket.socket) -> None:
    """Fork a process for each requested command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        asking, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _run(asking)
        asking.close()


def _run(asking: socket.socket) -> None:
    """Run a command with the file descriptors of the requesting program; send it the process id and the exit code."""
    _, files, _, _ = socket.recv_fds(asking, 1, 3)
    arguments, folder, env = marshal.load(asking.makefile("rb"))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    asking.send(f"{os.getpid()}\n".encode())
    code = run_here(arguments, folder, env)
    asking.send(f"{code}\n".encode())
    os._exit(code)
