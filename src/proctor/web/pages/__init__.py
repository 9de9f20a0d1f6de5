"""What a web page shows, as data: for the live server and for the one-file report alike."""
