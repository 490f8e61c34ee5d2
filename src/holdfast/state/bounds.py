"""How much is read, shown and held, unless somebody asks for another amount."""

from __future__ import annotations

MEMORY_BYTES = 300_000_000
"""What reading state may take before it goes on through temporary files."""
FIRST_ROWS = 20
"""How many rows are shown."""
COUNTED_ROWS = 50_000
"""Once enough rows are shown, so many are counted before reading ends without a total."""
