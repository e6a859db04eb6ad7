"""Files and folders of the user's: found, read without harm, written whole."""
