"""Credentials as Apache Kafka 3.9.1 wrote them into ZooKeeper, for the password `x`."""

from __future__ import annotations

from hashlib import pbkdf2_hmac

import pytest

from ottla.security.scram import ScramCredential, ScramMechanism, credential

KAFKAS = {
    ScramMechanism.SHA_256: (
        "salt=c2FsdHk=,stored_key=KlafBOTWBIojp1ZbiwecTuezjrB2icveboUPzQL7pfc=,"
        "server_key=h6iGuKrne2praGXzIHLSIDfKjYMoiReXtPXEtSy9Ew8=,iterations=4096"
    ),
    ScramMechanism.SHA_512: (
        "salt=c2FsdHk=,stored_key=uS6rrNNecY8e+zxYJcT8VwGGTMK2tiQloILaCG4TpMxn+dwt+iwGew9zZYrUb5Sp"
        "im1rYprPbvOtLGTvlhyRIA==,server_key=R2Rl1FExwKqnh5s0JivuVQ2uIidr9OpAdeFkskX7LhpBu2XSXUQQbd"
        "ojPIHgHsuDh6kOD4ZAXhdSWAtym66NoQ==,iterations=4096"
    ),
}


@pytest.mark.parametrize("mechanism", KAFKAS)
def test_a_salted_password_becomes_what_kafka_stores(mechanism: ScramMechanism) -> None:
    salted = pbkdf2_hmac(mechanism.hash_name, b"x", b"salty", 4096)
    made = credential(mechanism, salt=b"salty", salted_password=salted, iterations=4096)
    assert made.encode() == KAFKAS[mechanism]
    assert ScramCredential.decode(KAFKAS[mechanism]) == made


def test_a_credential_may_be_without_salt() -> None:
    made = ScramCredential(salt=b"", stored_key=b"a", server_key=b"b", iterations=1)
    assert ScramCredential.decode(made.encode()) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "salt=c2FsdHk=,stored_key=YQ==,server_key=YQ==",
        "salt=c2FsdHk=,stored_key=YQ==,server_key=YQ==,iterations=many",
        "salt=c2FsdHk=,stored_key=*,server_key=YQ==,iterations=4096",
    ],
)
def test_what_cannot_be_read_is_not_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(?!.*c2FsdHk)"):
        ScramCredential.decode(text)
