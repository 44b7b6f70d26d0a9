"""The app in a browser: a small web server on this machine, and a process of the app for each page."""
