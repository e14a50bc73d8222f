"""What an answer costs, counted as the contract says and without help from the product."""

import json
from typing import Any


def price(answer: dict[str, Any]) -> int:
    """Count the tokens of an answer: UTF-16 units of its compact JSON over four, and 96 for the envelope."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    units = sum(
        6 if "\ud800" <= char <= "\udfff" or "\x7f" <= char <= "\x9f" else 1 + (char > "\uffff") for char in text
    )
    return -(-units // 4) + 96
