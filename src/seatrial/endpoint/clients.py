"""How other programs are pointed at an endpoint: their settings as text, without the key. Pure.

The key never stands in what is printed: each form reads it from the environment variable `SEATRIAL_API_KEY`.
"""

from __future__ import annotations

import json
import shlex
from enum import StrEnum

from seatrial.endpoint.address import API_KEY_VARIABLE, Endpoint


class ClientFormat(StrEnum):
    """Programs whose settings can be printed."""

    ENV = "env"
    OPENAI = "openai"
    LANGCHAIN = "langchain"
    LITELLM = "litellm"
    OPENCODE = "opencode"


def client_settings(endpoint: Endpoint, form: ClientFormat) -> str:
    """Return the settings, ready to paste."""
    return {
        ClientFormat.ENV: _env,
        ClientFormat.OPENAI: _openai,
        ClientFormat.LANGCHAIN: _langchain,
        ClientFormat.LITELLM: _litellm,
        ClientFormat.OPENCODE: _opencode,
    }[form](endpoint)


def _env(endpoint: Endpoint) -> str:
    return (
        f"export OPENAI_BASE_URL={shlex.quote(endpoint.base_url)}\n"
        f"export OPENAI_MODEL={shlex.quote(endpoint.model)}\n"
        f'export OPENAI_API_KEY="${{{API_KEY_VARIABLE}:-none}}"\n'
    )


def _openai(endpoint: Endpoint) -> str:
    return (
        "import os\n\nfrom openai import OpenAI\n\n"
        f'client = OpenAI(base_url={endpoint.base_url!r}, api_key=os.environ.get("{API_KEY_VARIABLE}", "none"))\n'
        f"answer = client.chat.completions.create(model={endpoint.model!r}, messages=[...])\n"
    )


def _langchain(endpoint: Endpoint) -> str:
    return (
        "import os\n\nfrom langchain_openai import ChatOpenAI\n\n"
        f"model = ChatOpenAI(\n    model={endpoint.model!r},\n    base_url={endpoint.base_url!r},\n"
        f'    api_key=os.environ.get("{API_KEY_VARIABLE}", "none"),\n)\n'
    )


def _litellm(endpoint: Endpoint) -> str:
    # JSON strings are YAML strings.
    return (
        "model_list:\n"
        f"  - model_name: {json.dumps(endpoint.model)}\n"
        "    litellm_params:\n"
        f"      model: {json.dumps('openai/' + endpoint.model)}\n"
        f"      api_base: {json.dumps(endpoint.base_url)}\n"
        f"      api_key: os.environ/{API_KEY_VARIABLE}\n"
    )


def _opencode(endpoint: Endpoint) -> str:
    document = {
        "$schema": "https://opencode.ai/config.json",
        "provider": {
            "self-hosted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Self-hosted",
                "options": {"baseURL": endpoint.base_url, "apiKey": f"{{env:{API_KEY_VARIABLE}}}"},
                "models": {endpoint.model: {"name": endpoint.model}},
            }
        },
        "model": f"self-hosted/{endpoint.model}",
    }
    return json.dumps(document, indent=2) + "\n"
