"""Packages of Debian and of npm through their ordinary clients; nothing is installed."""

from pathlib import Path

from fathom.config.schema.source import DebianPackage, NpmPackage
from fathom.data.answers import LIMITS, Limits
from fathom.data.clients import Client

_NEW_VERSION = (
    "run `apt-get update` as root, write Version, Size and SHA256 of `apt-cache show` into the "
    "card in config/sources, and correct `expected` of its data sets; or put the file at {put}"
)
_APT = Client(
    name="apt-get",
    files="*.deb",
    by_hand="apt-get download {package}",
    install="fetch on a machine with Debian or Ubuntu",
    causes=(
        ("was not found", "apt's lists do not have this version", _NEW_VERSION),
        ("404 ", "the mirror has this version no longer", _NEW_VERSION),
        (
            "Unable to locate package",
            "apt's lists have no package of this name",
            "update them with `apt-get update` (as root), or put the file at {put}",
        ),
        (
            "Failed to fetch",
            "apt-get does not reach its mirror",
            "check the network and apt's sources, or put the file at {put}",
        ),
    ),
)
_NPM = Client(
    name="npm",
    files="*.tgz",
    by_hand="npm pack {package}",
    install="install Node.js, which has it",
    causes=(
        (
            "ETARGET",
            "npm's registry does not have this version",
            "choose one of `npm view {package} versions`, or put the file at {put}",
        ),
        (
            "E404",
            "npm's registry has no package of this name",
            "check which registry npm uses, or put the file at {put}",
        ),
        (
            "npm error network",
            "npm does not reach its registry",
            "check the network and npm's configuration, or put the file at {put}",
        ),
    ),
)


def debian(source: DebianPackage, folder: Path, put: Path, limits: Limits = LIMITS) -> Path:
    """Download a package with apt-get, which compares its checksum with that of the mirror's lists.

    Args:
        source: the package.
        folder: an existing folder, empty.
        put: where a user may put the file by hand.
        limits: of the time that apt-get may take.

    Raises:
        FathomError: there is no apt-get, or it does not download the package.
    """
    command = ["apt-get", "download", source.asked]
    return _APT.download(command, source.asked, source.bytes, folder, put, limits)


def npm(source: NpmPackage, folder: Path, put: Path, limits: Limits = LIMITS) -> Path:
    """Download a package with npm.

    Args:
        source: the package.
        folder: an existing folder, empty.
        put: where a user may put the file by hand.
        limits: of the time that npm may take.

    Raises:
        FathomError: there is no npm, or it does not download the package.
    """
    command = ["npm", "pack", source.asked, "--ignore-scripts"]
    return _NPM.download(command, source.asked, source.bytes, folder, put, limits)
