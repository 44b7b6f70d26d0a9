"""The grader `numeric`: the last number in the answer against the number in the ground truth.

Understood are signs, decimals, exponents, thousands separators (comma, thin or no-break space, apostrophe,
underscore), a currency sign before and a percent sign after the number: `-$1,234.50`, `3e8`, `12 %`. The
decimal mark is a point. Where only one of the two has a percent sign, `50%` equals both 50 and 0.5.

`numeric` allows a relative difference of one millionth of the ground truth, `numeric:0.01` an absolute one
of 0.01, `numeric:1%` a relative one of one percent.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException

from agentscope_tui.errors import UsageError
from agentscope_tui.grading.grader import Grade, GradeInput, GraderError, ground_truth_of, shorten

_NUMBER = re.compile(
    r"""(?<![\w.])                                        # not the tail of a word or of another number
        (?P<sign>(?:(?<![\w)\]])[-+−])?)[$€£¥₹]?
        (?P<digits>\d{1,3}(?:[,_'’\u00a0\u2009\u202f]\d{3})+(?!\d) | \d+ | (?=\.\d))
        (?P<rest>(?:\.\d+)?(?:[eE][+-]?\d+)?)
        (?P<percent>\s?%)?
    """,
    re.VERBOSE | re.ASCII,
)
_TOLERANCE = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*(?P<percent>%)?", re.ASCII)
_LONGEST = 1000
_EXACT = Context(prec=2 * _LONGEST)


@dataclass(frozen=True)
class Number:
    """A number as it was written; `percent` tells that a percent sign follows."""

    value: Decimal
    percent: bool = False

    def readings(self, other: Number) -> tuple[Decimal, ...]:
        """What the number may mean beside `other`."""
        if self.percent and not other.percent:
            return (self.value, self.value / 100)
        return (self.value,)


@dataclass(frozen=True)
class Tolerance:
    """How far two numbers may differ: by `amount`, or by `amount` times the ground truth if `relative`."""

    amount: Decimal
    relative: bool

    @classmethod
    def parse(cls, text: str | None) -> Tolerance:
        """A tolerance as in `numeric:TOLERANCE`; None gives the default.

        Raises:
            UsageError: no number, or a negative one.
        """
        if text is None:
            return cls(Decimal("1e-6"), relative=True)
        match = _TOLERANCE.fullmatch(text)
        if match is None or len(text) > _LONGEST:
            raise UsageError(
                f"grader `numeric:{shorten(text)}`: a tolerance is a number or a percentage, "
                "as in numeric:0.01 or numeric:1%"
            )
        amount = Decimal(text.rstrip("% "))
        return cls(amount / 100, relative=True) if match["percent"] else cls(amount, relative=False)

    def allows(self, answer: Decimal, truth: Decimal) -> bool:
        """Whether the difference is small enough (DecimalException: the numbers are out of all bounds)."""
        bound = _EXACT.multiply(self.amount, abs(truth)) if self.relative else self.amount
        return abs(_EXACT.subtract(answer, truth)) <= bound


@dataclass(frozen=True)
class NumericGrader:
    """1.0 where the two numbers are the same within the tolerance."""

    name: str
    tolerance: Tolerance

    async def grade(self, given: GradeInput) -> Grade:
        written = ground_truth_of(given.task, self.name)
        try:
            truth = last_number(written)
            if truth is None:
                raise GraderError(f"grader `{self.name}`: no number in the ground truth {shorten(written)!r}")
            answer = last_number(given.answer)
            if answer is None:
                return Grade(0.0, f"no number in the answer, expected {shorten(written)}")
            same = any(
                self.tolerance.allows(left, right)
                for left in answer.readings(truth)
                for right in truth.readings(answer)
            )
        except DecimalException:
            raise GraderError(f"grader `{self.name}`: a number is too large to compare") from None
        if same:
            return Grade(1.0, f"{_shown(answer)} equals {_shown(truth)}")
        return Grade(0.0, f"expected {_shown(truth)}, got {_shown(answer)}")


def last_number(text: str) -> Number | None:
    """The last number that is written in `text` (DecimalException: it is too large)."""
    last = deque(_NUMBER.finditer(text), maxlen=1)
    if not last:
        return None
    match = last[0]
    digits = re.sub(r"\D", "", match["digits"])
    sign = "-" if match["sign"] in ("-", "−") else ""
    return Number(_EXACT.create_decimal(f"{sign}{digits}{match['rest']}"), match["percent"] is not None)


def _shown(number: Number) -> str:
    return shorten(f"{number.value}{'%' if number.percent else ''}")
