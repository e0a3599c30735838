"""Models that stand for those of upstream's server tests, made from this project's tests' model by rewriting its header.

CLI: python model_variants.py MODEL FOLDER     writes stories.gguf, reranker.gguf and lora.gguf into FOLDER

A GGUF file (ggml/include/gguf.h of llama.cpp) is: magic, version, number of tensors, number of metadata entries, the
entries, the tensors' names and places, padding, the weights. Weights keep their places, counted from where they begin, so
they are copied; new ones go behind them.
"""

import os
import random
import struct
import sys

ALIGNMENT = 32
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, UINT32: 4, 5: 4, FLOAT32: 4, BOOL: 1, 10: 8, 11: 8, 12: 8}
F32, Q8_0 = 0, 8
RANK = 4  # LLAMA_POOLING_TYPE_RANK


def text(value):
    raw = value.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def typed(value):
    """Type and value of a metadata entry: bool, str, list of str, list of int (as int32), int (as uint32), float."""
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + text(value)
    if isinstance(value, list):
        of_text = isinstance(value[0], str)
        items = [text(item) if of_text else struct.pack("<i", item) for item in value]
        return struct.pack("<IIQ", ARRAY, STRING if of_text else 5, len(value)) + b"".join(items)
    return struct.pack("<If", FLOAT32, value) if isinstance(value, float) else struct.pack("<II", UINT32, value)


def padded(data):
    return data + bytes(-len(data) % ALIGNMENT)


class Gguf:
    """A file in memory. `metadata`: raw type and value by key; `tensors`: raw place by name; `weights`: bytes."""

    def __init__(self, path=None):
        self.metadata, self.tensors, self.weights = {}, {}, b""
        if path is None:
            return
        with open(path, "rb") as file:
            self.data = file.read()
        _magic, _version, tensors, entries = struct.unpack_from("<4sIQQ", self.data)
        self.at = 24
        for _ in range(entries):
            key = self.read_text()
            start = self.at
            self.skip_value(self.read("<I"))
            self.metadata[key] = self.data[start : self.at]
        for _ in range(tensors):
            name = self.read_text()
            start = self.at
            dimensions = self.read("<I")
            self.at += 8 * dimensions + 4 + 8
            self.tensors[name] = self.data[start : self.at]
        self.weights = self.data[self.at + -self.at % ALIGNMENT :]

    def read(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def read_text(self):
        length = self.read("<Q")
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8")

    def skip_value(self, kind):
        if kind == STRING:
            self.read_text()
        elif kind == ARRAY:
            item, count = self.read("<I"), self.read("<Q")
            for _ in range(count):
                self.skip_value(item)
        else:
            self.at += SIZES[kind]

    def tokens(self):
        """Texts of the vocabulary, by id."""
        raw = self.metadata["tokenizer.ggml.tokens"]
        (count,) = struct.unpack_from("<Q", raw, 8)
        found, at = [], 16
        for _ in range(count):
            (length,) = struct.unpack_from("<Q", raw, at)
            found.append(raw[at + 8 : at + 8 + length].decode("utf-8"))
            at += 8 + length
        return found

    def number(self, key):
        return struct.unpack_from("<I", self.metadata[key], 4)[0]

    def copy_row(self, name, source, target):
        """Row `target` of a q8_0 matrix becomes row `source`."""
        _dimensions, columns, _rows, kind, offset = struct.unpack("<IQQIQ", self.tensors[name])
        if kind != Q8_0:
            raise ValueError(f"{name} is not q8_0")
        size = columns // 32 * 34
        weights = bytearray(self.weights)
        row = weights[offset + source * size :][:size]
        weights[offset + target * size : offset + (target + 1) * size] = row
        self.weights = bytes(weights)

    def set(self, **entries):
        """Keys with two underscores for a point."""
        for key, value in entries.items():
            self.metadata[key.replace("__", ".")] = typed(value)

    def add_tensor(self, name, shape, values):
        """An f32 tensor. shape: innermost dimension first; values: floats, as many as the shape holds."""
        self.weights = padded(self.weights)
        place = struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, F32, len(self.weights))
        self.tensors[name] = place
        self.weights += struct.pack(f"<{len(values)}f", *values)

    def write(self, path):
        parts = [struct.pack("<4sIQQ", b"GGUF", 3, len(self.tensors), len(self.metadata))]
        parts += [text(key) + value for key, value in self.metadata.items()]
        parts += [text(name) + place for name, place in self.tensors.items()]
        with open(path, "wb") as file:
            file.write(padded(b"".join(parts)) + padded(self.weights))


def make_stories(model):
    """Like the small models of upstream's tests: begins with <s>, has no chat template, can fill in, never ends.

    Control characters that no text has stand for the end and for the marks of filling in. The tokens that end a text or a turn get the
    weights of one of them, so they are as unlikely.
    """
    tokens = model.tokens()
    end, prefix, suffix, middle = (tokens.index(byte) for byte in "āĂăĄ")  # bytes 1-4
    tokens[:3] = ["<unk>", "<s>", "<unused>"]
    for token in (0, 2):
        model.copy_row("token_embd.weight", end, token)
    for key in ("tokenizer.chat_template", "tokenizer.ggml.eot_token_id"):
        del model.metadata[key]
    model.set(
        tokenizer__ggml__tokens=tokens,
        tokenizer__ggml__add_bos_token=True,
        tokenizer__ggml__bos_token_id=1,
        tokenizer__ggml__eos_token_id=end,
        tokenizer__ggml__fim_pre_token_id=prefix,
        tokenizer__ggml__fim_suf_token_id=suffix,
        tokenizer__ggml__fim_mid_token_id=middle,
    )


def make_reranker(model):
    """Adds a head of two classes with random weights: scores mean nothing."""
    values = random.Random(42)
    size = model.number("qwen3.embedding_length")
    model.set(qwen3__pooling_type=RANK, qwen3__classifier__output_labels=["yes", "no"])
    model.add_tensor("cls.output.weight", [size, 2], [values.gauss(0, 0.1) for _ in range(2 * size)])


def make_lora(model, rank=2):
    """A random adapter for `model`, strong enough to change what it writes."""
    values = random.Random(42)
    size, inner = model.number("qwen3.embedding_length"), model.number("qwen3.feed_forward_length")
    lora = Gguf()
    lora.set(general__architecture="qwen3", general__type="adapter", adapter__type="lora", adapter__lora__alpha=float(rank))
    for block in range(model.number("qwen3.block_count")):
        name = f"blk.{block}.ffn_down.weight.lora"
        lora.add_tensor(f"{name}_a", [inner, rank], [values.gauss(0, 0.1) for _ in range(inner * rank)])
        lora.add_tensor(f"{name}_b", [rank, size], [values.gauss(0, 0.1) for _ in range(rank * size)])
    return lora


def main(path, folder):
    model = Gguf(path)
    make_stories(model)
    model.write(os.path.join(folder, "stories.gguf"))
    make_lora(model).write(os.path.join(folder, "lora.gguf"))
    make_reranker(model)
    model.write(os.path.join(folder, "reranker.gguf"))


if __name__ == "__main__":
    main(*sys.argv[1:])
