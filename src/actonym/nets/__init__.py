"""Parts that more than one method uses."""
