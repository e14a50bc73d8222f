"""The disposable index: redacted words and positions of all session logs in SQLite FTS5. The log is the text.

Everything in it can be made again from the logs; nothing outside this package knows SQL.
"""
