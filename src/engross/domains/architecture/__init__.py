"""ArchiMate models: what agents may say about an architecture, checked against the metamodel, kept as facts."""

from engross.flows import Aggregate

from .flows import add_flows
from .metamodel import Metamodel, metamodel
from .prompts import add_prompts
from .state import add_appliers
from .tables import MIGRATIONS, TABLES
from .ways import USUAL_WAYS, Habits, Ways

__all__ = ["Habits", "Metamodel", "Ways", "architecture", "metamodel"]


def architecture(ways: Ways = USUAL_WAYS) -> Aggregate:
    """The whole domain as one aggregate."""
    aggregate = Aggregate(
        "architecture", "Architecture models", dialect="architecture", tables=TABLES, migrations=MIGRATIONS
    )
    add_appliers(aggregate)
    add_flows(aggregate, ways)
    add_prompts(aggregate)
    return aggregate
