"""Coordinates on a GPU; without a GPU a fake native grid shows the protocol."""

import contextlib
import math
import pickle
import time

import numpy as np
import pytest

import gridgen
from support import SMALL

CUDA = 2


class OnDevice:
    """The part of a native grid that `DeviceArray` uses, with a record of the requests."""

    ni, nj = 3, 2
    x = np.arange(6.0).reshape(2, 3)
    y = -x

    def __init__(self):
        self.requests = []

    def dlpack(self, axis, stream, max_version):
        self.requests.append((axis, stream, max_version))
        return "capsule"


@pytest.fixture
def native():
    return OnDevice()


@pytest.fixture
def array(native):
    return gridgen.DeviceArray(native, 1, (CUDA, 3))


def test_an_array_on_a_device_is_like_an_array(array):
    assert (array.shape, array.ndim, array.size, len(array)) == ((2, 3), 2, 6, 2)
    assert array.dtype == np.float64
    assert array[1, 2] == -5
    assert array[0].tolist() == [0, -1, -2]
    assert repr(array) == "<gridgen.DeviceArray (2, 3), float64, device (2, 3)>"


def test_an_array_on_a_device_is_pickled_as_its_copy_on_the_host(array):
    copy = pickle.loads(pickle.dumps(array))  # noqa: S301

    assert type(copy) is np.ndarray
    assert copy.tolist() == [[0, -1, -2], [-3, -4, -5]]


@pytest.mark.gpu
def test_a_pickled_grid_is_on_the_host():
    grid = gridgen.make(**SMALL | {"backend": "cuda"})

    read = pickle.loads(pickle.dumps(grid))  # noqa: S301

    assert type(read.x) is np.ndarray
    assert np.array_equal(read.x, np.asarray(grid.x))
    assert read.report == grid.report


@pytest.mark.gpu
def test_factors_stay_on_a_gpu():
    a = 4 * np.eye(100) - np.eye(100, k=1) - np.eye(100, k=-1)
    solver = gridgen.LinearSolver(a, backend="cuda")

    first, second = (solver.solve(np.ones(100)) for _ in range(2))
    both, _ = solver.solve(np.ones((100, 2)), np.stack([first[0], np.zeros(100)], axis=1))

    assert np.allclose(a @ first[0], 1)
    assert first[1]["backend"] != "cpu"
    assert np.array_equal(first[0], second[0])
    assert second[1]["timing"]["factorisation_seconds"] == 0
    assert np.array_equal(both[:, 0], first[0])
    assert np.array_equal(both[:, 1], first[0])


def test_memory_is_exported_without_a_copy(native, array):
    assert array.__dlpack_device__() == (CUDA, 3)
    assert array.__dlpack__() == "capsule"
    assert array.__dlpack__(stream=2, max_version=(1, 0), dl_device=(CUDA, 3), copy=False) == "capsule"
    assert native.requests == [(1, None, None), (1, 2, (1, 0))]


@pytest.mark.parametrize(
    "request_",
    [{"copy": True}, {"dl_device": (CUDA, 0)}, {"dl_device": (1, 0), "copy": False}],
    ids=str,
)
def test_exports_that_are_not_possible_are_refused(native, array, request_):
    with pytest.raises(BufferError):
        array.__dlpack__(**request_)

    assert not native.requests


def test_a_copy_on_the_host_is_exported_on_request(array):
    copied = np.from_dlpack(_OnTheHost(array))

    assert copied.tolist() == (-np.arange(6.0).reshape(2, 3)).tolist()
    assert not np.shares_memory(copied, OnDevice.y)


