"""`python -m pi_context` is the command."""

from pi_context.script import script

script()
