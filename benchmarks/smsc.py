"""`python -m benchmarks.smsc PORT`: an SMSC of the package `smpp34` that accepts every message."""

import asyncio
import sys

import smpp34


async def serve(port: int) -> None:
    """Accept messages until the process is ended."""
    server = smpp34.Server("127.0.0.1", port, system_id="smsc")
    await server.start()
    print("listening", flush=True)
    accepted = 0
    while True:
        event = await server.next()
        if isinstance(event, smpp34.SubmitSmEvent):
            accepted += 1
            event.accept(str(accepted))


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
