"""What loading comes to: which parameter of the release receives which stored tensor, and what is left over.

Nothing is loaded: shapes and number types suffice. `ways` says how a release's classes go about it, `rooms` which
shapes the parameters have, `experts`, `batched` and `linear` what becomes of one tensor, `layer` of all those of a
layer, `absent` of a layer that has none, and `faults` names what went wrong. What is not known, such as a quantization
class's parameters, is never guessed: there is then no answer for the layer.
"""
