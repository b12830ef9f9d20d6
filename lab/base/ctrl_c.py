# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether Ctrl-C was pressed: an import that it breaks off may raise something else than KeyboardInterrupt."""

import threading

pressed = threading.Event()
