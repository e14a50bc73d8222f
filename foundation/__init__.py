"""Ground floor: errors, text types, canonical JSON, durable files, locks and the table of settings.

Knows nothing of sessions, privacy or SQLite. Everything above may import it; it imports nothing of ours.
"""
