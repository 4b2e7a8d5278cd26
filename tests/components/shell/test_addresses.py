"""By which address strangers are counted."""

from components.shell.addresses import counted_address


def counted(address: str) -> str:
    return counted_address({"client": (address, 443)})


def test_an_address_counts_as_itself_and_of_ipv6_the_network() -> None:
    assert counted("10.0.0.1") != counted("10.0.0.2")
    assert counted("2001:db8::1") == counted("2001:db8::ffff:1")
    assert counted("2001:db8:0:1::1") != counted("2001:db8::1")


def test_an_ipv4_address_is_the_same_on_a_socket_of_both_kinds() -> None:
    assert counted("::ffff:10.0.0.1") == counted("10.0.0.1")
    assert counted("::ffff:10.0.0.1") != counted("::ffff:10.0.0.2")


def test_a_client_without_an_address_has_one_as_well() -> None:
    assert counted_address({"client": None}) == counted_address({}) == ""
    assert counted("testclient") == "testclient"
