"""A capability whose objects have a name and a type, and that gives no account of its own."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from engross import Aggregate
from engross.ledger import Fact, State, Unit

JOBS = """
CREATE TABLE jobs (
    tenant $text NOT NULL,
    id     $text NOT NULL,
    name   $text NOT NULL,
    type   $text NOT NULL,
    PRIMARY KEY (tenant, id)
)$clustered;
"""

jobs = Aggregate("jobs", "Jobs", tables=["jobs"], migrations=[("jobs", JOBS)])


class AddJob(TypedDict):
    """A job."""

    name: str
    type: str


@jobs.record(effect="create")
def add_job(unit: Unit, arguments: AddJob) -> Mapping[str, Any]:
    """Add a job."""
    identifier = unit.new_id("job_")
    unit.append("JobAdded", identifier, 0, arguments, fields=["name", "type"])
    return {"job": {"id": identifier, **arguments}}


@jobs.applies("JobAdded")
def added(state: State, fact: Fact) -> None:
    """A row."""
    job = fact.payload or {}
    state.execute(
        "INSERT INTO jobs (tenant, id, name, type) VALUES (:tenant, :id, :name, :type)", id=fact.subject, **job
    )
