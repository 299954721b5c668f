"""Measurements. Only ratios within one run count; absolute figures depend on the machine."""
