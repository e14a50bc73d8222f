"""Tells words from random characters: how surprising a run of letters and digits is to a reader of identifiers.

The model knows which letter follows which in the words of programs and documentation (measured over some 23,000
words of open-source libraries), and what a new word, an acronym or a number inside an identifier costs. A run that
this model finds dearer than plain random characters is random.
"""

import functools
import re

_FOLLOWERS = {  # for each letter: what each of a..z after it costs, in bits (1 to 12, written in hex)
    "a": "644477595b7343b5a343667769",
    "b": "3555368936936746944649aa59",
    "c": "375637934b447827a553589a7b",
    "d": "4565257828856747954657897a",
    "e": "464355687a9453757334867579",
    "f": "465533792aa47637a4554a9b6b",
    "g": "486827544aa56447c347488978",
    "h": "278728993a866738a564599a5b",
    "i": "5645555a9a844235954495b7c5",
    "j": "3876297949577735883637678c",
    "k": "4766266739757556863658686a",
    "l": "3775278a2a838837b855579a4c",
    "m": "2577289a3b865743a75759aa7a",
    "n": "47443538497776479733669b7a",
    "o": "6654765969644255b344455789",
    "p": "397737854a8378349354598a5b",
    "q": "57776786999466966558166977",
    "r": "375527693b665636a544678b6c",
    "s": "594737843a656744774248796b",
    "t": "386727842ca67747c345597958",
    "u": "5456466a5b934364c33399c8b9",
    "v": "277718792ba77847986788898a",
    "w": "2876377439758438b4469888bb",
    "x": "464535963a9657628763778468",
    "y": "56554668498444528634776876",
    "z": "3897179738867747c867897765",
}
_HEX = frozenset("0123456789abcdef")
_HEX_BITS, _ONE_CASE_BITS, _TWO_CASES_BITS = 4.0, 4.7, 5.7  # what a random character of that alphabet costs
_DIGITS_TOO_BITS = 0.3
_START_BITS, _HUMP_BITS, _SHOUT_BITS = 4.7, 8.0, 0.3
_DIGIT_BITS, _NEXT_DIGIT_BITS, _AFTER_DIGIT_BITS = 7.5, 4.0, 6.5
_JOINER_BITS, _MARK_BITS = -1.0, 2.0  # what a mark tells: `_-./: ` join words, others rather stand in passwords
_LETTERS_AND_DIGITS = r"[A-Za-z0-9]+"
_JOINERS = frozenset("_-./: ")
_START, _LOWER, _UPPER, _DIGIT = range(4)


@functools.cache
def _pair_costs() -> dict[tuple[str, str], int]:
    return {(first, chr(97 + at)): int(cost, 16) for first, row in _FOLLOWERS.items() for at, cost in enumerate(row)}


def surprise(run: str) -> float:
    """Give the bits by which the run costs a reader of identifiers more than random characters would.

    Above zero is more like a key, below zero more like words. Grows with the length on either side.
    """
    if run.isalnum() and run.isascii():
        return _piece(run)
    bits = 0.0
    for piece in _pieces().split(run):
        bits += _piece(piece) if piece.isalnum() and piece.isascii() else _marks(piece)
    return bits


@functools.cache
def _pieces() -> re.Pattern[str]:
    return re.compile(f"({_LETTERS_AND_DIGITS})")


def _marks(run: str) -> float:
    return sum(_JOINER_BITS if char in _JOINERS else _MARK_BITS for char in run)


def _piece(run: str) -> float:
    bits, before, last, costs = 0.0, _START, "", _pair_costs()
    for char in run:
        small = char.lower()
        if "a" <= small <= "z":
            kind = _LOWER if char == small else _UPPER
            if before == _START:
                bits += _START_BITS
            elif before == _DIGIT:
                bits += _AFTER_DIGIT_BITS
            elif before in (kind, _UPPER):
                bits += costs[last, small] + (_SHOUT_BITS if kind == _UPPER else 0)
            else:
                bits += _HUMP_BITS
            last = small
        else:
            kind = _DIGIT
            bits += _NEXT_DIGIT_BITS if before == _DIGIT else _DIGIT_BITS
        before = kind
    return bits - _random_bits(run) * len(run)


def _random_bits(run: str) -> float:
    small = run.lower()
    if _HEX.issuperset(small):
        return _HEX_BITS
    cases = _ONE_CASE_BITS if run in (small, run.upper()) else _TWO_CASES_BITS
    return cases if run.isalpha() else cases + _DIGITS_TOO_BITS
