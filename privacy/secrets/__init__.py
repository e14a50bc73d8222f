"""Finds secrets in text: `find` gives their places, `RULES_VERSION` names the rules that found them."""

from privacy.secrets.model import Secret
from privacy.secrets.scanning import find
from privacy.secrets.version import RULES_VERSION

__all__ = ["RULES_VERSION", "Secret", "find"]
