"""What is heavy is imported when it is first needed."""

import subprocess
import sys

HEAVY = ("pydantic", "rapidfuzz", "asyncio", "jsonschema_rs", "cryptography")


def test_importing_flows_and_defining_one_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from engross.flows import Aggregate, Catalogue, NoArguments\n"
        "shelf = Aggregate('shelf', 'Shelf')\n"
        "@shelf.read\n"
        "def look(reader, arguments: NoArguments) -> dict[str, object]:\n    'Look.'\n"
        "Catalogue([shelf])\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
