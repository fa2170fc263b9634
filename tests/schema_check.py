# SPDX-License-Identifier: Apache-2.0
"""Checks a value against a JSON Schema."""
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "integer": int, "number": (int, float), "null": type(None)}


def errors(value, schema, root, at=""):
    """The part of JSON Schema that ours use."""
    if "$ref" in schema:
        schema = root["definitions"][schema["$ref"].split("/")[-1]]
    if "enum" in schema and value not in schema["enum"]:
        return [at]
    if "pattern" in schema and not (isinstance(value, str) and re.search(
            schema["pattern"], value)):
        return [at]
    if "oneOf" in schema:
        good = [s for s in schema["oneOf"]
                if not errors(value, s, root, at)]
        # {} fits every object form; that is fine here.
        return [] if good else [at]
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind])
                 or (kind in ("integer", "number")
                     and isinstance(value, bool))):
        return [at]
    found = []
    if isinstance(value, dict):
        if len(value) < schema.get("minProperties", 0):
            found.append(at)
        for key in schema.get("required", []):
            if key not in value:
                found.append(at + "/" + key)
        for key, others in schema.get("dependencies", {}).items():
            found += [at + "/" + other for other in others
                      if key in value and other not in value]
        for key, item in value.items():
            if errors(key, schema.get("propertyNames", {}), root):
                found.append(at + "/" + key)
            inner = schema.get("properties", {}).get(
                key, schema.get("additionalProperties", True))
            if inner is False:
                found.append(at + "/" + key)
            elif inner is not True:
                found += errors(item, inner, root, at + "/" + key)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get(
                "maxItems", len(value)):
            found.append(at)
        for i, item in enumerate(value):
            found += errors(item, schema.get("items", {}), root,
                            "%s/%d" % (at, i))
    elif isinstance(value, int) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get(
                "maximum", value):
            found.append(at)
    return found
