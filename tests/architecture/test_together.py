"""Many at once: everything that was answered with success is there, and nothing twice."""

from concurrent.futures import ThreadPoolExecutor

from tests.architecture.studio import Studio, done


def test_many_writers_at_once_all_keep_what_they_wrote(studio: Studio) -> None:
    def write(number: int) -> str:
        answer = done(studio.robot.architecture.create_element(type="Node", name=f"Server number {number}"))
        return str(answer.data["element"]["id"])

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(write, range(80)))
    listed = studio.clara.architecture.list_elements(limit=500).data["elements"]
    assert sorted(one["id"] for one in listed) == sorted(made)
    assert studio.clara.office.rebuild(studio.clara.tenant).same


def test_of_many_who_take_the_same_name_one_gets_it(studio: Studio) -> None:
    def write(number: int) -> str:
        return studio.robot.architecture.create_element(type="Node", name="Server").message_key

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(write, range(16)))
    assert sorted(answers) == ["CREATED", *["DUPLICATE_NAME"] * 15]


def test_of_many_who_relate_the_same_two_one_does(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")

    def relate(number: int) -> str:
        return studio.robot.architecture.create_relationship(
            type="Realization", source_id=orders["id"], target_id=service["id"]
        ).message_key

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(relate, range(16)))
    assert sorted(answers) == ["CREATED", *["DUPLICATE_RELATIONSHIP"] * 15]
    assert len(studio.clara.architecture.list_relationships().data["relationships"]) == 1
