"""The table of touch points with verl 0.9.1: some hold everywhere, some where flash-attn is not installed, some on the
CPU platform."""

from __future__ import annotations

from klinic.trainer.plugin.points import Point, Touch

VERL = "0.9.1"
_HERE = "klinic.trainer.plugin"

EVERYWHERE = (
    Touch(
        "verl.utils.tracking",
        f"{_HERE}.tracking:patch",
        "the logger `klinic`, which writes the run directory",
        (
            Point("Tracking.supported_backend"),
            Point("Tracking.__init__", ("project_name", "experiment_name", "default_backend", "config")),
            Point("Tracking.finish", ("exit_code",)),
        ),
    ),
    Touch(
        "verl.trainer.constants_ppo",
        f"{_HERE}.carry:patch",
        "klinic's settings in Ray's workers, and which keys the user set",
        (Point("get_ppo_ray_runtime_env", ("config",)),),
    ),
    Touch(
        "verl.trainer.ppo.v1.trainer_base",
        f"{_HERE}.trainer:patch",
        "stop file, reward swap, checkpoint and validation events, validation samples",
        (
            Point("PPOTrainer.fit", ("agent_loop_manager",)),
            Point("PPOTrainer._save_checkpoint"),
            Point("PPOTrainer._validate"),
            Point(
                "PPOTrainer._dump_generations",
                ("inputs", "outputs", "gts", "scores", "reward_extra_infos_dict", "dump_path"),
            ),
            Point("PPOTrainer.get_reward_handles"),
        ),
    ),
    Touch(
        "verl.experimental.reward_loop.reward_loop",
        f"{_HERE}.reward:patch",
        "the reward swap",
        (
            Point("RewardLoopWorker.__init__", ("config",)),
            Point("RewardLoopWorker.compute_score", ("data",)),
            Point("load_reward_manager", ("config", "tokenizer")),
        ),
    ),
)

WITHOUT_FLASH_ATTN = (
    Touch(
        "verl.utils.torch_functional",
        f"{_HERE}.flashless:log_probs",
        "log-probabilities of all tokens at once",
        (Point("logprobs_from_logits_v2", ("logits", "labels")),),
    ),
    Touch(
        "verl.utils.model",
        f"{_HERE}.flashless:value_head",
        "the critic's value head without flash-attn",
        (Point("load_valuehead_model", ("local_path", "torch_dtype", "model_config", "trust_remote_code")),),
    ),
)

ON_CPU = (
    Touch(
        "verl.plugin.platform.platform_manager",
        f"{_HERE}.cpu.platform:patch",
        "the platform `cpu`",
        (Point("PlatformRegistry.register", ("platform",)), Point("PlatformBase")),
    ),
    Touch(
        "verl.workers.rollout.base",
        f"{_HERE}.cpu.patches:rollout_class",
        "the rollout `hf` in the trainer's process",
        (Point("_ROLLOUT_REGISTRY"), Point("BaseRollout.update_weights", ("weights", "wire_format"))),
    ),
    Touch(
        "verl.workers.rollout.replica",
        f"{_HERE}.cpu.patches:rollout_replica",
        "the rollout server `hf`",
        (
            Point("RolloutReplicaRegistry.register", ("name", "loader")),
            Point("TokenOutput"),
            Point("RolloutReplica.launch_servers"),
        ),
    ),
    Touch(
        "verl.utils.distributed",
        f"{_HERE}.cpu.patches:process_group",
        "the gloo process group",
        (Point("initialize_global_process_group_ray", ("timeout_second", "backend")),),
    ),
    Touch(
        "verl.workers.engine.fsdp.transformer_impl",
        f"{_HERE}.cpu.patches:engine",
        "fp32, packed sequences without flash-attn, and the reference model without pinned memory",
        (
            Point("CPUOffloadPolicy", ("pin_memory",)),
            Point("FSDPEngine.__init__", ("engine_config",)),
            Point("FSDPEngineWithLMHead.forward_step", ("micro_batch",)),
        ),
    ),
    Touch(
        "verl.utils.tensordict_utils",
        f"{_HERE}.cpu.ragged:patch",
        "quick mini batches",
        (Point("index_select_tensor_dict", ("batch", "indices")), Point("chunk_tensordict", ("td", "chunks"))),
    ),
    Touch(
        "verl.utils.transferqueue_utils",
        f"{_HERE}.cpu.bridge:patch",
        "workers that fetch no text",
        (Point("async_kv_batch_meta2batch_meta", ("meta",)),),
    ),
    Touch(
        "verl.workers.rollout.router",
        f"{_HERE}.cpu.lazyactor:load_balancer",
        "a start without the load balancer",
        (Point("get_router_handle", ("servers",)),),
    ),
    Touch(
        "verl.trainer.ppo.v1.replay_buffer",
        f"{_HERE}.cpu.patches:quick_polling",
        "steps without a two-second wait",
        (
            Point("ReplayBuffer.__init__", ("poll_interval", "filter_groups_metric")),
            Point("ReplayBuffer._sync_metadata_from_transfer_queue"),
        ),
    ),
    Touch(
        "verl.trainer.ppo.v1",
        f"{_HERE}.cpu.patches:agent_loop",
        "rollouts in one batch",
        (Point("AgentLoopManagerTQ.generate_sequences", ("prompts",)), Point("AgentLoopManagerTQ.create")),
    ),
    Touch(
        "verl.workers.rollout.llm_server",
        None,
        "rollouts in one batch",
        (Point("LLMServerManager._initialize_llm_servers"),),
    ),
    Touch(
        "verl.experimental.agent_loop.agent_loop",
        None,
        "rollouts in one batch",
        (
            Point("AgentLoopOutput.as_dict"),
            Point("AgentLoopMetrics"),
            Point("AgentLoopManager._init_agent_loop_workers"),
        ),
    ),
    Touch(
        "verl.utils.tokenizer.continuous_token_wiring",
        None,
        "rollouts in one batch",
        (Point("create_continuous_token_builder", ("hf_model_type", "chat_template_kwargs", "processor")),),
    ),
)
