"""Every test twice, at the same time: as it is, and with all messages replaced by hashes.

The second run shows that nobody branches on wording. Both wait for servers and disks as often as they compute, so two
at once take hardly longer than one.
"""

from __future__ import annotations

import subprocess
import sys
from tempfile import TemporaryFile

PYTEST = [sys.executable, "-m", "pytest"]


def main(arguments: list[str]) -> int:
    """The exit code: 0 if both passed."""
    with TemporaryFile() as said:
        hashed = subprocess.Popen([*PYTEST, "--hash-messages", *arguments], stdout=said, stderr=subprocess.STDOUT)
        try:
            plain = subprocess.run([*PYTEST, *arguments], check=False).returncode
            print("\nThe same with all messages replaced by hashes:", flush=True)
            hashed.wait()
        finally:
            hashed.terminate()
            hashed.wait()
        said.seek(0)
        sys.stdout.buffer.write(said.read())
    return plain or hashed.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
