"""Pages: each gives its layout and registers its callbacks on an app; nothing here is global."""
