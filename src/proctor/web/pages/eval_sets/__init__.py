"""The data of the pages that show and edit eval sets."""
