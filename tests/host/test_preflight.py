"""Each thing that would fail, or cost, at the next start has a finding that says what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from host.situations import MODEL, judge, machine, plan
from seatrial.facts.host import DockerFacts, GpuFacts, GpuProcess, HostFacts
from seatrial.findings import Finding, Level
from seatrial.host.preflight import preflight
from seatrial.host.situation import (
    Caches,
    Container,
    Image,
    Inside,
    Listener,
    OwnedFolder,
    Person,
    SharedMemory,
    Situation,
    Snapshot,
    Space,
    Store,
    Written,
)

GIB = 1 << 30
DIGEST = "sha256:" + "a1" * 32
OTHER = "sha256:" + "b2" * 32
STORE = Store("/opt/sglang/hf-cache", exists=True, owner=1000, group=1000, free_bytes=900 * GIB)
WHOLE = Snapshot("main", folder=True, reference=True, commit="c" * 40)
GOOD_INSIDE = Inside(
    uid=0,
    user="root",
    hub=Written("/hf-cache/hub", mounted=True),
    hub_variable="HF_HOME",
    versions={"sglang": "0.5.16"},
)


def with_gpus(**more: Any) -> HostFacts:
    host = machine()
    return replace(host, gpus=tuple(replace(gpu, **more) for gpu in host.gpus or ()))


def held(*processes: GpuProcess, free_mib: int = 2_000) -> HostFacts:
    host = machine()
    gpus = list(host.gpus or ())
    gpus[0] = replace(gpus[0], free_mib=free_mib, processes=processes)
    return replace(host, gpus=tuple(gpus))


def docker(**more: Any) -> DockerFacts:
    known: dict[str, Any] = {"version": "28.3.0", "compose_version": "2.38.1", "runtimes": ("runc",), "reachable": True}
    return DockerFacts(**{**known, **more})


def test_a_machine_on_which_nothing_is_wrong_gets_no_warning() -> None:
    found = judge(
        inside=GOOD_INSIDE, store=replace(STORE, snapshot=WHOLE), image=Image("x:v1", id=DIGEST, cuda="13.0.1")
    )
    assert [finding.id for finding in found.values() if finding.level is not Level.NOTE] == []


CASES: list[tuple[str, Level, str, dict[str, Any]]] = [
    # Driver and CUDA
    ("driver-too-old", Level.ERROR, "580 or newer", {"host": machine(driver_version="570.86.10", cuda_version="12.8")}),
    (
        "driver-too-old",
        Level.ERROR,
        "needs 525",
        {
            "host": machine(driver_version="470.256", cuda_version="11.4"),
            "image": Image("x:v1", id=DIGEST, cuda="12.9.1"),
        },
    ),
    (
        "driver-too-old",
        Level.WARNING,
        "cuda-compat",
        {"host": machine("8x H100", driver_version="535.183.01"), "plan": plan(machine("8x H100"))},
    ),
    (
        "driver-of-an-earlier-minor",
        Level.NOTE,
        "PTX",
        {"host": machine(driver_version="580.65.06"), "image": Image("x:v1", id=DIGEST, cuda="13.1.0")},
    ),
    ("older-system-nvcc", Level.NOTE, "Leave it alone", {"host": machine(nvcc_version="12.0")}),
    ("no-gpu", Level.ERROR, "nvidia-smi", {"host": HostFacts(gpus=(), docker=docker(), clock_synchronized=True)}),
    # The cards
    ("too-few-gpus", Level.ERROR, "tensor_parallel to 1", {"host": machine("1x RTX 4090"), "plan": plan()}),
    ("gpu-too-old-for-quantization", Level.ERROR, "8.0", {"host": machine("2x T4"), "plan": plan(machine("2x T4"))}),
    (
        "gpu-memory-held",
        Level.ERROR,
        "PID 4711 python3 of anna 22.0 GiB",
        {"host": held(GpuProcess(4711, "python3", 22_528, "anna"))},
    ),
    (
        "gpu-memory-held",
        Level.ERROR,
        "docker stop 0123456789ab",
        {"host": held(GpuProcess(4711, "python3", 22_528, "root", "0123456789ab"))},
    ),
    ("gpu-memory-held", Level.ERROR, "workers can outlive", {"host": held()}),
    ("gpu-memory-held", Level.WARNING, "kill 4711", {"host": held(GpuProcess(4711, "Xorg", 1_800), free_mib=22_700)}),
    ("ecc-errors", Level.WARNING, "nvidia-smi -q -d ECC", {"host": with_gpus(ecc_errors=3)}),
    (
        "gpu-throttled",
        Level.WARNING,
        "cooling",
        {"host": with_gpus(throttled=("slowed by the hardware because it is hot",))},
    ),
    ("gpu-hot", Level.NOTE, "88 °C", {"host": with_gpus(temperature_c=88, slowdown_c=90)}),
    ("narrow-pcie", Level.NOTE, "8 of its 16", {"host": with_gpus(pcie_width=8, pcie_width_max=16)}),
    ("slow-pcie", Level.NOTE, "idle", {"host": with_gpus(pcie_generation=1, pcie_generation_max=4)}),
    ("no-persistence", Level.NOTE, "nvidia-persistenced", {"host": with_gpus(persistence_mode=False)}),
    ("mig", Level.WARNING, "instances", {"host": with_gpus(mig=True)}),
    # How they are joined
    ("no-peer-access", Level.NOTE, "is in the plan", {}),
    ("no-nvlink", Level.NOTE, "PCIe", {}),
    ("nvlink", Level.NOTE, "NV18", {"host": machine("8x H100"), "plan": plan(machine("8x H100"))}),
    (
        "cannot-tell",
        Level.NOTE,
        "topo -p2p r",
        {"host": replace(machine(), links=tuple(replace(one, peer_access=None) for one in machine().links))},
    ),
    ("small-host-shared-memory", Level.WARNING, "remount", {"host": machine(shm_mib=64)}),
    # Docker
    ("no-docker", Level.ERROR, "Compose plugin", {"host": machine(docker=None)}),
    ("docker-too-old", Level.ERROR, "20.10", {"host": machine(docker=docker(version="19.03.1"))}),
    ("no-compose", Level.ERROR, "plugin", {"host": machine(docker=docker(compose_version=None))}),
    ("compose-too-old", Level.ERROR, "version 2", {"host": machine(docker=docker(compose_version="1.29.2"))}),
    ("no-nvidia-runtime", Level.ERROR, "nvidia-ctk", {"host": machine(docker=docker())}),
    ("cdi-only", Level.WARNING, "nvidia-ctk", {"host": machine(docker=docker(cdi_devices=("nvidia.com/gpu=all",)))}),
    (
        "gpu-not-in-containers",
        Level.ERROR,
        "nvidia-ctk",
        {
            "host": machine(docker=docker()),
            "inside": replace(GOOD_INSIDE, gpu_problem="could not select device driver"),
        },
    ),
    ("gpu-in-containers", Level.NOTE, "2 GPUs", {"inside": replace(GOOD_INSIDE, gpus=("GPU 0: x", "GPU 1: x"))}),
    (
        "new-login-needed",
        Level.ERROR,
        'sg docker -c "seatrial up"',
        {"host": machine(docker=docker(reachable=False)), "person": Person(1000, "anna", ("anna",), ("docker",))},
    ),
    (
        "not-in-docker-group",
        Level.ERROR,
        "root on this host",
        {"host": machine(docker=docker(reachable=False)), "person": Person(1000, "anna", ("anna",))},
    ),
    (
        "docker-unreachable",
        Level.ERROR,
        "systemctl start docker",
        {"host": machine(docker=docker(reachable=False)), "person": Person(0, "root", ("root",))},
    ),
    # Packages
    (
        "flashinfer-versions-differ",
        Level.ERROR,
        "0.6.14",
        {
            "inside": replace(
                GOOD_INSIDE, versions={"flashinfer-python": "0.6.14", "flashinfer-jit-cache": "0.6.13+cu130"}
            )
        },
    ),
    (
        "engine-version-differs",
        Level.ERROR,
        "engine.version",
        {"inside": replace(GOOD_INSIDE, versions={"sglang": "0.5.23"})},
    ),
    (
        "engine-package-differs",
        Level.ERROR,
        "flashinfer-python==0.6.14",
        {"environment": {"sglang": "0.5.16", "flashinfer-python": "0.6.12"}},
    ),
    # Space, clock, port
    (
        "little-space",
        Level.WARNING,
        "docker system df",
        {"spaces": (Space("/var/lib/docker", "an image", GIB, 60 * GIB),)},
    ),
    ("clock-not-synchronized", Level.NOTE, "set-ntp", {"host": machine(clock_synchronized=False)}),
    ("port-taken", Level.ERROR, "vllm (PID 99)", {"listener": Listener(30000, 99, "vllm")}),
    (
        "port-taken",
        Level.ERROR,
        "container chat",
        {
            "listener": Listener(30000, None, "docker-proxy", "ffff"),
            "containers": (Container("ffff", "chat", "running"),),
        },
    ),
    (
        "port-is-ours",
        Level.NOTE,
        "already",
        {
            "listener": Listener(30000, container="aaaa"),
            "containers": (Container("aaaa", "review", "running", stack="review"),),
        },
    ),
]


@pytest.mark.parametrize(("kind", "level", "says", "parts"), CASES, ids=[f"{row[0]}-{row[2]}" for row in CASES])
def test_what_is_wrong_has_a_finding_with_advice(kind: str, level: Level, says: str, parts: dict[str, Any]) -> None:
    found = judge(**parts)
    assert kind in found, list(found)
    finding = found[kind]
    assert (finding.level, says in text(finding)) == (level, True), finding


def text(finding: Finding) -> str:
    return f"{finding.message} {finding.advice}"


class TestOperations:
    """What people reported about the life of such servers, each with the finding that would have told them before."""

    def test_mixed_owners_name_only_the_odd_models_and_one_command(self) -> None:
        models = (
            OwnedFolder("models--a--x", frozenset({1000}), frozenset({1000})),
            OwnedFolder("models--b--y", frozenset({0}), frozenset({0})),
        )
        found = judge(store=replace(STORE, models=models))["mixed-owners"]
        assert found.level is Level.WARNING
        assert "models--b--y" in found.message
        assert "models--a--x" not in text(found)
        assert found.advice.count("chown") == 1
        assert "chown -hR 1000:1000 /opt/sglang/hf-cache/hub/models--b--y" in found.advice
        assert "container.non_root" in found.advice

    def test_owners_that_differ_where_the_group_may_write_all_are_fine(self) -> None:
        models = (OwnedFolder("models--a--x", frozenset({1001, 0}), frozenset({1000}), writable=True),)
        assert "mixed-owners" not in judge(store=replace(STORE, models=models))

    def test_a_hub_folder_outside_of_any_mount_is_an_error_before_the_download(self) -> None:
        inside = replace(
            GOOD_INSIDE, uid=1000, hub=Written("/root/.cache/huggingface/hub", mounted=False), hub_variable=""
        )
        found = judge(inside=inside)["store-not-mounted"]
        assert found.level is Level.ERROR
        assert "Set HF_HOME" in found.advice

    def test_a_hub_folder_that_can_not_be_written_inside_is_an_error(self) -> None:
        hub = Written("/hf-cache/hub", "permission denied", mounted=True)
        found = judge(inside=replace(GOOD_INSIDE, uid=1000, hub=hub), store=STORE)["store-not-writable-inside"]
        assert found.level is Level.ERROR
        assert "uid 1000 can't write /hf-cache/hub" in found.message
        assert "silent fall-back" in found.advice
        caches = replace(GOOD_INSIDE, caches=Written("/root/.cache", "read-only file system"))
        assert judge(inside=caches)["caches-not-writable-inside"].level is Level.ERROR

    def test_a_uid_without_a_name_is_an_error_that_names_all_variables(self) -> None:
        inside = replace(GOOD_INSIDE, uid=1042, user=None, user_problem="KeyError: 'getpwuid(): uid not found: 1042'")
        found = judge(inside=inside)["uid-without-name"]
        assert found.level is Level.ERROR
        assert all(word in found.advice for word in ("USER", "HOME", "LOGNAME", "TORCHINDUCTOR_CACHE_DIR alone is not"))

    def test_a_disk_too_small_for_the_download_is_an_error_before_the_first_byte(self) -> None:
        store = replace(STORE, free_bytes=GIB, needed_bytes=20 * GIB)
        found = judge(store=store)["disk-full-in-download"]
        assert found.level is Level.ERROR
        assert "20.0 GiB" in found.message
        assert "before the first byte" in found.advice

    def test_a_tag_that_moved_is_an_error_and_the_old_image_is_the_way_back(self) -> None:
        moved = Image("e:v1", id=DIGEST, locked=OTHER, locked_is_here=True)
        found = judge(image=moved)["image-moved"]
        assert found.level is Level.ERROR
        assert "docker tag sha256:b2b2b2b2b2b2 e:v1" in found.advice
        assert "not here any more" in judge(image=replace(moved, locked_is_here=False))["image-moved"].advice
        assert "image-moved" not in judge(image=replace(moved, locked=DIGEST))

    def test_a_tag_that_is_gone_is_said_so_with_the_image_that_is_still_here(self) -> None:
        gone = Image("e:nightly", in_registry=False, locked=OTHER, locked_is_here=True)
        found = judge(image=gone)["image-tag-gone"]
        assert found.level is Level.ERROR
        assert "no longer exists" in found.message
        assert "sha256:b2b2b2b2b2b2, which ran before, is still here" in found.advice
        assert judge(image=replace(gone, in_registry=None))["image-not-here"].level is Level.WARNING
        assert judge(image=Image("e:v1", in_registry=True))["image-not-here"].level is Level.NOTE

    def test_the_resolved_image_is_told_with_version_and_digest(self) -> None:
        image = Image("e:v1", id=DIGEST, digests=("registry/e@" + OTHER,))
        found = judge(image=image)["image-resolved"]
        assert all(word in found.message for word in ("e:v1", "sha256:a1a1a1a1a1a1", "sha256:b2b2b2b2b2b2", "0.5.16"))

    def test_caches_are_cold_warm_or_another_images(self) -> None:
        key = {"image": DIGEST, "gpu": "sm89", "driver": "580.95.05"}
        cold = judge(caches=Caches("/c", entries=False))["caches-cold"]
        assert "10 to 30 minutes" in cold.message
        assert "1320 s" in judge(caches=Caches("/c", entries=False, cold_seconds=1320))["caches-cold"].message
        warm = judge(caches=Caches("/c", entries=True, made_for=key, wanted=key, warm_seconds=84))["caches-warm"]
        assert "usually takes 84 s" in warm.message
        for change in ({"image": OTHER}, {"gpu": "sm90"}, {"driver": "590.1"}):
            other = judge(caches=Caches("/c", entries=True, made_for=key, wanted={**key, **change}))[
                "caches-of-another"
            ]
            assert other.level is Level.WARNING
            assert next(iter(change)) in other.message

    def test_an_unclean_stop_asks_for_a_soak(self) -> None:
        killed = Container("aaaa", "review", "exited", stack="review", exit_code=137)
        found = judge(containers=(killed,))["unclean-stop"]
        assert "200 requests" in found.advice
        assert "SIGTERM" in found.advice
        assert "unclean-stop" not in judge(containers=(replace(killed, exit_code=0),))

    def test_shared_memory_and_workers_that_were_left_are_named(self) -> None:
        left = (SharedMemory("/dev/shm/psm_1", 4 << 20, 600),)
        assert "rm /dev/shm/psm_1" in judge(shared_memory=left)["shared-memory-left"].advice
        worker = GpuProcess(815, "sglang::schedul", user="sglang")
        assert "kill 815 (SIGTERM first)" in judge(leftovers=(worker,))["engine-processes-left"].advice

    def test_a_leftover_process_is_named_with_pid_account_and_container(self) -> None:
        process = GpuProcess(4711, "sglang::schedul", 22_000, "root", "0123456789ab")
        found = judge(host=held(process), containers=(Container("0123456789ab", "old-review", "running"),))
        message = found["gpu-memory-held"].message
        assert all(word in message for word in ("PID 4711", "of root", "in the container old-review", "21.5 GiB"))
        assert "the weights alone take" in message

    def test_memory_of_the_very_stack_is_no_finding(self) -> None:
        process = GpuProcess(4711, "sglang::schedul", 22_000, "root", "0123456789ab")
        ours = Container("0123456789ab", "review", "running", stack="review")
        assert "gpu-memory-held" not in judge(host=held(process), containers=(ours,))

    def test_an_orphan_container_of_our_own_label_is_offered_to_be_stopped(self) -> None:
        orphan = Container("bbbb", "other", "running", stack="other", folder="/srv/gone", gpus=True)
        found = judge(containers=(orphan,), folder="/opt/sglang/docker")["orphan-container"]
        assert "holds GPUs" in found.message
        assert "docker stop other" in found.advice
        moved = Container("cccc", "review", "running", stack="review", folder="/old/place", looked_after=True)
        found = judge(containers=(moved,), folder="/opt/sglang/docker")["orphan-container"]
        assert "seatrial stop --stack /old/place/stack.yaml" in found.advice
        created = Container("dddd", "review", "created", stack="review", folder="/opt/sglang/docker")
        assert "container-never-started" in judge(containers=(created,), folder="/opt/sglang/docker")

    def test_another_stack_that_somebody_looks_after_is_only_noted(self) -> None:
        beside = Container("bbbb", "other", "running", stack="other", folder="/srv/other", gpus=True, looked_after=True)
        found = judge(containers=(beside,), folder="/opt/sglang/docker")
        assert "orphan-container" not in found
        assert found["other-stack"].level is Level.NOTE

    def test_containers_of_others_are_never_offered(self) -> None:
        foreign = Container("eeee", "their-vllm", "running", gpus=True)
        found = judge(containers=(foreign,))
        assert not any("their-vllm" in text(finding) for finding in found.values())

    def test_offline_with_a_store_that_is_not_whole_is_a_precise_error(self) -> None:
        made = plan(container={"environment": {"HF_HUB_OFFLINE": "1"}})
        missing_reference = Snapshot("main", folder=True, reference=False)
        found = judge(plan=made, store=replace(STORE, snapshot=missing_reference))["reference-missing"]
        assert found.level is Level.ERROR
        assert f"models--{MODEL.replace('/', '--')}/refs/main is missing" in found.message
        incomplete = replace(WHOLE, missing=("model-00002-of-00009.safetensors",), unfinished=("x.incomplete",))
        found = judge(plan=made, store=replace(STORE, snapshot=incomplete))["model-incomplete"]
        assert found.level is Level.ERROR
        assert "model-00002-of-00009.safetensors" in found.message
        nothing = Snapshot("main", folder=False, reference=False)
        assert judge(plan=made, store=replace(STORE, snapshot=nothing))["model-not-in-store"].level is Level.ERROR

    def test_online_a_store_that_is_not_whole_is_what_the_start_will_load(self) -> None:
        nothing = Snapshot("main", folder=False, reference=False)
        assert judge(store=replace(STORE, snapshot=nothing))["model-not-in-store"].level is Level.NOTE
        assert "HF_HUB_OFFLINE=1" in judge(store=replace(STORE, snapshot=WHOLE))["could-be-offline"].advice


def test_without_facts_about_anything_nothing_is_claimed() -> None:
    assert preflight(Situation()) == ()


def test_the_heaviest_comes_first() -> None:
    host = machine(driver_version="470.1", clock_synchronized=False)
    levels = [finding.level for finding in preflight(Situation(host=host, plan=plan(host)))]
    assert levels == sorted(levels, key=list(Level).index)
    assert levels[0] is Level.ERROR


def test_a_plan_for_the_cpu_needs_no_gpu() -> None:
    made = plan(settings=[{"flag": "--device", "value": "cpu", "why": "no GPU here"}])
    assert "no-gpu" not in judge(host=HostFacts(gpus=(), docker=docker()), plan=made)


def test_a_card_that_tells_nothing_is_not_accused() -> None:
    host = HostFacts(gpus=(GpuFacts(0, "NVIDIA X", 24_000),), docker=docker(runtimes=("nvidia",)), driver_version="600")
    found = preflight(Situation(host=host))
    assert [finding.id for finding in found if finding.level is not Level.NOTE] == []
