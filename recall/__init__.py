"""Recall: find the original evidence in the session logs, and read it back, byte-verified, redacted and budgeted."""
