import torch
from verl.trainer import main_ppo

main_ppo.main()
