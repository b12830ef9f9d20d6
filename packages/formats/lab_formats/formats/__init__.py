# SPDX-License-Identifier: GPL-2.0-or-later
"""One file per format. A file that defines IMPORTERS adds its formats; nothing else needs an edit."""
