"""A plugin for the memory map: senders whose mail is mostly promotional are never drawn.

It reads what a mail program noted, one JSON object to a line: `{"name", "domain", "category"}`, of all accounts.
Its own settings are YAML, in the file that PROMOTIONAL_SENDERS names: `mail`, the file of those lines; `share`, how
much of a sender's mail must be promotional; `minMessages`, how many there must be; `categories`, which are.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

DEFAULTS: dict[str, Any] = {"share": 0.8, "minMessages": 5, "categories": ["promotions"]}


def names() -> set[str]:
    """Give the names and domains that are not worth drawing; what pi-context asks for, once for each map."""
    place = Path(os.environ["PROMOTIONAL_SENDERS"])
    settings = DEFAULTS | (yaml.safe_load(place.read_text("utf-8")) or {})
    lines = (place.parent / settings["mail"]).read_text("utf-8").splitlines()
    return promotional(map(json.loads, filter(str.strip, lines)), settings)


def promotional(mail: Iterable[dict[str, str]], settings: dict[str, Any]) -> set[str]:
    """Give those of whom there are enough messages, and of these a large enough share promotional; both inclusive."""
    total: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for message in mail:
        for name in {message.get("name", ""), message.get("domain", "")} - {""}:
            total[name] += 1
            matched[name] += message.get("category") in settings["categories"]
    return {
        name
        for name, count in total.items()
        if count >= settings["minMessages"] and matched[name] >= settings["share"] * count
    }
