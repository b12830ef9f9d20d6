# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a comparison: ranks of senders over links, the worst trial explained, and what RFC 9743 asks for."""
