"""What the plugin leaves out on the CPU: text that no worker reads, an actor that nobody asks."""

import pickle

from klinic.trainer.plugin.cpu.bridge import wanted
from klinic.trainer.plugin.cpu.lazyactor import Later


def test_a_worker_fetches_tensors_and_pictures_but_no_text():
    schema = {
        "input_ids": {"is_non_tensor": False, "is_nested": True},
        "raw_prompt": {"is_non_tensor": True},
        "multi_modal_inputs": {"is_non_tensor": True},
        "rm_scores": {},
    }
    assert wanted(schema) == ["input_ids", "multi_modal_inputs", "rm_scores"]


def test_an_actor_is_started_once_when_it_is_first_used():
    started = []

    def start():
        started.append("actor")
        return complex(3, 4)

    later = Later(start)
    assert started == []
    assert (later.real, later.imag) == (3, 4)
    assert started == ["actor"]


def test_an_actor_that_is_sent_away_arrives_as_itself():
    started = []
    later = Later(lambda: started.append(1) or complex(3, 4))
    assert pickle.loads(pickle.dumps(later)) == complex(3, 4)
    assert started == [1]
