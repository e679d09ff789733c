"""How a declared message behaves as a class: constructor, defaults, equality and text."""

import pytest

from ottla.protocol.primitives import Int32
from ottla.protocol.schema import Message, Struct, field, message


class Partition(Struct):
    index: Int32
    leader: Int32 = -1


@message(key=99, oldest=1, newest=3, flexible_from=2)
class Topics(Message):
    name: str
    partitions: list[Partition] = field(default=[])
    owner: str | None = field(since=2, default=None)


def test_fields_are_given_by_keyword_and_the_rest_have_their_defaults() -> None:
    topics = Topics(name="orders")
    assert (topics.name, topics.partitions, topics.owner) == ("orders", [], None)
    assert topics.unknown_tags == ()
    assert Partition(index=3).leader == -1


def test_a_forgotten_field_is_named() -> None:
    with pytest.raises(TypeError, match="'name'"):
        Topics(partitions=[])  # type: ignore[call-arg]


def test_a_field_that_is_not_declared_is_refused() -> None:
    with pytest.raises(TypeError, match="'colour'"):
        Topics(name="orders", colour="red")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Topics(name="orders").colour = "red"  # type: ignore[attr-defined]


def test_fields_are_not_given_by_position() -> None:
    with pytest.raises(TypeError):
        Topics("orders")  # type: ignore[call-arg]


def test_every_message_has_a_list_of_its_own() -> None:
    first, second = Topics(name="a"), Topics(name="b")
    first.partitions.append(Partition(index=0))
    assert second.partitions == []
    assert Topics(name="c").partitions == []


def test_a_list_that_is_given_is_not_copied() -> None:
    mine = [Partition(index=0)]
    assert Topics(name="a", partitions=mine).partitions is mine


def test_equality_looks_at_every_field_and_at_unknown_tags() -> None:
    one, same = Topics(name="a"), Topics(name="a")
    assert one == same
    assert one != Topics(name="b")
    assert Topics(name="a", partitions=[Partition(index=0)]) != one
    same.unknown_tags = [(7, b"")]
    assert one != same


def test_no_two_types_are_equal() -> None:
    class Other(Struct):
        index: Int32
        leader: Int32 = -1

    assert Partition(index=1) != Other(index=1)
    assert Partition(index=1) != (1, -1)


def test_a_message_can_change_and_so_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Topics(name="a"))


def test_its_text_is_what_would_build_it() -> None:
    topics = Topics(name="a", partitions=[Partition(index=1)])
    assert repr(topics) == (
        "Topics(name='a', partitions=[Partition(index=1, leader=-1)], owner=None)"
    )
    topics.unknown_tags = [(7, b"x")]
    assert repr(topics).endswith("owner=None, unknown_tags=[(7, b'x')])")


def test_a_message_knows_its_versions() -> None:
    assert (Topics.api_key, Topics.oldest, Topics.newest, Topics.flexible_from) == (99, 1, 3, 2)
    assert [Topics.is_flexible(version) for version in (1, 2, 3)] == [False, True, True]


def test_a_message_without_flexible_versions_never_is() -> None:
    @message(newest=1, flexible_from=None)
    class Plain(Message):
        name: str

    assert not Plain.is_flexible(0)
    assert not Plain.is_flexible(1)


def test_a_message_without_fields_can_be_made() -> None:
    @message(newest=0, flexible_from=0)
    class Nothing(Message):
        pass

    assert Nothing() == Nothing()
    assert repr(Nothing()) == "Nothing()"


def test_a_field_knows_the_versions_it_is_in() -> None:
    owner = Topics.fields[2]
    assert [owner.exists_in(version) for version in (1, 2, 3)] == [False, True, True]

    class Old(Struct):
        gone: Int32 = field(since=1, until=2, default=0)

    assert [Old.fields[0].exists_in(version) for version in range(4)] == [False, True, True, False]
