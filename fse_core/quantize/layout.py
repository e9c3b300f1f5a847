"""When a tensor's memory may be read or written as wider words."""

import torch


def packed_view(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
    """The tensor's rows as words of `dtype`; None where its strides, its start or its width do not divide."""
    ratio = dtype.itemsize // tensor.element_size()
    address = tensor.storage_offset() % ratio == 0 and tensor.data_ptr() % dtype.itemsize == 0
    strides = tensor.stride(-1) == 1 and all(stride % ratio == 0 for stride in tensor.stride()[:-1])
    return tensor.view(dtype) if address and strides and tensor.shape[-1] % ratio == 0 else None
