"""JSON as careless writers write it: escapes where none is needed, numbers in any notation, keys twice."""

from __future__ import annotations

import json
import random
from typing import Any

LETTERS = "sSſßẞkK\u212aiIİıfﬁtﬆŉéÉпПς中😀\ufffd \"\\/\n\t\x7f,;:{}[]0157.eE+-naNA'"
"""Letters that fold to others, those that are escaped, and those that numbers and JSON itself are made of."""
NUMBERS = (
    *(
        "0",
        "-0",
        "7",
        "15",
        "-150",
        "1e5",
        "1E+5",
        "1.50",
        "15e-1",
        "0.00001",
        "-0.0",
        "1e-7",
        "10000000000000000.0",
    ),
    *("0.1234567890123456789", "12345678901234567890123", "18446744073709551616", "-9223372036854775809"),
    *("1e999", "-1e999", "NaN", "Infinity", "-Infinity", "123456789012345678.5", "1500.0e1"),
)


def written(value: Any, chance: random.Random, *, twice: bool = False) -> str:
    """The text of a value; a `Number` stands as it is. `twice`: now and then a key is there again."""
    match value:
        case Number():
            return value.text
        case str():
            return f'"{"".join(_letter(letter, chance) for letter in value)}"'
        case dict():
            pairs = list(value.items())
            if twice and pairs and chance.random() < 0.3:
                pairs.append(chance.choice(pairs))
            space = chance.choice(["", "", " ", "\t "])
            texts = (
                f"{written(key, chance)}{space}:{written(item, chance, twice=twice)}" for key, item in pairs
            )
            return f"{{{','.join(texts)}}}"
        case list():
            return f"[{', '.join(written(item, chance, twice=twice) for item in value)}]"
        case _:
            return json.dumps(value)


class Number:
    """A number in a certain notation."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Number({self.text!r})"


def _letter(letter: str, chance: random.Random) -> str:
    must = letter in '"\\' or letter < " "
    if letter == "/" and chance.random() < 0.5:
        return "\\/"
    if not must and chance.random() < 0.7:
        return letter
    if must and chance.random() < 0.5:
        return json.dumps(letter)[1:-1]
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    units = "".join(digit.upper() if chance.random() < 0.5 else digit for digit in units)
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
