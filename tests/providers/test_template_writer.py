"""The writer without an AI: a golden file of 40 briefs that people write, and rules for every brief."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.kernel import sms_parts
from app.domain.writing.checking import faults
from app.domain.writing.errors import BriefNotUnderstood
from app.domain.writing.writer import ANSWERED, Brief, Kind, Passage
from app.providers.writers import template
from app.providers.writers.template import NO_ANSWER, TemplateWriter

GOLDEN = Path(__file__).parent / "briefs.md"
BRIEFS = [tuple(line[3:].split(": ", 1)) for line in GOLDEN.read_text("utf-8").splitlines() if line.startswith("## ")]
WRITER = TemplateWriter()

pytestmark = pytest.mark.anyio


async def shown(company: str, description: str) -> str:
    """Return the block of the golden file for a brief."""
    brief = Brief(description, company)
    try:
        WRITER.check(brief)
    except BriefNotUnderstood as refusal:
        found = re.search(r"\((.*)\)\. State", str(refusal))
        assert found
        lines = [f"Not understood: {found[1]}."]
    else:
        lines = [f"- {text}" for text in (await WRITER.write(brief)).texts]
    return "\n".join([f"## {company}: {description}", "", *lines])


async def test_the_texts_for_40_briefs_are_those_of_the_golden_file() -> None:
    blocks = [await shown(company, description) for company, description in BRIEFS]
    written = "# Briefs, and the texts of the template writer\n\n" + "\n\n".join(blocks) + "\n"

    assert len(BRIEFS) == 40
    assert written == GOLDEN.read_text("utf-8"), f"If these texts are right, write them to {GOLDEN.name}:\n{written}"


def test_the_template_writer_stays_small() -> None:
    assert len(Path(template.__file__).read_text("utf-8").splitlines()) <= 250


async def test_no_text_of_the_golden_file_states_a_fact_that_its_brief_lacks() -> None:
    for company, description in BRIEFS:
        brief = Brief(description, company, count=5)
        try:
            texts = (await WRITER.write(brief)).texts
        except BriefNotUnderstood:
            continue
        assert len(texts) == 5
        assert [fault for text in texts for fault in faults(text, brief)] == []
        assert all(sms_parts.is_gsm_7(text) and sms_parts.count(text).segments <= 2 for text in texts)


@given(st.text(max_size=200) | st.lists(st.sampled_from(" ".join(brief for _, brief in BRIEFS).split())).map(" ".join))
async def test_a_brief_is_refused_or_written_without_a_fault(description: str) -> None:
    brief = Brief(description, "Blue Door")
    try:
        WRITER.check(brief)
    except BriefNotUnderstood:
        return
    assert [fault for text in (await WRITER.write(brief)).texts for fault in faults(text, brief)] == []


@pytest.mark.parametrize("tone", ["funny", "urgent", "like a pirate"])
def test_a_tone_that_templates_do_not_have_is_refused(tone: str) -> None:
    WRITER.check(Brief("20% off all haircuts", "Blue Door", tone="friendly"))
    with pytest.raises(BriefNotUnderstood, match=f'the tone "{tone}"'):
        WRITER.check(Brief("20% off all haircuts", "Blue Door", tone=tone))


async def test_a_reply_is_the_best_answer_of_the_faq_as_it_is_written_and_no_other_passage() -> None:
    answer = Passage("When are you open?", "From 9 to 5.", ANSWERED, is_answer=True)
    document = Passage("Opening hours", "We open at 8.", 1.0)
    brief = Brief("", "Blue Door", kind=Kind.reply, passages=(document, answer), needs_opt_out=False)

    assert (await WRITER.write(brief)).texts == ("From 9 to 5.",)


async def test_without_an_answer_above_the_score_a_person_is_needed() -> None:
    answer = Passage("When are you open?", "From 9 to 5.", ANSWERED - 0.01, is_answer=True)
    written = await WRITER.write(Brief("", "Blue Door", kind=Kind.reply, passages=(answer,)))

    assert (written.texts, written.needs_person) == ((), NO_ANSWER)
