# SPDX-License-Identifier: GPL-2.0-or-later
"""The kind of a link, by the first word of its profile's name."""

from pathlib import Path

HOME = "Home access with AQM"
KINDS = {
    "geo": "GEO",
    "leo": "LEO",
    "lte": "LTE",
    "5g": "5G",
    "wifi": "WiFi",
    "home": HOME,
    "docsis": HOME,
    "wired": "Wired",
}
OTHER = "Other links"


def kind_of(profile: str) -> str:
    """Return the kind of link that a profile describes."""
    return KINDS.get(Path(profile).stem.split("-", 1)[0], OTHER)
