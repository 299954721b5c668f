"""Finding proposals: filters, pages, a stable order, and cursors that somebody made up."""

from base64 import urlsafe_b64encode

from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import approve, proposal_of, reject


def listed(client: Client, **filters: object) -> list[str]:
    answer = client.call("proposals.list-proposals", filters)
    assert answer.ok, answer
    return [proposal["id"] for proposal in answer.data["proposals"]]


def test_filters_find_by_status_author_target_and_risk(curator: Client, agent: Client) -> None:
    rover = curator.as_("rover", "agent", ["agent"])
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    change = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert"))
    removal = proposal_of(rover.shelf.remove_book(id=book))
    draft = proposal_of(rover.shelf.add_book(title="Emma", commit_mode="draft"))
    turned_down = proposal_of(agent.shelf.add_book(title="Ulysses"))
    reject(curator, turned_down)
    accepted = proposal_of(rover.shelf.add_book(title="Persuasion"))
    approve(curator, accepted)
    everything = [change, removal, draft, turned_down, accepted]
    assert sorted(listed(curator)) == sorted(everything)
    assert listed(curator, author="scout") == [change, turned_down]
    assert listed(curator, target=f"shelf/{book}") == [change, removal]
    assert listed(curator, risk=3) == [removal]
    assert listed(curator, risk=1) == [change]
    assert listed(curator, status="draft") == [draft]
    assert listed(curator, status="rejected") == [turned_down]
    assert listed(curator, status="accepted") == [accepted]
    assert listed(curator, status="proposed") == [change, removal]
    assert listed(curator, status="proposed", author="rover", target=f"shelf/{book}", risk=3) == [removal]
    assert listed(curator, author="nobody") == []
    assert listed(agent) == listed(curator)


def test_the_status_of_an_outline_is_the_one_that_was_asked_for(
    offices: Offices, curator: Client, agent: Client
) -> None:
    overdue = proposal_of(agent.shelf.add_book(title="Dune"))
    offices.clock.pass_(days=31)
    fresh = proposal_of(agent.shelf.add_book(title="Emma"))
    for tidied in (False, True):
        if tidied:
            curator.office.tidy()
        assert listed(curator, status="proposed") == [fresh]
        assert listed(curator, status="withdrawn") == [overdue]
    outlines = curator.proposals.list_proposals().data["proposals"]
    assert [outline["status"] for outline in outlines] == ["withdrawn", "proposed"]


def test_an_outline_says_who_what_and_how_risky(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune", reason="It is quoted everywhere."))
    (outline,) = curator.proposals.list_proposals().data["proposals"]
    assert outline["id"] == proposal
    assert outline["proposed_by"] == {"actor_type": "agent", "actor_id": "scout"}
    assert outline["reason"] == "It is quoted everywhere."
    assert outline["summary"] == 'shelf.add-book: "Dune"'
    assert (outline["risk_tier"], outline["approvals_required"]) == (2, 1)


def test_an_outline_names_what_people_know_by_a_name(offices: Offices, curator: Client, agent: Client) -> None:
    dune = curator.shelf.add_book(title="Dune").data["book"]["id"]
    agent.shelf.change_book(id=dune, title="Dune Messiah")
    agent.shelf.remove_book(id=dune)
    agent.shelf.add_book(title=f"A {'very ' * 20}long\u2028title")
    agent.shelf.import_books(text="\n".join(f"Book {number}" for number in range(5)))
    outlines = curator.proposals.list_proposals().data["proposals"]
    assert [outline["summary"] for outline in outlines] == [
        'shelf.change-book: "Dune"',
        'shelf.remove-book: "Dune"',
        'shelf.add-book: "A very very very very very very very ver…"',
        'shelf.import-books: "Book 0", "Book 1", "Book 2" and 2 more',
    ]


def test_pages_show_everything_once_in_the_order_of_opening(offices: Offices, curator: Client, agent: Client) -> None:
    opened = []
    for number in range(23):
        opened.append(proposal_of(agent.shelf.add_book(title=f"Book {number}")))
        if number % 3 == 0:
            offices.clock.pass_(seconds=1)
    found: list[str] = []
    cursor = None
    while True:
        page = curator.call("proposals.list-proposals", {"limit": 5, **({"cursor": cursor} if cursor else {})})
        found += [proposal["id"] for proposal in page.data["proposals"]]
        cursor = page.data["next_cursor"]
        if cursor is None:
            break
    assert found == opened
    assert listed(curator, limit=23) == opened
    assert curator.proposals.list_proposals(limit=23).data["next_cursor"] is None


def test_what_happens_between_two_pages_moves_nothing_on_them(offices: Offices, curator: Client, agent: Client) -> None:
    first, second, third = (proposal_of(agent.shelf.add_book(title=f"Book {number}")) for number in range(3))
    page = curator.proposals.list_proposals(limit=2)
    assert [proposal["id"] for proposal in page.data["proposals"]] == [first, second]
    reject(curator, first)
    offices.clock.pass_(seconds=1)
    fourth = proposal_of(agent.shelf.add_book(title="Book 4"))
    assert listed(curator, limit=2, cursor=page.data["next_cursor"]) == [third, fourth]


def encoded(text: bytes) -> str:
    return urlsafe_b64encode(text).decode()


GARBAGE = [
    "",
    "%%%",
    "ümlaut",
    "AAAA",
    "=" * 512,
    encoded(b"5"),
    encoded(b"null"),
    encoded(b'"ab"'),
    encoded(b"[]"),
    encoded(b'["2026"]'),
    encoded(b"[1, 2]"),
    encoded(b'["2026", 7]'),
    encoded(b'["2026", "b", "c"]'),
    encoded(b'{"a": 1, "b": 2}'),
    encoded(b'["\\u0000", "\\u0000"]'),
    encoded(b'["2026", "prop"]') + "\n",
]


def test_a_cursor_that_is_none_of_ours_is_invalid(curator: Client) -> None:
    for cursor in GARBAGE:
        refused = curator.proposals.list_proposals(cursor=cursor)
        assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "cursor"), cursor


def test_filters_that_do_not_exist_are_invalid(curator: Client) -> None:
    wrong: list[tuple[str, object]] = [
        ("status", "published"),
        ("limit", 0),
        ("limit", 201),
        ("risk", 5),
        ("risk", -1),
        ("author", 7),
        ("statuss", "draft"),
    ]
    for field, value in wrong:
        refused = curator.call("proposals.list-proposals", {field: value})
        assert (refused.reply_type, refused.data["field"]) == ("I", field), value


def test_a_strange_filter_finds_nothing(curator: Client, agent: Client) -> None:
    proposal_of(agent.shelf.add_book(title="Dune"))
    for field in ("author", "target"):
        for value in ("'; DROP TABLE proposals; --", "%", "shelf/%", "\u202e", "x" * 5000):
            assert listed(curator, **{field: value}) == []
    assert len(listed(curator)) == 1
