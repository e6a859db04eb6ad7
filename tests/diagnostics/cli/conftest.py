"""The command line, called in this process, and the form of its errors."""

import pytest

from klinic.diagnostics.cli import main


@pytest.fixture
def klinic(capsys):
    """Call klinic; returns exit code, standard output and standard error."""

    def run(*args):
        with pytest.raises(SystemExit) as exit_:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert not any(line.startswith("Traceback (most") for line in (out + err).splitlines())
        return exit_.value.code or 0, out, err

    return run


@pytest.fixture
def one_line():
    """Hold an error to one line of klinic's; returns it."""

    def checked(err):
        assert err.startswith("klinic: ")
        assert err.count("\n") == 1
        return err

    return checked
