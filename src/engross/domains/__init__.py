"""The domains that come with the house. None knows another."""
