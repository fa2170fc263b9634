# SPDX-License-Identifier: Apache-2.0
"""Small networks of families that the packages do not have, in plain
PyTorch."""
import torch
import torch.nn.functional as F
import torchvision
from torch import nn

from registry import model


def double_conv(c, d):
    return nn.Sequential(nn.Conv2d(c, d, 3, padding=1), nn.GroupNorm(4, d),
                         nn.SiLU(), nn.Conv2d(d, d, 3, padding=1),
                         nn.GroupNorm(4, d), nn.SiLU())


class UNet(nn.Module):
    """Diffusion: noise and a time step."""

    def __init__(self, c=16):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, c), nn.SiLU(),
                                  nn.Linear(c, 4 * c))
        self.down1, self.down2 = double_conv(3, c), double_conv(c, 2 * c)
        self.middle = double_conv(2 * c, 4 * c)
        self.attention = nn.MultiheadAttention(4 * c, 4, batch_first=True)
        self.up2 = double_conv(6 * c, 2 * c)
        self.up1 = double_conv(3 * c, c)
        self.last = nn.Conv2d(c, 3, 1)

    def forward(self, x, t):
        angles = t[:, None] * torch.exp(-torch.arange(16, dtype=t.dtype) / 4)
        time = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        a = self.down1(x)
        b = self.down2(F.avg_pool2d(a, 2))
        m = self.middle(F.avg_pool2d(b, 2)) + time[:, :, None, None]
        flat = m.flatten(2).transpose(1, 2)
        m = m + self.attention(flat, flat, flat)[0].transpose(
            1, 2).reshape(m.shape)
        m = self.up2(torch.cat([F.interpolate(m, scale_factor=2.0), b], 1))
        m = self.up1(torch.cat([F.interpolate(
            m, scale_factor=2.0, mode="bilinear"), a], 1))
        return self.last(m)


@model("diffusion", "unet")
def _():
    return UNet(), (torch.randn(1, 3, 32, 32), torch.tensor([7.0]))


@model("super-resolution", "espcn")
def _():
    return nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(),
                         nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
                         nn.Conv2d(32, 9, 3, padding=1),
                         nn.PixelShuffle(3)), (torch.rand(1, 1, 48, 48),)


class Residual(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


@model("super-resolution", "edsr")
def _():
    blocks = [Residual(nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
                                     nn.Conv2d(32, 32, 3, padding=1)))
              for _ in range(4)]
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *blocks,
                         nn.Conv2d(32, 48, 3, padding=1), nn.PixelShuffle(4)), \
        (torch.rand(1, 3, 32, 32),)


class Ctc(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(40, 64, 5, stride=2, padding=2),
                                   nn.BatchNorm1d(64), nn.ReLU())
        self.inner = kind(64, 64, 2, batch_first=True, bidirectional=True)
        self.last = nn.Linear(128, 30)

    def forward(self, x):
        y, _ = self.inner(self.front(x).transpose(1, 2))
        return self.last(y).log_softmax(-1)


