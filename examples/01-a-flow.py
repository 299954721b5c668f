"""Step 1: the smallest flow. No store of its own, no facts: a typed function that anybody may call."""

from tempfile import TemporaryDirectory
from typing import Annotated

from typing_extensions import TypedDict

from engross import Aggregate, connect
from engross.flows import Described

shelf = Aggregate("shelf", "A shelf of books")


class Measure(TypedDict):
    """What to measure."""

    titles: Annotated[list[str], Described("The titles, one by one.")]


@shelf.read
def measure(reader: object, arguments: Measure) -> dict[str, int]:
    """Say how many titles there are, and how long they are together."""
    return {"books": len(arguments["titles"]), "letters": sum(map(len, arguments["titles"]))}


if __name__ == "__main__":
    with TemporaryDirectory() as folder, connect(folder, shelf) as office:
        print(office.shelf.measure(titles=["Dune", "Emma"]).data)
        print(office.call("shelf.measure", {"title": ["Dune"]}).data)
