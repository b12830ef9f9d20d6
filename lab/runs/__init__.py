# SPDX-License-Identifier: GPL-2.0-or-later
"""Running trials: from an experiment to stored, certified results."""
