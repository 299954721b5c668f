"""ArchiMate models: what agents may say about an architecture, checked against the metamodel, kept as facts."""

from engross.flows import Aggregate

from .exchange import add_exchange_flows
from .metamodel import Metamodel, metamodel
from .read_flows import add_read_flows, add_write_schema
from .state import add_appliers
from .tables import MIGRATIONS, TABLES
from .ways import USUAL_WAYS, Embedder, Habits, Ways
from .write_flows import add_write_flows

__all__ = ["Embedder", "Habits", "Metamodel", "Ways", "architecture", "metamodel"]


def architecture(ways: Ways = USUAL_WAYS) -> Aggregate:
    """The whole domain as one aggregate."""
    aggregate = Aggregate(
        "architecture", "Architecture models", dialect="architecture", tables=TABLES, migrations=MIGRATIONS
    )
    add_appliers(aggregate)
    add_write_flows(aggregate, ways)
    add_exchange_flows(aggregate, ways)
    add_read_flows(aggregate, ways)
    add_write_schema(aggregate)
    return aggregate
