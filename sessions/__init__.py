"""The session logs of Pi, read and never written: lines, entries, text, tree, context, and where they lie.

Only this package knows Pi's field names. Readers of other agents' logs will stand beside it.
"""
