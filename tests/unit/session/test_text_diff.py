"""Texts side by side: their lines in order, and the words that differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.session import text_diff
from agentscope_tui.session.text_diff import LONGEST, LinePair, line_pairs, word_marks

texts = st.text(alphabet="ab \n", max_size=30)


def marked(text: str, marks: object) -> list[str]:
    return [text[start:end] for start, end in marks]  # type: ignore[attr-defined]


@given(texts, texts)
def test_both_texts_are_there_line_by_line(left: str, right: str):
    pairs = [*line_pairs(left, right)]
    assert "\n".join(pair.left for pair in pairs if pair.left is not None) == left.removesuffix("\n")
    assert "\n".join(pair.right for pair in pairs if pair.right is not None) == right.removesuffix("\n")


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str):
    assert all(pair.same for pair in line_pairs(text, text))


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_not_marked_is_the_same_in_both_lines(left: str, right: str):
    ours, theirs = word_marks(left, right)

    def rest(text: str, marks: object) -> str:
        for start, end in reversed(list(marks)):  # type: ignore[call-overload]
            assert 0 <= start < end <= len(text)
            text = text[:start] + text[end:]
        return text

    if ours or theirs:
        assert rest(left, ours) == rest(right, theirs)


def test_a_line_more_shifts_the_others():
    assert [*line_pairs("one\ntwo\nthree\n", "one\nnew\ntwo\nthree\n")] == [
        LinePair("one", "one"),
        LinePair(None, "new"),
        LinePair("two", "two"),
        LinePair("three", "three"),
    ]


def test_the_words_that_differ_are_marked_where_there_are_two_lines():
    for pair in (LinePair("a", "a"), LinePair(None, "a"), LinePair("a", None)):
        assert text_diff.marked(pair) == pair
    pair = text_diff.marked(LinePair("one two", "one six"))
    assert (pair.left_marks, pair.right_marks) == ([(4, 7)], [(4, 7)])
    left, right = 'cat "notes.txt" | head', 'cat "other.txt" | head -3'
    ours, theirs = word_marks(left, right)
    assert marked(left, ours) == ["notes"]
    assert marked(right, theirs) == ["other", " -3"]


def test_lines_with_hardly_a_word_in_common_are_different_as_a_whole():
    assert word_marks("the answer is 42", "I give up, ask somebody else") == ((), ())


def test_the_words_of_a_very_long_line_are_not_compared():
    assert word_marks("a " * LONGEST, "b " * LONGEST) == ((), ())
