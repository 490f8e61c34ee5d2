"""Lists every damage; each is a pure function from a checkpoint's files to damaged files."""

from tests.restarts.damage import Damage
from tests.restarts.damages_commits import COMMIT_DAMAGES
from tests.restarts.damages_logs import LOG_DAMAGES
from tests.restarts.damages_metadata import METADATA_DAMAGES
from tests.restarts.damages_offsets import OFFSET_DAMAGES
from tests.restarts.damages_settings import SETTING_DAMAGES
from tests.restarts.damages_side_files import SIDE_DAMAGES
from tests.restarts.damages_sources import SOURCE_DAMAGES
from tests.restarts.damages_state import STATE_DAMAGES

DAMAGES: tuple[Damage, ...] = (
    *LOG_DAMAGES,
    *OFFSET_DAMAGES,
    *SETTING_DAMAGES,
    *COMMIT_DAMAGES,
    *METADATA_DAMAGES,
    *STATE_DAMAGES,
    *SOURCE_DAMAGES,
    *SIDE_DAMAGES,
)


def damage_named(name: str) -> Damage:
    """The damage of that name; a name that is not in DAMAGES raises KeyError."""
    return {damage.name: damage for damage in DAMAGES}[name]
