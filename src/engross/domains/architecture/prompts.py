"""The words that start the domain's main jobs."""

from __future__ import annotations

from engross.flows import Aggregate

MODEL = """\
Put this into the architecture model: {change}

Look first at what is there: semanticSearch for what it names, getElement and getNeighborhood for what it touches. \
getElementTypes and getRelationshipTypes tell which types there are and which may be related. Try every write with \
validateWrite and mend what it finds. Several changes that belong together go into one applyChanges, or into one \
proposal: pass the proposal_id of the first write on to the others and submit it at the end. Say what you reused, \
what you made, and what waits for a person's approval."""

EXPLAIN = """\
Explain {subject} from the architecture model to somebody who does not know it.

Find it with semanticSearch, look around it with getNeighborhood two steps far, and draw that part with getView as \
Mermaid. Say only what the model says, and cite each element by id and version. Name what you would expect to find \
and did not."""


def add_prompts(architecture: Aggregate) -> None:
    """Changing a model, and explaining a part of it."""
    architecture.prompt(
        "model-a-change",
        "Bring a change into the architecture model: looked up, validated, related, proposed.",
        {"change": "What should be in the model, in your own words."},
        title="Model a change",
        text=MODEL,
        needs=("architecture.create-element",),
    )
    architecture.prompt(
        "explain-architecture",
        "Explain a part of the architecture from the model, with a picture and citations.",
        {"subject": "An element, a capability or a topic."},
        title="Explain the architecture",
        text=EXPLAIN,
        needs=("architecture.semantic-search",),
    )
