#!/bin/bash
# A launch with twelve parameters, as a quick-start article gives it.
python3 -m verl.trainer.main_ppo \
    data.train_files=$HOME/data/gsm8k/train.parquet \
    data.val_files=$HOME/data/gsm8k/test.parquet \
    data.train_batch_size=64 \
    data.max_prompt_length=512 \
    data.max_response_length=256 \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B-Instruct \
    actor_rollout_ref.actor.optim.lr=1e-6 \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.4 \
    critic.model.path=Qwen/Qwen2.5-0.5B-Instruct \
    algorithm.kl_ctrl.kl_coef=0.001 \
    trainer.save_freq=1 \
    trainer.total_epochs=3
