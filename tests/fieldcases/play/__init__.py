"""Field cases, played: damage, what `holdfast` names as the remedy, the remedy, the right rows."""
