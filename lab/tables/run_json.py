# SPDX-License-Identifier: GPL-2.0-or-later
"""run.json: the definition of what is stored of a run. The form is that of lab/node/plan.py."""

from typing import Annotated, Any, NotRequired, TypedDict

UserFile = dict[str, Any]  # a user's file as it was read then; its model may have other fields today


class WorldJson(TypedDict):
    """The system in which the kernel under test runs its tools."""

    digest: Annotated[str, "digest of the image, or of the machine's packages in real time"]
    packages: Annotated[dict[str, str], "version of each package"]
    drifted: Annotated[dict[str, str], "packages whose pinned version the archive no longer had, with what was used"]


class HostJson(TypedDict):
    """The machine that ran the command."""

    machine: Annotated[str, "its processor's architecture"]
    system: Annotated[str, "its system"]
    python: Annotated[str, "its Python"]
    processor: Annotated[str, "its processor's model"]
    cores: Annotated[int, "the number of its processors that the command could use"]


class Requested(TypedDict):
    """Everything that the user's files request, with a digest of each part."""

    name: Annotated[str, "name of the scenario"]
    scenario: Annotated[UserFile, "the scenario, with its defaults"]
    profile: Annotated[UserFile, "the link's profile, with its defaults"]
    topology: Annotated[UserFile, "the topology, with its defaults"]
    sysctls: Annotated[UserFile, "the pinned kernel settings, each with its reason"]
    ccas: Annotated[list[UserFile], "the stanza of each sender, in the scenario's order"]
    rival: NotRequired[Annotated[UserFile, "the stanza of the second download's sender"]]
    rivals: NotRequired[Annotated[list[UserFile], "the stanza of each sender of other downloads, of a list of them"]]
    shaper: Annotated[str, "what replays the link: replay or netem"]
    digests: Annotated[dict[str, str], "digest of each part; --resume compares them"]


class Circumstances(TypedDict):
    """What else decides a result, or may explain one."""

    seeds: Annotated[list[int], "seed of each trial, in the order of their numbers"]
    command: Annotated[list[str], "the command that began the run"]
    lab_version: Annotated[str, "git describe of the lab"]
    backend: Annotated[str, "where the kernel ran: virtual, host or vm"]
    engine: Annotated[str, "what built the network: netns, containerlab, mininet or pair"]
    sandbox: NotRequired[Annotated[str, "of a virtual kernel: bubblewrap; or none, with Landlock where there is one"]]
    kernel: Annotated[
        dict[str, str], "the kernel under test: kernel_source, kernel_digest, modules_digest, and cpu in real time"
    ]
    world: Annotated[WorldJson, "the system around it"]
    host: Annotated[HostJson, "the machine that ran the command"]
    wall_s: NotRequired[Annotated[float, "wall time of all commands that ran it, without killed ones"]]
    attempted: NotRequired[Annotated[int, "of a comparison: up to this number every trial was run or has failed"]]


class RunJson(Requested, Circumstances):
    """run.json."""

    format: Annotated[int, "version of the stored form"]
    complete: Annotated[bool, "whether every trial is stored"]
