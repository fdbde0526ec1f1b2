"""Simulated SMSC: `python -m tests.peers.smsc --help`."""

import argparse
import sys
import threading

HINTS = """SMSC at {host}:{port}. Connect the service to it, as this user:
  system_id messaging
  password  {password}
Texts are accepted, and reported as delivered. Have a person write, by a line here: +14155550123 +14155550300 Hi"""


def main() -> None:
    """Run the SMSC until the process is stopped; each line of the standard input is a text of a person."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.peers.smsc",
        description="Stand in for an SMSC on this machine: the npm package `smpp`, after `make install`.",
    )
    parser.add_argument("--port", type=int, default=2775, help="port on 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--password", default="simulated", help="(default: %(default)s)")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds before each receipt (default: %(default)s)")
    given = parser.parse_args()
    run(given.port, given.password, given.delay)


def run(port: int, password: str, delay: float) -> None:
    """Run the SMSC; receipts come `delay` seconds after their texts."""
    from tests.smpp.smscs import HOST, open_smsc

    with open_smsc(port, password) as smsc:
        smsc.command("pace", response=0, receipt=1000 * delay)
        print(HINTS.format(host=HOST, port=smsc.port, password=password), flush=True)  # noqa: T201
        for line in sys.stdin:
            sender, number, text = (*line.rstrip("\n").split(" ", 2), "", "")[:3]
            if number and smsc.all("bind"):
                pdu = {"source_addr": sender, "destination_addr": number, "short_message": text}
                smsc.command("deliver", pdu=pdu, tag=line)
        threading.Event().wait()


if __name__ == "__main__":
    main()
