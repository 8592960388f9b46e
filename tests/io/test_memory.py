import pytest
import torch

from fathom.io.memory import is_out_of_memory


def test_a_machine_that_is_full_raises_an_error_of_torch_that_is_known():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.int8)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize("error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory")])
def test_memory_errors_are_known(error):
    assert is_out_of_memory(error)


@pytest.mark.parametrize("error", [RuntimeError("sizes differ"), OSError(), ValueError("memory")])
def test_other_errors_are_not_of_memory(error):
    assert not is_out_of_memory(error)