for _name, _kind in (("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)):
    @model("speech", "ctc_" + _name)
    def _(kind=_kind):
        return Ctc(kind), (torch.randn(1, 40, 100),)


class Joint(nn.Module):
    """A transducer's encoder, predictor and joint network."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.LSTM(40, 64, batch_first=True)
        self.embedding = nn.Embedding(30, 32)
        self.predictor = nn.LSTM(32, 64, batch_first=True)
        self.joint = nn.Linear(64, 30)

    def forward(self, x, labels):
        e, _ = self.encoder(x)
        p, _ = self.predictor(self.embedding(labels))
        return self.joint(torch.tanh(e[:, :, None] + p[:, None]))


@model("speech", "transducer")
def _():
    return Joint(), (torch.randn(1, 50, 40), torch.randint(0, 30, (1, 6)))


class Vad(nn.Module):
    """Voice activity: a recurrent cell with its state as input and output."""

    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(1, 16, 64, stride=32)
        self.cell = nn.LSTMCell(16, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, x, h, c):
        y = self.front(x[:, None]).relu().mean(-1)
        h, c = self.cell(y, (h, c))
        return torch.sigmoid(self.last(h)), h, c


@model("speech", "vad")
def _():
    return Vad(), (torch.randn(1, 512), torch.randn(1, 32), torch.randn(1, 32))


class Spectral(nn.Module):
    """A vocoder's front: magnitudes, a network, and the waveform."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.net = nn.Conv1d(33, 33, 3, padding=1)

    def forward(self, x):
        s = torch.stft(x, 64, 16, window=self.window, return_complex=True)
        s = torch.view_as_real(s)
        magnitude = (s ** 2).sum(-1).clamp(min=1e-6).sqrt()
        return self.net(magnitude.log())


@model("vocoder", "spectral")
def _():
    return Spectral(), (torch.randn(1, 1024),)


@model("vocoder", "hifigan")
def _():
    layers = [nn.Conv1d(40, 64, 7, padding=3)]
    c = 64
    for up in (8, 4, 2):
        layers += [nn.LeakyReLU(0.1),
                   nn.ConvTranspose1d(c, c // 2, 2 * up, up, up // 2)]
        c //= 2
        layers += [Residual(nn.Sequential(
            nn.LeakyReLU(0.1), nn.Conv1d(c, c, 3, padding=d, dilation=d)))
            for d in (1, 3, 5)]
    return nn.Sequential(*layers, nn.LeakyReLU(0.1), nn.Conv1d(
        c, 1, 7, padding=3), nn.Tanh()), (torch.randn(1, 40, 20),)


@model("vocoder", "wavenet")
def _():
    class Gate(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.a = nn.Conv1d(32, 64, 2, dilation=d)
            self.b = nn.Conv1d(32, 32, 1)
            self.d = d

        def forward(self, x):
            t, s = self.a(F.pad(x, (self.d, 0))).chunk(2, 1)
            return x + self.b(torch.tanh(t) * torch.sigmoid(s))

    return nn.Sequential(nn.Conv1d(1, 32, 1), *[Gate(2 ** i) for i in range(6)],
                         nn.Conv1d(32, 256, 1)), (torch.randn(1, 1, 400),)


class Gcn(nn.Module):
    """Two rounds of messages along edges, summed at their ends."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 32), nn.Linear(32, 8)

    def forward(self, x, edges):
        for layer in (self.a, self.b):
            x = layer(x)
            x = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]) + x
            x = x.relu()
        return x


@model("graph net", "gcn")
def _():
    return Gcn(), (torch.randn(50, 16), torch.randint(0, 50, (2, 200)))


@model("graph net", "gat")
def _():
    class Gat(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.a = nn.Linear(16, 32), nn.Linear(64, 1)

        def forward(self, x, adjacent):
            h = self.w(x)
            n = h.shape[0]
            pairs = torch.cat([h[:, None].expand(n, n, 32),
                               h[None].expand(n, n, 32)], -1)
            e = F.leaky_relu(self.a(pairs)[..., 0], 0.2)
            e = e.masked_fill(adjacent == 0, -1e9)
            return F.elu(e.softmax(-1) @ h)

    return Gat(), (torch.randn(30, 16), (torch.rand(30, 30) < 0.2).long())


@model("recommender", "dlrm")
def _():
    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList(nn.Embedding(100, 16)
                                        for _ in range(5))
            self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(),
                                        nn.Linear(64, 16), nn.ReLU())
            self.top = nn.Sequential(nn.Linear(16 + 15, 64), nn.ReLU(),
                                     nn.Linear(64, 1))

        def forward(self, dense, sparse):
            d = self.bottom(dense)
            v = torch.stack([d] + [t(sparse[:, i])
                                   for i, t in enumerate(self.tables)], 1)
            z = v @ v.transpose(1, 2)
            i, j = torch.tril_indices(6, 6, -1)
            return torch.sigmoid(self.top(torch.cat([d, z[:, i, j]], 1)))

    return Dlrm(), (torch.randn(4, 13), torch.randint(0, 100, (4, 5)))


@model("recommender", "bag")
def _():
    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.items = nn.Embedding(500, 32)
            self.last = nn.Linear(32, 500)

        def forward(self, history):
            return self.last(self.items(history).mean(1)).topk(10)

    return Bag(), (torch.randint(0, 500, (2, 20)),)


@model("tabular", "tabnet_like")
def _():
    return nn.Sequential(nn.BatchNorm1d(20), nn.Linear(20, 64), nn.GLU(),
                         nn.BatchNorm1d(32), nn.Linear(32, 64), nn.GLU(),
                         nn.Linear(32, 3), nn.Softmax(1)), (torch.randn(8, 20),)


@model("classification", "pointnet")
def _():
    class PointNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.points = nn.Sequential(
                nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(),
                nn.Conv1d(32, 128, 1), nn.BatchNorm1d(128), nn.ReLU())
            self.last = nn.Linear(128, 10)

        def forward(self, x):
            return self.last(self.points(x).max(2).values)

    return PointNet(), (torch.randn(1, 3, 200),)


@model("classification", "spatial_transformer")
def _():
    class Stn(nn.Module):
        def __init__(self):
            super().__init__()
            self.find = nn.Sequential(nn.Conv2d(1, 8, 7), nn.MaxPool2d(2),
                                      nn.ReLU(), nn.Flatten(),
                                      nn.Linear(8 * 11 * 11, 6))
            self.net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(),
                                     nn.Flatten(), nn.Linear(8 * 26 * 26, 10))

        def forward(self, x):
            theta = self.find(x).view(-1, 2, 3)
            grid = F.affine_grid(theta, x.shape, align_corners=False)
            return self.net(F.grid_sample(x, grid, align_corners=False))

    return Stn(), (torch.rand(1, 1, 28, 28),)


@model("detection", "head_with_nms")
def _():
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(),
                                     nn.Conv2d(16, 5, 3, 2, 1))

        def forward(self, x):
            y = self.net(x)[0].flatten(1).T
            corner = y[:, :2].sigmoid() * 20
            boxes = torch.cat([corner, corner + 1 + y[:, 2:4].exp()], 1)
            keep = torchvision.ops.nms(boxes, y[:, 4], 0.5)
            return boxes[keep], y[:, 4][keep]

    return Head(), (torch.randn(1, 3, 32, 32),)


@model("detection", "roi_head")
def _():
    class Roi(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Conv2d(3, 16, 3, 2, 1)
            self.last = nn.Linear(16 * 49, 5)

        def forward(self, x, boxes):
            r = torchvision.ops.roi_align(self.net(x), [boxes], 7, 0.5)
            return self.last(r.flatten(1))

    corner = torch.rand(6, 2) * 30
    return Roi(), (torch.randn(1, 3, 64, 64),
                   torch.cat([corner, corner + 10], 1))


@model("detection", "yolo_like")
def _():
    class Yolo(nn.Module):
        def __init__(self):
            super().__init__()

            def block(c, d, s=1):
                return nn.Sequential(nn.Conv2d(c, d, 3, s, 1, bias=False),
                                     nn.BatchNorm2d(d), nn.SiLU())

            self.stem = nn.Sequential(block(3, 16, 2), block(16, 32, 2))
            self.deep = block(32, 64, 2)
            self.join = block(96, 32)
            self.small = nn.Conv2d(32, 3 * 9, 1)
            self.large = nn.Conv2d(64, 3 * 9, 1)

        def decode(self, y, stride):
            b, _, h, w = y.shape
            y = y.view(b, 3, 9, h, w).permute(0, 1, 3, 4, 2).sigmoid()
            gy, gx = torch.meshgrid(torch.arange(h), torch.arange(w),
                                    indexing="ij")
            xy = (y[..., :2] * 2 - 0.5 + torch.stack([gx, gy], -1)) * stride
            wh = (y[..., 2:4] * 2) ** 2 * stride
            return torch.cat([xy, wh, y[..., 4:]], -1).view(b, -1, 9)

        def forward(self, x):
            a = self.stem(x)
            b = self.deep(a)
            a = self.join(torch.cat([a, F.interpolate(
                b, scale_factor=2.0, mode="nearest")], 1))
            return torch.cat([self.decode(self.small(a), 4),
                              self.decode(self.large(b), 8)], 1)

    return Yolo(), (torch.rand(1, 3, 64, 64),)


@model("keypoints", "heatmaps")
def _():
    class Heat(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(
                nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1),
                nn.ReLU(), nn.ConvTranspose2d(32, 17, 4, 2, 1))

        def forward(self, x):
            h = self.net(x).flatten(2)
            best, where = h.max(-1)
            return best, torch.stack([where % 32, where // 32], -1)

    return Heat(), (torch.rand(1, 3, 64, 64),)


@model("optical flow", "correlation")
def _():
    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Conv2d(3, 16, 3, 2, 1)
            self.last = nn.Conv2d(25, 2, 3, padding=1)

        def forward(self, a, b):
            a, b = self.net(a), F.pad(self.net(b), (2, 2, 2, 2))
            h, w = a.shape[-2:]
            cost = [(a * b[..., i:i + h, j:j + w]).mean(1)
                    for i in range(5) for j in range(5)]
            return self.last(torch.stack(cost, 1))

    return Flow(), (torch.rand(1, 3, 32, 32), torch.rand(1, 3, 32, 32))


@model("segmentation", "unet_small")
def _():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = double_conv(3, 16), double_conv(16, 32)
            self.up = nn.ConvTranspose2d(32, 16, 2, 2)
            self.c, self.last = double_conv(32, 16), nn.Conv2d(16, 4, 1)

        def forward(self, x):
            a = self.a(x)
            b = self.b(F.max_pool2d(a, 2))
            y = self.last(self.c(torch.cat([self.up(b), a], 1)))
            return y.argmax(1), y

    return Net(), (torch.rand(1, 3, 64, 64),)


@model("tabular", "kalman")
def _():
    class Kalman(nn.Module):
        """A predictor with a covariance: products, an inverse of 2x2."""

        def forward(self, x, p, z):
            f = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
            x, p = f @ x, f @ p @ f.T + 0.1 * torch.eye(2)
            s = p + torch.eye(2)
            det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
            inverse = torch.stack([torch.stack([s[1, 1], -s[0, 1]]),
                                   torch.stack([-s[1, 0], s[0, 0]])]) / det
            k = p @ inverse
            return x + k @ (z - x), (torch.eye(2) - k) @ p

    return Kalman(), (torch.randn(2, 1), torch.eye(2), torch.randn(2, 1))


@model("speech", "conformer_block")
def _():
    class Block(nn.Module):
        def __init__(self, d=64):
            super().__init__()
            self.ff = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 128),
                                    nn.SiLU(), nn.Linear(128, d))
            self.norm = nn.LayerNorm(d)
            self.attention = nn.MultiheadAttention(d, 4, batch_first=True)
            self.conv = nn.Sequential(
                nn.Conv1d(d, 2 * d, 1), nn.GLU(1),
                nn.Conv1d(d, d, 15, padding=7, groups=d), nn.BatchNorm1d(d),
                nn.SiLU(), nn.Conv1d(d, d, 1))

        def forward(self, x):
            x = x + 0.5 * self.ff(x)
            y = self.norm(x)
            x = x + self.attention(y, y, y)[0]
            return x + self.conv(x.transpose(1, 2)).transpose(1, 2)

    return nn.Sequential(Block(), Block()), (torch.randn(1, 50, 64),)


@model("text encoder", "plain_transformer")
def _():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), \
        (torch.randn(1, 16, 64),)


@model("text encoder-decoder", "torch_transformer")
def _():
    return nn.Transformer(64, 4, 2, 2, 128, batch_first=True), \
        (torch.randn(1, 12, 64), torch.randn(1, 7, 64))
