"""What a fake server can do wrong, one thing each. `LEGAL` lists what looks odd and is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """One thing that a server does wrong (or oddly: see `LEGAL`). Faults can be combined."""

    # --- text
    LOOP_CONTENT = "loop_content"
    """The content repeats itself from some character on, until the token budget ends."""
    LOOP_REASONING = "loop_reasoning"
    """The reasoning repeats itself until the token budget ends; there is no content."""
    LOOP_ARGUMENTS = "loop_arguments"
    """A string in a call's arguments repeats itself until the token budget ends."""
    TOKEN_SALAD = "token_salad"  # noqa: S105 - a kind of broken text, no secret
    """The content is words that don't belong together."""
    EMPTY_ANSWER = "empty_answer"
    """No content, no reasoning, no call, `finish_reason` stop."""
    WRONG_ANSWER = "wrong_answer"
    """A fluent answer to another question."""
    THINK_TAGS_IN_CONTENT = "think_tags_in_content"
    """The reasoning stands in the content, with its tags."""
    UNCLOSED_THINK_TAG = "unclosed_think_tag"
    """The content begins with the end of the reasoning and a lone closing tag."""
    CROSS_TALK = "cross_talk"
    """With two requests at once, each gets the answer to the other one."""
    WRONG_AFTER_CACHE_HIT = "wrong_after_cache_hit"
    """The same messages for a second time give token salad."""

    # --- over-long input
    TRUNCATE_TO_NOTHING = "truncate_to_nothing"
    """As SGLang with --allow-auto-truncate: 200, `prompt_tokens` at the limit, an empty answer cut by length."""
    TRUNCATE_HEAD = "truncate_head"
    """200; the beginning of the input is gone."""
    TRUNCATE_TAIL = "truncate_tail"
    """200; the end of the input is gone, the user's last words first."""
    TRUNCATE_MIDDLE = "truncate_middle"
    """200; the middle of the input is gone."""

    # --- tool calls
    IGNORE_TOOLS = "ignore_tools"
    """Prose where a call is due, also where one is required."""
    CALL_IN_CONTENT = "call_in_content"
    """The call stands in the content as markup; `tool_calls` is null. SGLang without --tool-call-parser."""
    CALL_IN_REASONING = "call_in_reasoning"
    """The call stands in the reasoning as markup; `tool_calls` is null."""
    WRONG_ARGUMENT_TYPES = "wrong_argument_types"
    """Numbers, booleans, arrays and objects come as strings, and strings as numbers."""
    WRONG_ARGUMENT_VALUES = "wrong_argument_values"
    """Arguments that match the schema, with values that nobody asked for."""
    MISSING_ARGUMENTS = "missing_arguments"
    """Arguments are an empty object."""
    BROKEN_ARGUMENTS = "broken_arguments"
    """Arguments are JSON that stops half way."""
    ARGUMENTS_AS_OBJECT = "arguments_as_object"
    """Arguments are a JSON object, not a string that holds one."""
    UNKNOWN_TOOL = "unknown_tool"
    """The name is none of those in the request."""
    DROP_SECOND_CALL = "drop_second_call"
    """Of several calls only the first comes."""
    DUPLICATE_CALL_IDS = "duplicate_call_ids"
    """Every call has the same id."""
    MISSING_CALL_IDS = "missing_call_ids"
    """No call has an id."""
    CALL_NOT_DUE = "call_not_due"
    """With `tool_choice` auto, a call for a prompt that needs none."""
    CALL_DESPITE_NONE = "call_despite_none"
    """A call although `tool_choice` is none."""
    IGNORE_REQUIRED = "ignore_required"
    """Prose although `tool_choice` is required or names a function."""
    IGNORE_NAMED = "ignore_named"
    """Another function than the one that `tool_choice` names."""
    REJECT_TOOL_CHOICE = "reject_tool_choice"
    """400 for any `tool_choice`."""
    ARGUMENTS_LOST_IN_STREAM = "arguments_lost_in_stream"
    """Streamed calls have no arguments; whole answers are right."""
    ARGUMENTS_AT_WRONG_INDEX = "arguments_at_wrong_index"
    """Streamed argument fragments carry the index of the next call."""
    INDEX_MISSING_IN_STREAM = "index_missing_in_stream"
    """Streamed calls carry no index."""

    # --- what stands around the answer
    WRONG_FINISH_REASON = "wrong_finish_reason"
    """`stop` with tool calls, `tool_calls` without."""
    MISSING_FINISH_REASON = "missing_finish_reason"
    """`finish_reason` stays null."""
    WRONG_USAGE = "wrong_usage"
    """Token counts that don't add up."""
    MISSING_USAGE = "missing_usage"
    """No token counts."""
    OTHER_MODEL = "other_model"
    """Answers carry the name of another model."""
    STREAM_IGNORED = "stream_ignored"
    """A whole answer although a stream was asked for."""

    # --- time
    LAG = "lag"
    """Nothing for `lag_seconds`, then a right answer."""
    SLOW_TOKENS = "slow_tokens"
    """`token_lag_seconds` before each token of a stream."""
    NEVER_ANSWERS = "never_answers"
    """The connection stands, no byte comes."""
    NEVER_ENDS = "never_ends"
    """The answer goes on for ever, a little at a time, whatever `max_tokens` says."""

    # --- transport
    DIES_AT_REQUEST = "dies_at_request"
    """The whole server ends when a completion is asked for: its port refuses connections from then on."""
    DIES_MID_STREAM = "dies_mid_stream"
    """The connection closes after some chunks (or half of a whole body)."""
    INVALID_JSON_BODY = "invalid_json_body"
    """A whole answer is half a JSON document."""
    INVALID_JSON_CHUNK = "invalid_json_chunk"
    """One chunk of a stream is half a JSON document; the stream then goes on."""
    ERROR_EVENT = "error_event"
    """An error object inside a stream that began with 200."""
    HTML_EVERYWHERE = "html_everywhere"
    """Every path gives a web page with status 200."""
    STATUS_500 = "status_500"
    """Every path answers 500."""
    STATUS_503 = "status_503"
    """Every path answers 503."""
    STATUS_429 = "status_429"
    """Every path but `/health` answers 429."""
    DEAD_BEHIND_HEALTH = "dead_behind_health"
    """`/health` and `/v1/models` answer 200, completions 503."""
    MISSING_DONE = "missing_done"
    """A stream ends without `[DONE]`."""
    REDIRECT = "redirect"
    """307 to `redirect_to` on every path but `/health`."""
    HUGE_BODY = "huge_body"
    """The answer is `huge_bytes` long."""
    NO_MODEL_LIST = "no_model_list"
    """`/v1/models` answers 404."""
    NO_TOKENIZER = "no_tokenizer"
    """`/tokenize` answers 404, as on most servers."""

    # --- odd, and legal
    CRLF = "crlf"
    """Lines of a stream end in CR LF."""
    COMMENTS = "comments"
    """Comment lines between the events of a stream, as proxies send them to keep a connection open."""
    MULTI_LINE_DATA = "multi_line_data"
    """The JSON of an event stands on several `data` lines."""
    SPLIT_BYTES = "split_bytes"
    """The bytes of a stream come in pieces of any size, also inside a UTF-8 character."""
    VLLM_REASONING = "vllm_reasoning"
    """The reasoning field is called `reasoning`, as in newer vLLM."""
    STALE_KEEP_ALIVE = "stale_keep_alive"
    """A kept-alive connection is closed when the second request comes on it."""


