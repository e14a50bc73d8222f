"""The name of the rules as they are now; an index made under another name has to be made again."""

RULES_VERSION = "0"
