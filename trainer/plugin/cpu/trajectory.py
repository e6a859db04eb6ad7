"""One sample on its way from prompt to scored response, in the form that verl's trainer expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from tensordict import NonTensorData, NonTensorStack
from verl.experimental.agent_loop import AgentLoopOutput
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics
from verl.utils.tokenizer.continuous_token_wiring import create_continuous_token_builder


def rows(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a TensorDict as plain dictionaries, as verl's worker takes them apart."""
    columns = {name: column(each, len(batch)) for name, each in batch.items()}
    for at in range(len(batch)):
        yield {name: each[at] for name, each in columns.items()}


def column(values: Any, count: int) -> Sequence[Any]:
    """What a field of a TensorDict holds for each of `count` rows; one value for the whole batch is each row's."""
    if isinstance(values, torch.Tensor):
        return values.unbind()
    if isinstance(values, NonTensorStack):
        return [each.data for each in values.unbind(0)]
    return [values.data if isinstance(values, NonTensorData) else values] * count


@dataclass
class Trajectory:
    """A prompt, what became of it, and the data set's fields that travel with it (`session_id` included)."""

    extra: dict[str, Any]
    prompt: list[int]
    params: dict[str, Any]
    output: AgentLoopOutput | None = None
    error: str | None = None
    reward: dict[str, Any] = field(default_factory=dict)

    @property
    def uid(self) -> str:
        """The prompt's id."""
        return str(self.extra["uid"])

    @property
    def key(self) -> str:
        """verl's key of a trajectory: {uid}_{session}_{index}; single-turn loops have index 0 only."""
        return f"{self.uid}_{self.extra['session_id']}_0"

    def done(self) -> AgentLoopOutput:
        """The generated output."""
        if self.output is None:
            raise RuntimeError(f"trajectory {self.key} was never generated")
        return self.output

    def fields(self, generating: float, scoring: float) -> dict[str, Any]:
        """The fields of verl's `_agent_loop_postprocess`, text only."""
        output = self.done()
        output.reward_score = self.reward["reward_score"]
        output.extra_fields["reward_extra_info"] = self.reward["reward_extra_info"]
        output.metrics = AgentLoopMetrics(generate_sequences=generating, compute_score=scoring)
        made: dict[str, Any] = output.as_dict() | self.extra
        made.pop("multi_modal_data", None)
        ids = torch.cat([made["prompts"], made["responses"]])
        return made | {
            "loss_mask": made["response_mask"],
            "input_ids": ids,
            "position_ids": torch.arange(len(ids)),
            "multi_modal_inputs": {},
        }

    def tag(self) -> dict[str, Any]:
        """verl's tag of a finished trajectory."""
        output = self.done()
        prompt, response = len(output.prompt_ids), len(output.response_ids)
        return {
            "status": "success",
            "prompt_len": prompt,
            "response_len": response,
            "seq_len": prompt + response,
            "global_steps": self.extra["global_steps"],
            "min_global_steps": output.extra_fields.get("min_global_steps"),
            "max_global_steps": output.extra_fields.get("max_global_steps"),
        }


class Tokens:
    """Chat messages to prompt tokens and back, through verl's own token builder for the model's family."""

    def __init__(self, config: Any, tokenizer: Any) -> None:
        from transformers import AutoConfig

        model = config.actor_rollout_ref.model
        if model.get("custom_chat_template", None) is not None:
            tokenizer.chat_template = model.custom_chat_template
        family = AutoConfig.from_pretrained(
            model.get("hf_config_path", None) or model.path,
            trust_remote_code=bool(model.get("trust_remote_code", False)),
        ).model_type
        self.prompt_length = int(config.actor_rollout_ref.rollout.prompt_length)
        self.response_length = int(config.actor_rollout_ref.rollout.response_length)
        self.builder = create_continuous_token_builder(
            tokenizer,
            hf_model_type=family,
            chat_template_kwargs=config.data.get("apply_chat_template_kwargs", {}),
            mm_processor_kwargs=config.data.get("mm_processor_kwargs", {}),
            processor=None,
        )

    def prompt(self, messages: Any) -> list[int]:
        """Prompt tokens of chat messages, cut on the left to the prompt length as verl does."""
        ids: list[int] = self.builder.build_initial_tokens(list(messages), tools=None)
        return ids[-self.prompt_length :]

    def finish(self, trajectory: Trajectory, output: Any) -> None:
        """Put a server's answer into the trajectory, with masks and log-probabilities aligned as verl does."""
        logprobs = output.log_probs or None
        merged = self.builder.merge_assistant_tokens(trajectory.prompt, output.token_ids)
        mask, aligned = self.builder.align_response_metadata(
            merged, [], [] if logprobs else None, assistant_logprobs=logprobs
        )
        ids = merged.token_ids
        end = self.response_length
        version = output.extra_fields.get("global_steps")
        trajectory.output = AgentLoopOutput(
            prompt_ids=ids[: len(ids) - len(mask)],
            response_ids=(ids[-len(mask) :] if mask else [])[:end],
            response_mask=mask[:end],
            response_logprobs=aligned[:end] if aligned else None,
            multi_modal_data={},
            num_turns=2,
            metrics=AgentLoopMetrics(),
            extra_fields={
                **output.extra_fields,
                "min_global_steps": version,
                "max_global_steps": version,
                "turn_scores": [],
                "tool_rewards": [],
            },
        )
