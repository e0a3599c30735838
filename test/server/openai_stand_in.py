"""Stands for the Python package `openai` where it is not installed: what upstream's server tests call of it.

A response is the server's JSON with attributes for keys, and a missing key is None, as an optional field of the package's
models is. Unlike the package, nothing checks the JSON against a schema.
"""

import json
from types import SimpleNamespace

import requests


class Fields(SimpleNamespace):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class Response(Fields):
    @property
    def output_text(self):
        """Text of all parts of a response of the Responses API."""
        parts = [part for item in self.output if item.type == "message" for part in item.content]
        return "".join(part.text for part in parts if part.type == "output_text")


def parse(text):
    def to_fields(fields):
        return (Response if "output" in fields else Fields)(**fields)

    return json.loads(text, object_hook=to_fields)


class Endpoint:
    def __init__(self, client, path):
        self.client, self.path = client, path

    def create(self, **body):
        """POSTs the body. Returns the response, or with stream=True an iterator over the events. Raises on an error."""
        url, headers = self.client.base_url + self.path, {"Authorization": f"Bearer {self.client.api_key}"}
        stream = body.get("stream", False)
        response = requests.post(url, headers=headers, json=body, stream=stream, timeout=600)
        response.raise_for_status()
        return events(response) if stream else parse(response.text)


def events(response):
    for line in response.iter_lines(decode_unicode=False):
        text = line.decode("utf-8")
        if text == "data: [DONE]":
            return
        if text.startswith("data: "):
            yield parse(text.removeprefix("data: "))


class OpenAI:
    def __init__(self, api_key, base_url):
        self.api_key, self.base_url = api_key, base_url
        self.completions = Endpoint(self, "/completions")
        self.chat = SimpleNamespace(completions=Endpoint(self, "/chat/completions"))
        self.embeddings = Endpoint(self, "/embeddings")
        self.responses = Endpoint(self, "/responses")
