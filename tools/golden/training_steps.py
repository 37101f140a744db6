#!/usr/bin/env python3
"""Golden training steps for auscult-finetune and auscult-autoencoder, made with PyTorch.

Writes crates/auscult-finetune/testdata/steps.json (fine-tuning of small BEATs, EAT and CED) and
crates/auscult-autoencoder/testdata/autoencoder.json (the DCASE and MIMII autoencoders). Weights and inputs are a pure function of tensor
name and index, so nothing but numbers to compare with is stored. The networks are written here from
their papers' equations, in PyTorch's own modules where it has them.

Run: python tools/golden/training_steps.py     (PyTorch 2.11.0, CPU, float32)
"""
import functools
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
CRATES = Path(__file__).resolve().parents[2] / "crates"
MASK = (1 << 64) - 1


def fnv1a(name):
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = ((key ^ byte) * 0x100000001B3) & MASK
    return key


def uniform(key, index):
    z = (key + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return 2.0 * ((z >> 11) * 2.0**-53) - 1.0


def values(name, shape, offset=None, scale=None):
    """Offsets and scales are those of the golden encoders."""
    last = name.rsplit(".", 1)[-1]
    if scale is None:
        if "norm" in name and last == "weight":
            offset, scale = 1.0, 0.1
        elif last == "weight_g":
            offset, scale = 1.2, 0.12
        elif last == "grep_a":
            offset, scale = 1.0, 0.1
        elif last == "extra_tokens" or name.endswith("relative_attention_bias.weight"):
            offset, scale = 0.0, 0.5
        elif last == "bias":
            offset, scale = 0.0, 0.05
        elif last in ("mean",):
            offset, scale = 0.0, 0.0
        elif last in ("variance",):
            offset, scale = 1.0, 0.0
        else:
            inputs = math.prod(shape[1:]) if len(shape) > 1 else shape[0]
            offset, scale = 0.0, math.sqrt(3.0 / inputs)
    key, count = fnv1a(name), math.prod(shape)
    numbers = [offset + scale * uniform(key, index) for index in range(count)]
    return torch.tensor(numbers, dtype=torch.float64).to(torch.float32).reshape(shape)


# --- the encoders


def norm(p, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"], eps)


def lin(p, name, x):
    return F.linear(x, p[name + ".weight"].reshape(p[name + ".weight"].shape[0], -1), p.get(name + ".bias"))


def bucket(distance, buckets, most):
    half = buckets // 2
    offset = half if distance > 0 else 0
    distance = abs(distance)
    exact = half // 2
    if distance < exact:
        return offset + distance
    steps = torch.log(torch.tensor(distance / exact, dtype=torch.float32)) / math.log(most / exact) * (half - exact)
    return offset + min(exact + int(steps), half - 1)


@functools.lru_cache
def buckets_of(count, buckets, most):
    """The bucket of every query and key; computed once, as a training program would."""
    of_distance = {distance: bucket(distance, buckets, most) for distance in range(1 - count, count)}
    return torch.tensor([[of_distance[key - query] for key in range(count)] for query in range(count)])


class Beats:
    name = "beats"
    width, heads, depth, hidden, rows, columns, patch = 32, 4, 2, 48, 8, 2, 24
    kernel, groups, buckets, most = 8, 4, 32, 24
    eps = 1e-5
    config = dict(
        encoder_layers=2, encoder_embed_dim=32, encoder_ffn_embed_dim=48, encoder_attention_heads=4,
        activation_fn="gelu", layer_norm_first=False, conv_pos=8, conv_pos_groups=4,
        relative_position_embedding=True, num_buckets=32, max_distance=24, gru_rel_pos=True, deep_norm=True,
        input_patch_size=16, embed_dim=24,
    )

    def shapes(self):
        w, h = self.width, self.hidden
        out = {
            "patch_embedding.weight": [self.patch, 1, 16, 16],
            "layer_norm.weight": [self.patch], "layer_norm.bias": [self.patch],
            "post_extract_proj.weight": [w, self.patch], "post_extract_proj.bias": [w],
            "encoder.pos_conv.0.weight_g": [1, 1, self.kernel],
            "encoder.pos_conv.0.weight_v": [w, w // self.groups, self.kernel],
            "encoder.pos_conv.0.bias": [w],
            "encoder.layer_norm.weight": [w], "encoder.layer_norm.bias": [w],
            "encoder.layers.0.self_attn.relative_attention_bias.weight": [self.buckets, self.heads],
        }
        for i in range(self.depth):
            b = f"encoder.layers.{i}."
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                out[b + f"self_attn.{part}.weight"] = [w, w]
                out[b + f"self_attn.{part}.bias"] = [w]
            out[b + "self_attn.grep_linear.weight"] = [8, w // self.heads]
            out[b + "self_attn.grep_linear.bias"] = [8]
            out[b + "self_attn.grep_a"] = [1, self.heads, 1, 1]
            for part in ("self_attn_layer_norm", "final_layer_norm"):
                out[b + part + ".weight"], out[b + part + ".bias"] = [w], [w]
            out[b + "fc1.weight"], out[b + "fc1.bias"] = [h, w], [h]
            out[b + "fc2.weight"], out[b + "fc2.bias"] = [w, h], [w]
        return out

    fixed = ()

    def targets(self, i, target):
        part = {"query": "self_attn.q_proj", "value": "self_attn.v_proj"}[target]
        return f"encoder.layers.{i}.{part}.weight", 0

    def forward(self, p, x):
        clips, count, _ = x.shape
        x = norm(p, "layer_norm", lin(p, "patch_embedding", x), self.eps)
        x = lin(p, "post_extract_proj", x)
        v, g = p["encoder.pos_conv.0.weight_v"], p["encoder.pos_conv.0.weight_g"]
        weight = v * (g / v.pow(2).sum(dim=(0, 1), keepdim=True).sqrt())
        c = F.conv1d(x.transpose(1, 2), weight, p["encoder.pos_conv.0.bias"], padding=self.kernel // 2, groups=self.groups)
        x = x + F.gelu(c[:, :, :count].transpose(1, 2))
        x = norm(p, "encoder.layer_norm", x, self.eps)
        index = buckets_of(count, self.buckets, self.most)
        table = p["encoder.layers.0.self_attn.relative_attention_bias.weight"]
        bias = table[index].permute(2, 0, 1)[None]
        factor = (2 * self.depth) ** 0.25
        head = self.width // self.heads
        for i in range(self.depth):
            b = f"encoder.layers.{i}."
            q, k, val = (
                lin(p, b + f"self_attn.{part}", x).reshape(clips, count, self.heads, head).transpose(1, 2)
                for part in ("q_proj", "k_proj", "v_proj")
            )
            gates = torch.sigmoid(lin(p, b + "self_attn.grep_linear", q).reshape(clips, self.heads, count, 2, 4).sum(-1))
            gate_a, gate_b = gates.chunk(2, dim=-1)
            gate = gate_a * (gate_b * p[b + "self_attn.grep_a"] - 1.0) + 2.0
            scores = q @ k.transpose(2, 3) / math.sqrt(head) + gate * bias
            got = (scores.softmax(-1) @ val).transpose(1, 2).reshape(clips, count, self.width)
            x = norm(p, b + "self_attn_layer_norm", x * factor + lin(p, b + "self_attn.out_proj", got), self.eps)
            h = lin(p, b + "fc2", F.gelu(lin(p, b + "fc1", x)))
            x = norm(p, b + "final_layer_norm", x * factor + h, self.eps)
        return x


class Vision:
    """What EAT and CED share."""

    def block_shapes(self, prefix):
        w, h, out = self.width, self.hidden, {}
        for i in range(self.depth):
            b = f"{prefix}.blocks.{i}."
            for part, shape in (("attn.qkv", [3 * w, w]), ("attn.proj", [w, w]), ("mlp.fc1", [h, w]), ("mlp.fc2", [w, h])):
                out[b + part + ".weight"], out[b + part + ".bias"] = shape, shape[:1]
            for part in ("norm1", "norm2"):
                out[b + part + ".weight"], out[b + part + ".bias"] = [w], [w]
        return out

    def targets(self, i, target):
        return f"{self.prefix}.blocks.{i}.attn.qkv.weight", {"query": 0, "value": 2 * self.width}[target]

    def attention(self, p, b, x):
        clips, count, _ = x.shape
        head = self.width // self.heads
        qkv = lin(p, b + "attn.qkv", x).reshape(clips, count, 3, self.heads, head).permute(2, 0, 3, 1, 4)
        got = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2]).transpose(1, 2).reshape(clips, count, self.width)
        return lin(p, b + "attn.proj", got)

    def mlp(self, p, b, x):
        return lin(p, b + "mlp.fc2", F.gelu(lin(p, b + "mlp.fc1", x)))


class Eat(Vision):
    name, prefix = "eat", "model"
    width, heads, depth, hidden, rows, columns = 32, 4, 2, 48, 8, 2
    eps = 1e-6
    config = dict(num_heads=4)
    fixed = ("model.fixed_positional_encoder.positions",)

    def shapes(self):
        w = self.width
        return {
            "model.local_encoder.proj.weight": [w, 1, 16, 16], "model.local_encoder.proj.bias": [w],
            "model.fixed_positional_encoder.positions": [1, 64, w], "model.extra_tokens": [1, 1, w],
            "model.pre_norm.weight": [w], "model.pre_norm.bias": [w],
            **self.block_shapes("model"),
        }

    def forward(self, p, x):
        x = lin(p, "model.local_encoder.proj", x) + p["model.fixed_positional_encoder.positions"][:, : x.shape[1]]
        x = torch.cat([p["model.extra_tokens"].expand(len(x), -1, -1), x], 1)
        x = norm(p, "model.pre_norm", x, self.eps)
        for i in range(self.depth):
            b = f"model.blocks.{i}."
            x = norm(p, b + "norm1", x + self.attention(p, b, x), self.eps)
            x = norm(p, b + "norm2", x + self.mlp(p, b, x), self.eps)
        return x[:, 1:]


class Ced(Vision):
    name, prefix = "ced", "encoder"
    width, heads, depth, hidden, rows, columns = 64, 1, 2, 96, 4, 3
    eps = 1e-6
    config = None
    fixed = tuple(f"encoder.init_bn.{part}" for part in ("weight", "bias", "running_mean", "running_var"))

    def shapes(self):
        w = self.width
        return {
            **{name: [64] for name in self.fixed},
            "encoder.patch_embed.proj.weight": [w, 1, 16, 16], "encoder.patch_embed.proj.bias": [w],
            "encoder.time_pos_embed": [1, w, 1, 8], "encoder.freq_pos_embed": [1, w, 4, 1],
            "encoder.norm.weight": [w], "encoder.norm.bias": [w],
            **self.block_shapes("encoder"),
        }

    def forward(self, p, x):
        clips, count, _ = x.shape
        x = lin(p, "encoder.patch_embed.proj", x).reshape(clips, self.rows, self.columns, self.width)
        x = x + p["encoder.time_pos_embed"][:, :, :, : self.columns].permute(0, 2, 3, 1)
        x = x + p["encoder.freq_pos_embed"].permute(0, 2, 3, 1)
        x = x.reshape(clips, count, self.width)
        for i in range(self.depth):
            b = f"encoder.blocks.{i}."
            x = x + self.attention(p, b, norm(p, b + "norm1", x, self.eps))
            x = x + self.mlp(p, b, norm(p, b + "norm2", x, self.eps))
        return norm(p, "encoder.norm", x, self.eps)


# --- the head


def head_shapes(width, classes):
    narrow = max(width // 16, 1)
    out = {}
    for name, shape in (("attention.in", [narrow, 3 * width]), ("attention.out", [width, narrow]), ("linear", [width, 2 * width])):
        out[f"head.{name}.weight"], out[f"head.{name}.bias"] = shape, shape[:1]
    for name, size in (("attention.norm", narrow), ("statistics.norm", 2 * width), ("norm", width)):
        for part in ("weight", "bias"):
            out[f"head.{name}.{part}"] = [size]
    out["head.classes"] = [classes, width]
    return out


def batch_norm(p, name, x):
    return F.batch_norm(x, None, None, p[name + ".weight"], p[name + ".bias"], training=True, eps=1e-5)


def pool(p, tokens):
    x = tokens.transpose(1, 2)
    mean = x.mean(2, keepdim=True)
    deviation = (x.pow(2).mean(2, keepdim=True) - mean.pow(2)).clamp(min=1e-4).sqrt()
    context = torch.cat([x, mean.expand_as(x), deviation.expand_as(x)], 1)
    h = F.conv1d(context, p["head.attention.in.weight"][:, :, None], p["head.attention.in.bias"])
    h = batch_norm(p, "head.attention.norm", F.relu(h)).tanh()
    weights = F.conv1d(h, p["head.attention.out.weight"][:, :, None], p["head.attention.out.bias"]).softmax(2)
    mean = (weights * x).sum(2)
    deviation = ((weights * x.pow(2)).sum(2) - mean.pow(2)).clamp(min=1e-4).sqrt()
    pooled = batch_norm(p, "head.statistics.norm", torch.cat([mean, deviation], 1))
    return batch_norm(p, "head.norm", lin(p, "head.linear", pooled))


def arcface(p, pooled, labels, margin=0.5, scale=64.0):
    cosines = F.normalize(pooled) @ F.normalize(p["head.classes"]).T
    own = cosines.gather(1, labels[:, None])
    sine = (1.0 - own.pow(2)).clamp(min=1e-9).sqrt()
    wider = torch.where(
        own > math.cos(math.pi - margin),
        own * math.cos(margin) - sine * math.sin(margin),
        own - margin * math.sin(margin),
    )
    return F.cross_entropy(scale * cosines.scatter(1, labels[:, None], wider), labels)


CLASSES, CLIPS, STEPS, RATE, WARM_UP = 3, 6, 3, 1e-3, 2


def rate_at(step, total=10):
    return RATE * ((step + 1) / WARM_UP if step < WARM_UP else (total - step) / (total - WARM_UP))


def finetune(model, lora):
    shapes = model.shapes()
    weights = {name: values(name, shape) for name, shape in shapes.items()}
    trained = {name: t.clone().requires_grad_() for name, t in weights.items() if not lora and name not in model.fixed}
    rank, alpha = 2, 3.0
    if lora:
        for i in range(model.depth):
            for target in ("query", "value"):
                for part, shape in (("down", [rank, model.width]), ("up", [model.width, rank])):
                    name = f"lora.{i}.{target}.{part}"
                    trained[name] = values(name, shape, 0.0, 0.2).requires_grad_()
    for name, shape in head_shapes(model.width, CLASSES).items():
        trained[name] = values(name, shape).requires_grad_()
    count = model.rows * model.columns
    inputs = values(f"patches.{model.name}", [CLIPS, count, 256], 0.0, 1.5)
    labels = torch.arange(CLIPS) % CLASSES
    optimiser = torch.optim.AdamW(trained.values(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.999), eps=1e-8)
    losses, lengths, first = [], [], {}
    for step in range(STEPS):
        p = {**weights, **trained}
        if lora:
            for i in range(model.depth):
                for target in ("query", "value"):
                    name, row = model.targets(i, target)
                    added = alpha / rank * trained[f"lora.{i}.{target}.up"] @ trained[f"lora.{i}.{target}.down"]
                    p[name] = p[name] + F.pad(added, (0, 0, row, p[name].shape[0] - row - model.width))
        loss = arcface(p, pool(p, model.forward(p, inputs)), labels)
        optimiser.zero_grad()
        loss.backward()
        total = torch.sqrt(sum(t.grad.double().pow(2).sum() for t in trained.values()))
        losses.append(loss.item())
        lengths.append(total.item())
        if step == 0:
            first = {name: t.grad.double().norm().item() for name, t in trained.items()}
        for group in optimiser.param_groups:
            group["lr"] = rate_at(step)
        optimiser.step()
    updated = {}
    for name, t in trained.items():
        flat = t.detach().double().flatten()
        places = sorted({0, len(flat) // 2, len(flat) - 1})
        updated[name] = dict(places=places, values=[flat[at].item() for at in places], sum=flat.sum().item())
    return dict(
        model=model.name, lora=lora, rank=rank, alpha=alpha, config=model.config, rows=model.rows,
        columns=model.columns, width=model.width, hidden=model.hidden, classes=CLASSES, clips=CLIPS,
        learning_rate=RATE, warm_up=WARM_UP, total_steps=10,
        tensors=[dict(name=name, shape=shape) for name, shape in shapes.items()],
        losses=losses, gradient_lengths=lengths, first_gradients=first, updated=updated,
    )


# --- the autoencoders


def autoencoder(form):
    widths = {"dcase": [640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640], "mimii": [320, 64, 64, 8, 64, 64, 320]}[form]
    layers = []
    for at, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        linear = torch.nn.Linear(inputs, outputs)
        linear.weight.data = values(f"{form}.{at}.weight", [outputs, inputs])
        linear.bias.data = values(f"{form}.{at}.bias", [outputs])
        layers.append(linear)
        if at + 2 < len(widths):
            if form == "dcase":
                layers.append(torch.nn.BatchNorm1d(outputs, eps=1e-3, momentum=0.01))
            layers.append(torch.nn.ReLU())
    network = torch.nn.Sequential(*layers)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    losses = []
    for step in range(4):
        batch = values(f"{form}.batch.{step}", [32, widths[0]], -20.0, 10.0)
        loss = F.mse_loss(network(batch), batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    network.eval()
    with torch.no_grad():
        batch = values(f"{form}.batch.9", [8, widths[0]], -20.0, 10.0)
        errors = (network(batch) - batch).double().pow(2).mean(1).tolist()
    return dict(form=form, losses=losses, errors_after=errors)


if __name__ == "__main__":
    made = f"tools/golden/training_steps.py, PyTorch {torch.__version__.split('+')[0]}, CPU, float32"
    cases = [finetune(model(), lora) for model in (Beats, Eat, Ced) for lora in (False, True)]
    (CRATES / "auscult-finetune/testdata/steps.json").write_text(json.dumps(dict(made_by=made, cases=cases), indent=0) + "\n")
    forms = [autoencoder(form) for form in ("dcase", "mimii")]
    (CRATES / "auscult-autoencoder/testdata/autoencoder.json").write_text(json.dumps(dict(made_by=made, forms=forms), indent=1) + "\n")
