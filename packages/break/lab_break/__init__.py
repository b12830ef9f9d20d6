# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab break`: the link within stated bounds on which a sender is worst, as small a file as still shows it."""
