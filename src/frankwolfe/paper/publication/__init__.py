"""The reproduction written down: the page, pictures, and the summary that is kept."""
