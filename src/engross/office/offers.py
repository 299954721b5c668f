"""What the office offers besides calls: the record to look things up in, and the words that start its main jobs."""

from __future__ import annotations

from engross.flows import Aggregate, PromptArgument

ANYTHING = "*/*"
NEVER = ""

PROPOSE = """\
I want this changed in the record: {change}

Find the call for it with find_flow and read what it takes with describe_flow. Look at what is there before you change \
it. Check the write with validateWrite and mend what it finds. Then make it, with a client_request_id of your own and \
a reason. If it becomes a proposal, tell me its id and what would change, and that a person has to approve it; \
approving is not yours to do."""

REVIEW = """\
Tell me what waits for a decision. {which}

List the proposals that are proposed or in review (run_flow with proposals.list-proposals), and look at each of them. \
For each say who proposes it and why, what would change in plain words, how risky it is, whether it is stale, and what \
you would ask the author. You cannot approve or reject: a person does that, with `engross proposals`."""

WHY = """\
Find out why {aggregate}/{subject} is what it is.

Read its history with readHistory. For the facts that matter, show the receipt of their commit with getReceipt: who \
did it, by which flow, for which reason, approved by whom. Say what is certain and what you only infer, and name the \
positions in the ledger that you rely on."""


def offer_resources(record: Aggregate) -> None:
    """The feeds, and facts, proposals and receipts under addresses of their own."""
    record.resource(
        "engross://facts",
        "record.read-facts",
        name="facts",
        title="Latest facts",
        description="The last things that happened, in order. Subscribe to hear of everything that is recorded.",
        changes=ANYTHING,
        arguments={"latest": True},
    )
    record.resource(
        "engross://facts/{aggregate}/{subject}",
        "record.read-history",
        name="history",
        title="History of a record",
        description="All facts about one record, in order. Subscribe to hear when it changes.",
        changes="{aggregate}/{subject}",
    )
    record.resource(
        "engross://proposals",
        "proposals.list-proposals",
        name="proposals",
        title="Proposals",
        description="Proposals in the order they were opened. Subscribe to hear of new ones and of decisions.",
        changes="proposals/*",
    )
    record.resource(
        "engross://proposals/{proposal_id}",
        "proposals.get-proposal",
        name="proposal",
        title="Proposal",
        description="What a proposal would change, and what was decided. Subscribe to hear the decision.",
        changes="proposals/{proposal_id}",
    )
    record.resource(
        "engross://receipts/{position}",
        "record.get-receipt",
        name="receipt",
        title="Receipt",
        description="The receipt of a commit: who, by which flow and policy, approved by whom.",
        changes=NEVER,
    )


def offer_prompts(record: Aggregate) -> None:
    """The office's main jobs."""
    record.prompt(
        "propose-change",
        "Change something in the record, checked first and proposed where a person has to decide.",
        {"change": "What should be different, in your own words."},
        title="Propose a change",
        text=PROPOSE,
        for_writers=True,
    )
    record.prompt(
        "review-what-waits",
        "See what waits for a person's decision, explained.",
        [PromptArgument("which", "Which proposals; all of them if you say nothing.", required=False)],
        title="Review what waits",
        text=REVIEW,
        needs=("proposals.list-proposals", "proposals.get-proposal"),
    )
    record.prompt(
        "find-out-why",
        "Trace a record back to the commits, people and reasons behind it.",
        {"aggregate": "The aggregate that keeps the record.", "subject": "The record's id."},
        title="Find out why",
        text=WHY,
        needs=("record.read-history", "record.get-receipt"),
    )
