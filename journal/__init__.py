"""The operation engine: one signed record per operation, durable before each next step, so that no crash can hurt.

It knows neither session logs nor the index: what an operation does is handed in as stages and steps. Rebase uses it
now, operations on memory later.
"""
