"""Looks at how vLLM is served: a command line, a container, a log, and says what becomes of the shared experts there.

`command` and its helpers read a launch command as the release would; `machine` looks at the container; `log/` reads a
log. `result` holds what comes out, for `fse_core.output`.
"""
