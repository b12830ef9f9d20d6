# SPDX-License-Identifier: GPL-2.0-or-later
"""From raw records to tables: each module decodes one kind of record, purely."""
