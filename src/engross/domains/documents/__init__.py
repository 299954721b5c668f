"""Documents in OCTAVE: checked, written where the operator allows it, shown in other formats, kept on the record."""

from engross.flows import Aggregate

from .legacy_flows import add_legacy_flows
from .prompts import add_prompts
from .read_flows import add_read_flows
from .schema_flows import add_schema_flows
from .tables import MIGRATIONS, TABLES
from .versions import NAMESPACE, add_appliers
from .ways import Ways
from .write_flows import add_write_flows

__all__ = ["Ways", "documents"]


def documents(ways: Ways) -> Aggregate:
    """The whole domain as one aggregate."""
    aggregate = Aggregate(
        NAMESPACE, "Documents", dialect="documents", tables=TABLES, migrations=MIGRATIONS, naming="snake"
    )
    add_appliers(aggregate)
    add_write_flows(aggregate, ways)
    add_read_flows(aggregate, ways)
    add_schema_flows(aggregate, ways)
    add_legacy_flows(aggregate, ways)
    add_prompts(aggregate)
    return aggregate
