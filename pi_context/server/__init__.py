"""The server behind Pi: JSON-RPC over the standard streams, as `docs/server.md` has it.

Reading never waits behind a call, nothing but the protocol reaches standard output, and the process ends with its
client.
"""