class _OnTheHost:
    """Requests the memory on the host, like `numpy.from_dlpack(array, device="cpu")` of NumPy 2.1."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**{**options, "dl_device": (1, 0)})


def test_numpy_copies_on_request(array):
    assert np.asarray(array).tolist() == OnDevice.y.tolist()
    assert np.asarray(array, dtype="f4").dtype == np.float32
    assert not np.shares_memory(np.array(array), OnDevice.y)
    assert not np.shares_memory(array.__array__(copy=True), OnDevice.y)
    with pytest.raises(ValueError, match="needs a copy"):
        array.__array__(copy=False)


@pytest.fixture(scope="module")
def on_gpu():
    return gridgen.make(**SMALL | {"backend": "cuda"})


@pytest.mark.gpu
def test_a_grid_of_a_gpu_is_that_of_the_cpu(on_gpu, grid):
    assert isinstance(on_gpu.x, gridgen.DeviceArray)
    assert on_gpu.x.__dlpack_device__()[0] == CUDA
    assert on_gpu.x.shape == grid.x.shape
    assert abs(np.asarray(on_gpu.x) - grid.x).max() < 1e-9
    assert abs(np.asarray(on_gpu.y) - grid.y).max() < 1e-9
    assert on_gpu.quality.folded_cells == 0
    assert on_gpu.skewness.shape == (32, 64)


@pytest.mark.gpu
def test_torch_takes_the_memory_of_the_gpu(on_gpu):
    torch = pytest.importorskip("torch")

    x, again, y = torch.from_dlpack(on_gpu.x), torch.from_dlpack(on_gpu.x), torch.from_dlpack(on_gpu.y)

    assert x.is_cuda
    assert x.dtype == torch.float64
    assert x.data_ptr() == again.data_ptr() != y.data_ptr()
    assert np.array_equal(x.cpu().numpy(), np.asarray(on_gpu.x))
    assert np.array_equal(y.cpu().numpy(), np.asarray(on_gpu.y))


@pytest.mark.gpu
def test_the_memory_lives_as_long_as_the_arrays_made_from_it():
    torch = pytest.importorskip("torch")
    made = gridgen.make(**SMALL | {"backend": "cuda"})
    expected = np.array(made.x)

    x = torch.from_dlpack(made.x)
    del made
    others = [gridgen.make(**SMALL | {"backend": "cuda", "naca": "0012"}) for _ in range(3)]

    assert np.array_equal(x.cpu().numpy(), expected)
    assert all(other.verdict for other in others)


@pytest.mark.gpu
def test_a_grid_keeps_only_its_nodes_on_the_gpu(on_gpu):
    torch = pytest.importorskip("torch")
    torch.from_dlpack(on_gpu.x)
    free = torch.cuda.mem_get_info()[0]

    made = gridgen.make(naca="0012", ni=1025, nj=513, backend="cuda")

    nodes = 2 * 8 * made.x.size
    # Kernels, streams and pinned memory of a device that is opened once more use the rest.
    assert nodes <= free - torch.cuda.mem_get_info()[0] < nodes + (64 << 20)


@pytest.mark.gpu
def test_grids_made_together_equal_grids_made_alone():
    torch = pytest.importorskip("torch")
    cases = [{"naca": f"{camber}4{thickness:02}"} for camber in (1, 2, 4) for thickness in range(8, 22)]
    options = SMALL | {"backend": "cuda"}
    del options["naca"]

    results = list(gridgen.make_many(cases, jobs=40, **options))

    assert [result.error for result in results] == [None] * len(cases)
    for result in results[::10]:
        alone = gridgen.make(result.case, devices=[0], **options)
        assert isinstance(result.grid.x, gridgen.DeviceArray)
        assert np.array_equal(np.asarray(result.grid.x), np.asarray(alone.x))
        assert np.array_equal(torch.from_dlpack(result.grid.y).cpu().numpy(), np.asarray(alone.y))


class Offered:
    """An object that claims to be an array on a GPU."""

    def __dlpack_device__(self):
        return (CUDA, 0)


def test_arrays_of_a_gpu_are_for_grids_on_it(grid):
    reference = gridgen.Reference(grid, backend="cpu")
    moved = reference.unmoved()

    with pytest.raises(gridgen.CaseError, match="a reference on one GPU"):
        reference.move_to(Offered())
    with pytest.raises(gridgen.CaseError, match="not on one GPU"):
        moved.adjoint(Offered())
    with pytest.raises(gridgen.CaseError, match="not on one GPU"):
        moved.device_derivative(reference.wall)
    with pytest.raises(gridgen.CaseError, match="devices names GPUs"):
        gridgen.Reference(grid, backend="cpu", devices=[0, 1])
    with pytest.raises(gridgen.CaseError, match="devices names device 1 twice"):
        gridgen.Reference(grid, devices=[1, 1])


TIGHT = SMALL | {"trailing_edge": "sharp", "tolerance": 1e-12}


@pytest.fixture(scope="module")
def references():
    made = gridgen.make(**TIGHT | {"backend": "cpu"})
    return [gridgen.Reference(made, backend=backend) for backend in ("cpu", "cuda")]


def thicker(wall):
    return wall * [1.0, 1.2] + np.stack([0 * wall[:, 0], 0.02 * wall[:, 0] * (1 - wall[:, 0])], axis=1)


@pytest.mark.gpu
def test_a_grid_moves_and_stays_on_the_gpu(references):
    cpu, gpu = references
    wall = thicker(cpu.wall)
    expected, moved = cpu.move_to(wall), gpu.move_to(wall)

    assert isinstance(moved.x, gridgen.DeviceArray)
    assert abs(np.asarray(moved.x) - expected.x).max() < 1e-9
    assert abs(np.asarray(moved.y) - expected.y).max() < 1e-9
    assert moved.quality.folded_cells == 0
    assert moved.verdict.good
    by = np.stack([np.sin(2 * wall[:, 1]), wall[:, 0] ** 2], axis=1)
    found = moved.derivative(by)
    assert abs(found - expected.derivative(by)).max() < 1e-6
    x, y = moved.device_derivative(by)
    assert np.array_equal(np.stack([x, y], axis=-1), found)
    weights = np.cos(np.arange(found.size)).reshape(found.shape)
    for a, b in zip(moved.adjoint(weights), expected.adjoint(weights), strict=True):
        assert abs(a - b).max() < 1e-6 * abs(b).max()
    assert gpu.unmoved().x.shape == expected.x.shape


@pytest.mark.gpu
def test_tensors_on_the_gpu_are_used_without_a_copy(references, tmp_path):
    torch = pytest.importorskip("torch")
    gpu = references[1]
    wall = torch.tensor(thicker(gpu.wall), device="cuda")
    moved = gpu.move_to(wall)
    shape = (*moved.shape, 2)
    weights = torch.rand(shape, dtype=torch.float64, device="cuda")
    expected, _ = moved.adjoint(weights.cpu().numpy())

    for given in (weights, weights.permute(2, 0, 1).contiguous().permute(1, 2, 0)):
        found, heights = moved.adjoint(given)

        assert abs(found - expected).max() < 1e-9 * abs(expected).max()
        assert heights.shape == (len(wall),)
    for wrong, said in [
        (weights[1:], "of shape"),
        (weights.to(torch.float32), "float64"),
    ]:
        with pytest.raises(gridgen.CaseError, match=said):
            moved.adjoint(wrong)
    moved.write(tmp_path / "moved.vts")
    assert gridgen.read(tmp_path / "moved.vts").x.shape == moved.shape


@pytest.mark.gpu
# The forward mode of torch calls functions that some versions of torch deprecate.
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_torch_differentiates_through_a_movement_on_the_gpu(references):
    torch = pytest.importorskip("torch")
    from gridgen.torch import move

    gpu = references[1]
    wall = torch.tensor(thicker(gpu.wall)[:-1], device="cuda", requires_grad=True)

    def closed(points):
        return move(gpu, torch.cat([points, points[:1]]))

    nodes = closed(wall)
    assert nodes.is_cuda
    assert nodes.dtype == torch.float64
    nodes.square().sum().backward()
    assert wall.grad.is_cuda
    assert torch.autograd.gradcheck(closed, (wall,), eps=1e-6, atol=1e-4, rtol=1e-5, fast_mode=True)
    assert torch.autograd.gradcheck(
        closed, (wall,), eps=1e-6, atol=1e-4, rtol=1e-5, fast_mode=True, check_forward_ad=True
    )
    # Tensors on the host are copied to the GPU and back.
    on_host = wall.detach().cpu().requires_grad_()
    closed(on_host).square().sum().backward()
    assert not on_host.grad.is_cuda
    assert abs(on_host.grad - wall.grad.cpu()).max() < 1e-9 * abs(on_host.grad).max()


@pytest.mark.gpu
def test_a_grid_is_moved_by_two_gpus(references):
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    cpu, _ = references
    made = gridgen.make(**TIGHT | {"backend": "cpu"})
    both = gridgen.Reference(made, devices=[0, 1])
    wall = thicker(cpu.wall)

    moved, expected = both.move_to(wall), cpu.move_to(wall)

    assert abs(moved.x - expected.x).max() < 1e-9
    weights = np.ones((*moved.shape, 2))
    found, by_cpu = moved.adjoint(weights)[0], expected.adjoint(weights)[0]
    assert abs(found - by_cpu).max() < 1e-6 * abs(by_cpu).max()


class Consumer:
    """PyTorch or CuPy, with some 100 ms of work for the GPU."""

    # 256 MiB.
    n = 1 << 25

    def __init__(self, library, **place):
        self.library = library
        self.ones, self.to = (library.ones(self.n, dtype=library.float64, **place) for _ in range(2))
        self.step()
        self.wait()
        began = time.perf_counter()
        for _ in range(10):
            self.step()
        self.wait()
        self.steps = math.ceil(0.1 / ((time.perf_counter() - began) / 10))

    def step(self):
        self.library.sin(self.ones, out=self.to)

    def queue_work(self):
        for _ in range(self.steps):
            self.step()


class Torch(Consumer):
    def __init__(self, library):
        super().__init__(library, device="cuda")

    def wait(self):
        self.library.cuda.synchronize()

    def stream(self):
        return self.library.cuda.stream(self.library.cuda.Stream())

    def host(self, array):
        return array.cpu().numpy()


class Cupy(Consumer):
    def wait(self):
        self.library.cuda.Device().synchronize()

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def host(self, array):
        return self.library.asnumpy(array)


@pytest.fixture(params=[("torch", Torch), ("cupy", Cupy)], ids=lambda param: param[0])
def consumer(request):
    name, kind = request.param
    return kind(pytest.importorskip(name))


# Number of times that memory is freed while its consumer is busy.
ROUNDS = 20


def thicker_by(wall, k):
    return wall * [1.0, 1.0 + 0.01 * k]


def movements(reference):
    return lambda k: reference.move_to(thicker_by(reference.wall, k)).x


def derivatives(reference):
    moved = reference.unmoved()
    wall = reference.wall

    def displaced(k):
        x, _ = moved.device_derivative(np.stack([np.sin(k + wall[:, 1]), wall[:, 0] ** 2], axis=1))
        return x

    return displaced


def grids(_):
    options = SMALL | {"backend": "cuda"}
    return lambda k: gridgen.make(**options | {"naca": f"24{k + 8:02}"}).x


@pytest.mark.gpu
@pytest.mark.parametrize("own_stream", [False, True], ids=["default stream", "own stream"])
@pytest.mark.parametrize("made", [movements, derivatives, grids], ids=["movements", "derivatives", "grids"])
def test_memory_is_used_again_after_its_consumer(references, consumer, made, own_stream):
    make = made(references[1])
    found, expected, waited = [], [], []
    lent = make(0)
    with consumer.stream() if own_stream else contextlib.nullcontext():
        for k in range(ROUNDS):
            expected.append(np.array(lent))
            x = consumer.library.from_dlpack(lent)
            consumer.queue_work()
            y = x * 1.0
            began = time.perf_counter()
            del x, lent
            waited.append(time.perf_counter() - began)
            lent = make(k + 1)  # noqa: F841 - the next round exports it
            found.append(consumer.host(y))

    right = sum(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert right == ROUNDS
    # The host does not wait for the consumer's work, unless a device is closed with its last grid.
    assert made is grids or np.median(waited) < 0.02


@pytest.mark.gpu
@pytest.mark.parametrize("stream", [None, -1, 1, 2])
@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_every_stream_of_the_protocol_is_taken(references, stream, max_version):
    torch = pytest.importorskip("torch")
    moved = references[1].move_to(thicker(references[1].wall))

    x = torch.utils.dlpack.from_dlpack(moved.x.__dlpack__(stream=stream, max_version=max_version))

    assert np.array_equal(x.cpu().numpy(), np.asarray(moved.x))
    for wrong in (0, -2):
        with pytest.raises(BufferError, match="legacy default stream"):
            moved.x.__dlpack__(stream=wrong, max_version=max_version)


@pytest.mark.gpu
@pytest.mark.parametrize("own_stream", [False, True], ids=["default stream", "own stream"])
def test_borrowed_arrays_are_read_after_writes_and_before_reuse(references, consumer, own_stream):
    gpu = references[1]
    library = consumer.library
    moved = gpu.move_to(thicker(gpu.wall))
    shape = (*moved.shape, 2)
    given = np.cos(np.arange(np.prod(shape))).reshape(shape)
    expected = moved.adjoint(given)[0]
    walls = [thicker_by(gpu.wall, k) for k in range(ROUNDS)]
    grids_of = [np.array(gpu.move_to(wall).x) for wall in walls]
    place = {"device": "cuda"} if isinstance(consumer, Torch) else {}
    with consumer.stream() if own_stream else contextlib.nullcontext():
        for k in range(ROUNDS):
            weights, wall = library.asarray(given, **place), library.asarray(walls[k], **place)
            consumer.wait()
            consumer.queue_work()
            weights, wall = weights * (k + 1.0), wall * 1.0
            found = moved.adjoint(weights)[0]
            x = np.array(gpu.move_to(wall).x)
            del weights, wall
            # Reuse the memory of both.
            for like in (given, walls[k]):
                library.full(like.shape, math.nan, **place)

            assert abs(found - (k + 1) * expected).max() < 1e-9 * (k + 1) * abs(expected).max(), k
            assert abs(x - grids_of[k]).max() < 1e-12, k


@pytest.mark.gpu
# The forward mode of torch calls functions that some versions of torch deprecate.
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("own_stream", [False, True], ids=["default stream", "own stream"])
def test_torch_differentiates_while_the_gpu_is_busy(references, own_stream):
    consumer = Torch(pytest.importorskip("torch"))
    torch = consumer.library
    from torch.autograd import forward_ad

    from gridgen.torch import move

    gpu = references[1]
    walls = [thicker_by(gpu.wall, k) for k in range(ROUNDS)]
    along = np.stack([np.sin(gpu.wall[:, 1]), gpu.wall[:, 0] ** 2], axis=1)
    expected = []
    for wall in walls:
        moved = gpu.move_to(wall)
        nodes = np.stack([np.asarray(moved.x), np.asarray(moved.y)], axis=-1)
        expected.append((nodes, moved.derivative(along), moved.adjoint(2 * nodes)[0]))
    found = []
    with consumer.stream() if own_stream else contextlib.nullcontext():
        for wall in walls:
            # The wall is on the host, since copying it from the GPU would wait for the GPU's work.
            given = torch.tensor(wall, requires_grad=True)
            consumer.queue_work()
            nodes = move(gpu, given)
            nodes.square().sum().backward()
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(given.detach(), torch.tensor(along))
                tangent = forward_ad.unpack_dual(move(gpu, dual)).tangent
            found.append([part.detach().numpy() for part in (nodes, tangent, given.grad)])

    for k, (those, these) in enumerate(zip(found, expected, strict=True)):
        for a, b in zip(those, these, strict=True):
            assert abs(a - b).max() <= 1e-9 * abs(b).max(), k
