"""What the tests stand on: servers of their own, an ordinary user, and the list of promises."""
