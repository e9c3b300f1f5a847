"""The shipped schemas, which refer to one another."""

import json
from importlib import resources

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012, Schema

_REPORT = "report-1.schema.json"


def _read(file: str) -> Schema:
    schema: Schema = json.loads(resources.files("fse_core").joinpath(f"schema/{file}").read_text("utf-8"))
    return schema


def validator(name: str) -> Draft202012Validator:
    """For `fse.<name>/1`."""
    schema = _read(f"{name}-1.schema.json")
    Draft202012Validator.check_schema(schema)
    report: Resource[Schema] = DRAFT202012.create_resource(_read(_REPORT))
    registry: Registry[Schema] = Registry[Schema]().with_resource(_REPORT, report)
    return Draft202012Validator(schema, registry=registry)
