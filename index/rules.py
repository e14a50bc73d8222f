"""The version of everything that decides which words an entry gives: when it changes, the index is made anew."""

from index.tokens import TOKENS_VERSION
from privacy.secrets.version import RULES_VERSION
from sessions.text import TEXT_VERSION

RULES = f"{RULES_VERSION}/{TEXT_VERSION}/{TOKENS_VERSION}"
