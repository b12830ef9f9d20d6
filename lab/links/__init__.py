# SPDX-License-Identifier: GPL-2.0-or-later
"""How a link behaves during one trial: constants, recorded series and models, drawn from the trial's seed."""
