"""`models pull` by the real program and the real Hub client, against a local Hub that misbehaves on command."""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkpoint_kit import plain_model
from hub_kit import Hub, local_hub, noise, sha256
from kit import CommandLine, Completed, hear_ctrl_c
from seatrial.ledger.database import Ledger
from seatrial.ledger.entry import Combination, Entry, Kind


@pytest.fixture
def hub() -> Iterator[Hub]:
    with local_hub() as found:
        yield found


@pytest.fixture
def run(seatrial: CommandLine, hub: Hub) -> CommandLine:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE"):
        seatrial.environment.pop(name, None)
    seatrial.environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(seatrial.folder / "home")}
    return seatrial


def pull(run: CommandLine, *arguments: str, expect: int = 0, **environment: str) -> Completed:
    return run("models", "pull", *arguments, "--store", run.folder / "cache", expect=expect, **environment)


def snapshot(run: CommandLine, repo: str, commit: str) -> Path:
    return run.folder / "cache" / "hub" / f"models--{repo.replace('/', '--')}" / "snapshots" / commit


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_pulled_is_what_the_hub_has_and_the_hubs_own_client_finds_it_offline(
    run: CommandLine, hub: Hub
) -> None:
    files = plain_model()
    commit = hub.add("owner/name", files)
    done = pull(run, "owner/name")
    assert content(snapshot(run, "owner/name", commit)) == files
    assert commit in done.stdout
    assert "apache-2.0" in done.stdout
    assert "free at" in done.stdout
    code = (
        "from huggingface_hub import snapshot_download, scan_cache_dir;"
        "print(snapshot_download('owner/name', local_files_only=True));"
        "info = scan_cache_dir(); print(len(info.repos), info.warnings)"
    )
    store = run.folder / "cache"
    asked = subprocess.run(
        [sys.executable, "-c", code], env=run.environment | {"HF_HOME": str(store), "HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert asked.stdout.splitlines() == [str(snapshot(run, "owner/name", commit)), "1 []"]


def test_the_facts_stand_in_json_and_nothing_is_loaded_on_a_dry_run(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    commit = hub.add("owner/name", files)
    document = json.loads(pull(run, "owner/name@main", "--dry-run", "--json").stdout)
    assert document["commit"] == commit
    assert document["bytes"] == document["load_bytes"] == sum(map(len, files.values()))
    assert document["licence"] == "apache-2.0"
    assert not document["gated"]
    assert not document["pulled"]
    assert document["free_bytes"] > document["needed_bytes"] > document["bytes"]
    assert not (run.folder / "cache").exists()
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)


def test_a_branch_a_tag_or_a_commit_is_resolved(run: CommandLine, hub: Hub) -> None:
    first = hub.add("owner/name", plain_model(seed=1), ref="v1")
    second = hub.add("owner/name", plain_model(seed=2))
    pull(run, "owner/name@v1")
    pull(run, f"owner/name@{second}")
    model = run.folder / "cache/hub/models--owner--name"
    assert (model / "refs/v1").read_text() == first
    assert not (model / "refs/main").exists()
    assert {path.name for path in (model / "snapshots").iterdir()} == {first, second}


def test_a_second_pull_loads_nothing_and_a_new_commit_loads_only_what_is_new(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    hub.add("owner/name", files)
    pull(run, "owner/name")
    hub.requests.clear()
    assert json.loads(pull(run, "owner/name", "--json").stdout)["load_bytes"] == 0
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)
    changed = files | {"extra.json": b'{"new": true}'}
    commit = hub.add("owner/name", changed)
    document = json.loads(pull(run, "owner/name", "--json").stdout)
    assert document["load_bytes"] == len(b'{"new": true}')
    assert len(document["kept_commits"]) == 1
    assert content(snapshot(run, "owner/name", commit)) == changed
    assert (run.folder / "cache/hub/models--owner--name/refs/main").read_text() == commit


def test_the_branch_points_to_the_old_commit_until_the_new_one_is_whole(run: CommandLine, hub: Hub) -> None:
    old = hub.add("owner/name", plain_model(seed=1))
    pull(run, "owner/name")
    files = plain_model(seed=2)
    hub.add("owner/name", files)
    hub.corrupt[sha256(files["model-00002-of-00002.safetensors"])] = 2
    pull(run, "owner/name", expect=3)
    assert (run.folder / "cache/hub/models--owner--name/refs/main").read_text() == old


def test_one_corrupt_byte_is_noticed_and_loaded_once_more(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    name = "model-00001-of-00002.safetensors"
    hub.corrupt[sha256(files[name])] = 1
    commit = hub.add("owner/name", files)
    done = pull(run, "owner/name")
    assert "another hash" in done.stderr
    assert content(snapshot(run, "owner/name", commit)) == files


def test_a_byte_that_stays_corrupt_is_never_named_in_the_snapshot(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    name = "model-00001-of-00002.safetensors"
    hub.corrupt[sha256(files[name])] = 99
    commit = hub.add("owner/name", files)
    done = pull(run, "owner/name", expect=3)
    assert "another hash than the Hub says, twice" in done.stderr
    assert not (snapshot(run, "owner/name", commit) / name).exists()


def test_content_that_went_bad_in_the_store_is_replaced(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    commit = hub.add("owner/name", files)
    pull(run, "owner/name")
    shard = snapshot(run, "owner/name", commit) / "model-00001-of-00002.safetensors"
    blob = shard.resolve()
    data = bytearray(blob.read_bytes())
    data[-1] ^= 1
    blob.write_bytes(data)
    done = pull(run, "owner/name")
    assert "is not what the Hub has" in done.stderr
    assert content(snapshot(run, "owner/name", commit)) == files


def test_cut_connections_go_on_where_they_broke(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"model-big.safetensors": noise(900_000)}
    commit = hub.add("owner/name", files)
    hub.cut_after = 200_000
    pull(run, "owner/name")
    assert content(snapshot(run, "owner/name", commit)) == files
    ranges = [asked for _, path, asked, _ in hub.requests if asked and path.endswith("/model-big.safetensors")]
    assert ranges == ["bytes=200000-899999", "bytes=400000-899999", "bytes=600000-899999", "bytes=800000-899999"]


def test_a_server_that_ignores_ranges_sends_all_of_it_again(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"model-big.safetensors": noise(900_000)}
    commit = hub.add("owner/name", files)
    half = (
        snapshot(run, "owner/name", commit).parent.parent
        / "blobs"
        / (sha256(files["model-big.safetensors"]) + ".incomplete")
    )
    half.parent.mkdir(parents=True)
    half.write_bytes(files["model-big.safetensors"][:500_000])
    hub.ignore_ranges = True
    pull(run, "owner/name")
    assert content(snapshot(run, "owner/name", commit)) == files


def test_a_half_that_is_no_beginning_of_the_file_is_not_used(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"model-big.safetensors": noise(900_000)}
    commit = hub.add("owner/name", files)
    half = (
        snapshot(run, "owner/name", commit).parent.parent
        / "blobs"
        / (sha256(files["model-big.safetensors"]) + ".incomplete")
    )
    half.parent.mkdir(parents=True)
    half.write_bytes(noise(500_000, seed=9))
    pull(run, "owner/name")
    assert content(snapshot(run, "owner/name", commit)) == files


def test_a_hub_that_asks_to_slow_down_is_waited_for(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    commit = hub.add("owner/name", files)
    hub.too_many, hub.retry_after = 2, 0
    pull(run, "owner/name")
    assert hub.too_many == 0
    assert content(snapshot(run, "owner/name", commit)) == files


def test_a_long_listing_is_read_to_its_end(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {f"deep/er/file-{number}.json": f"{number}".encode() for number in range(40)}
    commit = hub.add("owner/name", files)
    hub.page = 7
    pull(run, "owner/name")
    assert content(snapshot(run, "owner/name", commit)) == files


def test_pickles_and_code_stay_outside_unless_they_are_asked_for(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"pytorch_model.bin": noise(2_000), "modeling_own.py": b"import os", "tf_model.h5": b"x"}
    commit = hub.add("owner/name", files)
    done = pull(run, "owner/name")
    assert "pytorch_model.bin" in done.stdout
    assert "modeling_own.py" in done.stdout
    left_out = {"pytorch_model.bin", "modeling_own.py", "tf_model.h5"}
    assert content(snapshot(run, "owner/name", commit)).keys() == files.keys() - left_out
    pull(run, "owner/name", "--allow-pickle")
    assert content(snapshot(run, "owner/name", commit)).keys() == files.keys() - {"modeling_own.py", "tf_model.h5"}
    (run.folder / "stack.yaml").write_text(
        "name: own\nmodel:\n  repo: owner/name\n  trust_remote_code: true\nstore: ./cache\n"
    )
    pull(run, "owner/name")
    assert "modeling_own.py" in content(snapshot(run, "owner/name", commit))


def test_a_repository_of_pickles_is_refused_before_a_byte_is_loaded(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/pickled", {"config.json": b"{}", "pytorch_model.bin": noise(5_000)})
    done = pull(run, "owner/pickled", expect=2)
    assert "pickles" in done.stderr
    assert "--allow-pickle" in done.stderr
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)
    pull(run, "owner/pickled", "--allow-pickle")


def test_what_is_reported_broken_needs_a_reason_and_keeps_it(run: CommandLine, hub: Hub) -> None:
    repo = "QuantTrio/Qwen3.6-27B-AWQ"
    hub.add(repo, plain_model())
    done = pull(run, repo, expect=2)
    assert "reported broken on sglang 0.5.16" in done.stderr
    assert "sglang/issues/31720" in done.stdout
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)
    pull(run, repo, "--anyway", expect=2)
    pull(run, repo, "--anyway", "--why", "to prove it on 0.5.23")
    kept = (run.folder / "cache/hub/models--QuantTrio--Qwen3.6-27B-AWQ/.seatrial/reasons.jsonl").read_text()
    assert json.loads(kept)["why"] == "to prove it on 0.5.23"


def ledger_entry(run: CommandLine, repo: str, verdict: str) -> Path:
    folder = run.folder / "ledger"
    ledger = Ledger(folder)
    combination = Combination(repo, "sglang", engine_version="0.5.23")
    ledger.append(Entry(Kind.VERDICT, "2026-11-30T10:00:00+00:00", combination, verdict, note="every check"))
    ledger.close()
    return folder


def test_a_verdict_of_ones_own_outranks_the_reports(run: CommandLine, hub: Hub) -> None:
    repo = "QuantTrio/Qwen3.6-27B-AWQ"
    hub.add(repo, plain_model())
    done = pull(run, repo, "--ledger", str(ledger_entry(run, repo, "proven")))
    assert "proven on sglang 0.5.23, 2026-11-30" in done.stdout


def test_what_was_refuted_here_needs_a_reason(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/name", plain_model())
    done = pull(run, "owner/name", "--ledger", str(ledger_entry(run, "owner/name", "refuted")), expect=2)
    assert "refuted on sglang 0.5.23" in done.stderr


def test_a_gated_repository_without_a_token_is_said_before_anything_is_loaded(run: CommandLine, hub: Hub) -> None:
    files = plain_model()
    commit = hub.add("owner/gated", files, gated=True)
    done = pull(run, "owner/gated", expect=3)
    assert "accepted its terms" in done.stderr
    assert "no access" in done.stdout
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)
    wrong = pull(run, "owner/gated", expect=3, HF_TOKEN="hf_WrongTokenOfSomebody1")
    assert "accepted its terms" in wrong.stderr
    pull(run, "owner/gated", HF_TOKEN=hub.token)
    assert content(snapshot(run, "owner/gated", commit)) == files


@pytest.mark.parametrize("name", ["owner/missing", "owner/name@nothing"])
def test_what_the_hub_does_not_have_is_one_clear_line(run: CommandLine, hub: Hub, name: str) -> None:
    hub.add("owner/name", plain_model())
    done = pull(run, name, expect=3)
    assert "does not know" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("name", ["owner", "../../etc/passwd", "a/b/c", "owner/..", "owner/na--me", ""])
def test_a_name_that_is_none_goes_nowhere(run: CommandLine, hub: Hub, name: str) -> None:
    assert "no owner/name" in pull(run, name, expect=2).stderr
    assert hub.requests == []


def test_a_hub_that_is_not_there_is_said_at_once(run: CommandLine) -> None:
    done = pull(run, "owner/name", expect=3, HF_ENDPOINT="http://127.0.0.1:9")
    assert "can't be reached" in done.stderr


def test_the_token_is_nowhere(run: CommandLine, hub: Hub) -> None:
    """Not in output, not in a file, not at the other host; and neither is the signature of an address."""
    files = plain_model() | {"model-big.safetensors": noise(900_000)}
    hub.add("owner/private", files, private=True)
    hub.add("owner/gated", files, gated=True)
    hub.cut_after = 300_000
    outputs = [
        pull(run, "owner/private", "--json", HF_TOKEN=hub.token),
        pull(run, "owner/gated", HF_TOKEN=hub.token + "x", expect=3),
        pull(run, "owner/missing", HF_TOKEN=hub.token, expect=3),
    ]
    hub.too_many = 999
    outputs.append(pull(run, "owner/gated", HF_TOKEN=hub.token, expect=3))
    said = "".join(done.stdout + done.stderr for done in outputs)
    written = b"".join(path.read_bytes() for path in run.folder.rglob("*") if path.is_file())
    for secret in (hub.token, hub.token + "x", "SignedSecretOfTheAddress"):
        assert secret not in said
        assert secret.encode() not in written
    sent = [(path, header) for _, path, _, header in hub.requests if "Signature" in path]
    assert sent
    assert all(header is None for _, header in sent)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_everything_is_shared_with_the_group_whatever_the_umask(run: CommandLine, hub: Hub, umask: int) -> None:
    hub.add("owner/name", plain_model() | {"sub/deep.json": b"{}"})
    run.folder.chmod(0o755)
    process = subprocess.run(
        run.command(["models", "pull", "owner/name", "--store", run.folder / "cache"]),
        cwd=run.folder, env=run.environment, capture_output=True, text=True, check=False, umask=umask,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    for path in (run.folder / "cache/hub").rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            assert mode & 0o2070 == 0o2070, path
        elif stat.S_ISREG(mode):
            assert mode & 0o060 == 0o060, path
        assert not (mode & 0o002 and not path.is_symlink()), path


def test_roots_pull_belongs_to_the_owner_of_the_store(run: CommandLine, hub: Hub) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    hub.add("owner/name", plain_model())
    cache = run.folder / "cache" / "hub"
    cache.mkdir(parents=True)
    os.chown(cache, 1234, 2345)
    pull(run, "owner/name")
    for path in cache.rglob("*"):
        facts = path.lstat()
        if not path.is_symlink():
            assert (facts.st_uid, facts.st_gid) == (1234, 2345), path


def test_two_pulls_at_once_load_each_file_once(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"model-big.safetensors": noise(900_000)}
    commit = hub.add("owner/name", files)
    hub.bytes_per_second = 2_000_000
    arguments = ("models", "pull", "owner/name", "--store", run.folder / "cache")
    processes = [run.start(*arguments) for _ in range(3)]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, output + errors
    assert content(snapshot(run, "owner/name", commit)) == files
    large = [path for _, path, _, _ in hub.requests if "Signature" in path]
    assert len(large) == len(set(large))


def test_ctrl_c_ends_a_pull_at_once_also_while_nothing_comes(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/name", plain_model() | {"model-big.safetensors": noise(900_000)})
    stuck = [False]

    def wait() -> None:
        stuck[0] = True
        time.sleep(30)

    hub.before_block = wait
    process = subprocess.Popen(
        run.command(["models", "pull", "owner/name", "--store", run.folder / "cache"]),
        cwd=run.folder, env=run.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hear_ctrl_c,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not stuck[0]:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=8)  # far below the 30 s of silence
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_a_disk_without_room_is_said_before_a_byte_is_loaded(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/name", plain_model())
    done = on_small_disk(run, "4m", "owner/name")
    assert done.returncode == 2, done.stderr
    assert "must be free" in done.stderr
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)


def test_a_disk_that_fills_meanwhile_is_one_clear_line_and_the_half_stays(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"model-big.safetensors": noise(6_000_000)}
    hub.add("owner/name", files)
    done = on_small_disk(run, "4m", "owner/name", margin="-8000000")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "the disk is full" in done.stderr
    assert "goes on where it was" in done.stderr
    assert "HALF 0" not in done.stdout


def test_a_store_that_can_not_be_written_is_said_before_a_file_is_loaded(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/name", plain_model())
    (run.folder / "cache").mkdir()
    command = " ".join(map(str, run.command(["models", "pull", "owner/name", "--store", "cache"])))
    script = f"mount --bind cache cache && mount -o remount,bind,ro cache || exit 77; {command}"
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        cwd=run.folder, env=run.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode in (1, 77):
        pytest.skip("nothing may be mounted here")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "can't be written (read-only file system)" in done.stderr
    assert "Traceback" not in done.stderr
    assert not any("/resolve/" in path for _, path, _, _ in hub.requests)


def on_small_disk(run: CommandLine, size: str, repo: str, *, margin: str = "") -> Completed:
    """Pull onto a real file system of some MiB, in a mount namespace of its own."""
    if subprocess.run(["unshare", "--mount", "--map-root-user", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    (run.folder / "cache").mkdir(exist_ok=True)
    code = "import seatrial.store.pull as p, sys; from seatrial.__main__ import main;"
    if margin:
        code += f"p.MARGIN_BYTES = {margin};"
    code += f"sys.argv = ['seatrial', 'models', 'pull', '{repo}', '--store', 'cache']; main()"
    script = (
        f"mount -t tmpfs -o size={size} tmpfs cache || exit 77\n"
        f'{sys.executable} -c "$CODE"; status=$?\n'
        "echo HALF $(ls cache/hub/models--*/blobs/*.incomplete 2>/dev/null | wc -l); exit $status\n"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        cwd=run.folder, env=run.environment | {"CODE": code}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("no tmpfs may be mounted here")
    assert "Traceback" not in done.stderr
    return done


class Terminal:
    """Runs the program on a terminal of its own, as a person would."""

    def __init__(self, run: CommandLine, *arguments: str | Path) -> None:
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            run.command(arguments),
            cwd=run.folder, env=run.environment | {"TERM": "xterm-256color", "COLUMNS": "100"},
            stdin=follower, stdout=follower, stderr=follower,
        )  # fmt: skip
        os.close(follower)
        self.text = ""

    def read_until(self, words: str) -> None:
        while words not in self.text:
            self.text += os.read(self.leader, 4_096).decode(errors="replace")

    def answer(self, text: str) -> None:
        os.write(self.leader, f"{text}\n".encode())

    def end(self) -> int:
        while True:
            try:
                data = os.read(self.leader, 4_096)
            except OSError:
                break
            if not data:
                break
            self.text += data.decode(errors="replace")
        os.close(self.leader)
        return self.process.wait(timeout=60)


def test_on_a_terminal_a_person_is_asked_about_what_is_reported_broken(run: CommandLine, hub: Hub) -> None:
    repo = "QuantTrio/Qwen3.6-27B-AWQ"
    hub.add(repo, plain_model())
    refused = Terminal(run, "models", "pull", repo, "--store", run.folder / "cache")
    refused.read_until("[y/N]")
    refused.answer("n")
    assert refused.end() == 2
    assert not (run.folder / "cache").exists()
    wanted = Terminal(run, "models", "pull", repo, "--store", run.folder / "cache")
    wanted.read_until("[y/N]")
    wanted.answer("y")
    wanted.read_until("Why?")
    wanted.answer("a new engine")
    assert wanted.end() == 0
    assert (
        "a new engine"
        in (run.folder / "cache/hub/models--QuantTrio--Qwen3.6-27B-AWQ/.seatrial/reasons.jsonl").read_text()
    )


def test_a_terminal_shows_rate_and_time_left_and_a_pipe_shows_no_bars(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/name", plain_model() | {"model-big.safetensors": noise(900_000)})
    hub.bytes_per_second = 600_000
    shown = Terminal(run, "models", "pull", "owner/name", "--store", run.folder / "cache")
    assert shown.end() == 0
    for words in ("loading", "MiB", "kB/s", "left", "files done"):
        assert words in shown.text or words.replace("kB/s", "MB/s") in shown.text, words
    hub.bytes_per_second = None
    piped = pull(run, "owner/name")
    assert "━" not in piped.stdout + piped.stderr
    assert "\x1b" not in piped.stdout + piped.stderr


def test_offline_is_respected(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/name", plain_model())
    assert "HF_HUB_OFFLINE is set" in pull(run, "owner/name", expect=3, HF_HUB_OFFLINE="1").stderr
    assert hub.requests == []


def test_patterns_choose_files(run: CommandLine, hub: Hub) -> None:
    files = plain_model() | {"model.gguf": noise(2_000), "figures/one.png": b"x", "original/params.json": b"{}"}
    commit = hub.add("owner/name", files)
    pull(run, "owner/name", "--include", "*.gguf", "--exclude", "figures/*")
    assert content(snapshot(run, "owner/name", commit)).keys() == files.keys() - {
        "figures/one.png",
        "original/params.json",
    }
    assert json.loads(run("models", "verify", "--json", "--store", run.folder / "cache", expect=0).stdout)["whole"]
