"""What a check has to say besides its findings: FSE001 and up, which are no rules, but are explained as rules are."""

from typing import Final

from fse_core.ruletext import RuleText

DOES_NOT_START: Final = RuleText(
    id="FSE001",
    name="does-not-start",
    severity="error",
    confidence="certain",
    text="""The release raises an exception while it builds the model, and does not start.

The exception and its words are the release's own. This is the verdict `fails`, which makes the exit status 1 whatever
is selected or ignored; it is shown as a finding by the outputs for programs that know nothing but findings.""",
)

UNDECIDED: Final = RuleText(
    id="FSE002",
    name="not-decided",
    severity="warning",
    confidence="certain",
    text="""It is not known what the release does with this model, and nothing is claimed.

The architecture, the quantization method or an option is one that this version of fse does not know, or the config
could not be decided about in the time that a check may take. The exit status is 3, so that a check in CI never passes
for want of an answer.""",
)

IGNORE_EXPIRED: Final = RuleText(
    id="FSE003",
    name="ignore-expired",
    severity="warning",
    confidence="certain",
    text="""An ignore in the settings has reached its day, and what it ignored counts again.

`until` is the first day on which an ignore no longer holds. Look at the finding once more: repair what it tells of,
or give the ignore a later day and say why.""",
)

IGNORE_UNUSED: Final = RuleText(
    id="FSE004",
    name="ignore-unused",
    severity="warning",
    confidence="certain",
    text="""An ignore in the settings matches a model that was checked, and nothing that was found there.

What it ignored was repaired, or the rule, the model or the layers are not what they were when it was written. Take it
out, so that it does not hide what comes later. An ignore whose model or target was not checked in the same run, whose
rule was not selected, or whose model is undecided is not told of.""",
)

PLUGIN_ACTS: Final = RuleText(
    id="FSE005",
    name="plugin-acts",
    severity="info",
    confidence="certain",
    text="""What the plugin in vLLM does to shared experts, or what of that which was asked for it does not do.

It is told of where the plugin is loaded (`--plugin`): full-precision shared experts that are quantized while they load,
a kind of checkpoint that the gate is made to accept, and what stands in the way of either. It is a warning where
numbers are changed, where no hardware has seen it, and where a request is not met.""",
)

ALL: Final = (DOES_NOT_START, UNDECIDED, IGNORE_EXPIRED, IGNORE_UNUSED, PLUGIN_ACTS)