LEGAL = frozenset(
    {
        Fault.CRLF,
        Fault.COMMENTS,
        Fault.MULTI_LINE_DATA,
        Fault.SPLIT_BYTES,
        Fault.VLLM_REASONING,
        Fault.STALE_KEEP_ALIVE,
        Fault.NO_MODEL_LIST,
        Fault.NO_TOKENIZER,
    }
)
"""What a server may do: a client must cope, and a suite of trials must still find the server right."""


@dataclass(frozen=True, slots=True)
class Details:
    """The numbers behind the faults.

    Attributes:
        loop_from: character of the field at which a loop begins.
        loop_text: what is repeated.
        lag_seconds: for LAG.
        token_lag_seconds: for SLOW_TOKENS.
        drip_seconds: between two pieces, for NEVER_ENDS.
        good_chunks: events of a stream that come before it dies, breaks or gives an error.
        huge_bytes: for HUGE_BODY.
        redirect_to: for REDIRECT; the path and query of the request are added.
        companion_seconds: how long CROSS_TALK waits for a second request.
        largest_piece: bytes, for SPLIT_BYTES.
        other_model: for OTHER_MODEL.
    """

    loop_from: int = 200
    loop_text: str = "I should check this again. "
    lag_seconds: float = 5.0
    token_lag_seconds: float = 0.5
    drip_seconds: float = 0.05
    good_chunks: int = 4
    huge_bytes: int = 128 * 1024 * 1024
    redirect_to: str = "http://127.0.0.1:9"
    companion_seconds: float = 0.25
    largest_piece: int = 7
    other_model: str = "another-model"
