"""Measures other people's search on the vectors and texts that weft-bench has written.

    python measure.py FOLDER

FOLDER holds `shape.json` (count, dimension, questions, nearest), `vectors.f32`, `questions.f32`,
`nearest.u64` (for each question the ids of its exact nearest, counted from one), `pieces.jsonl` and
`questions.jsonl`. Each line printed is one JSON object: a measurement, or why there is none.
"""

import importlib
import json
import os
import re
import shutil
import sys
import time

MEASURED = []


def measured(package):
    """Registers a measurement that needs a package; without it, a sentence stands in its place."""

    def register(function):
        MEASURED.append((package, function))
        return function

    return register


class World:
    def __init__(self, folder):
        import numpy

        self.folder = folder
        shape = json.load(open(os.path.join(folder, "shape.json")))
        self.dimension, self.nearest = shape["dimension"], shape["nearest"]
        floats = lambda name: numpy.fromfile(os.path.join(folder, name), "<f4").reshape(-1, self.dimension)
        self.vectors, self.questions = floats("vectors.f32"), floats("questions.f32")
        ids = numpy.fromfile(os.path.join(folder, "nearest.u64"), "<u8").reshape(-1, self.nearest)
        self.exact = [set(int(one) for one in row) for row in ids]
        lines = lambda name: [json.loads(line) for line in open(os.path.join(folder, name), encoding="utf-8")]
        self.pieces, self.asked = lines("pieces.jsonl"), lines("questions.jsonl")

    def room(self, name):
        """An empty folder of one's own."""
        path = os.path.join(self.folder, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    def vector_search(self, name, build_s, search):
        """`search` takes a vector and gives ids counted from one."""
        for question in self.questions[:20]:
            search(question)
        times, found = [], 0
        for question, exact in zip(self.questions, self.exact):
            begun = time.perf_counter()
            ids = search(question)
            times.append((time.perf_counter() - begun) * 1e3)
            found += len(exact.intersection(int(one) for one in ids))
        recall = found / (len(self.exact) * self.nearest)
        tell(name=name, kind="vectors", build_s=build_s, recall=recall, **spread(times))

    def text_search(self, name, build_s, search, kind="words"):
        """`search` takes the number of a question."""
        for number in range(min(20, len(self.asked))):
            search(number)
        times = []
        for number in range(len(self.asked)):
            begun = time.perf_counter()
            search(number)
            times.append((time.perf_counter() - begun) * 1e3)
        tell(name=name, kind=kind, build_s=build_s, **spread(times))


def spread(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))]
    return {"p50_ms": at(0.5), "p99_ms": at(0.99)}


def tell(**line):
    print(json.dumps(line), flush=True)


def version(module):
    """What was measured: the package with its version."""
    from importlib import metadata

    try:
        return f"{module} {metadata.version(module)}"
    except metadata.PackageNotFoundError:
        return module


@measured("usearch")
def usearch(world):
    from usearch.index import Index
    import numpy

    begun = time.perf_counter()
    index = Index(ndim=world.dimension, metric="ip", dtype="f16")
    index.add(numpy.arange(1, len(world.vectors) + 1), world.vectors)
    build_s = time.perf_counter() - begun
    for effort in (64, 512):
        index.expansion_search = effort
        name = f"{version('usearch')}, HNSW, effort {effort}"
        world.vector_search(name, build_s, lambda question: index.search(question, world.nearest).keys)


@measured("hnswlib")
def hnswlib(world):
    import hnswlib
    import numpy

    begun = time.perf_counter()
    index = hnswlib.Index(space="ip", dim=world.dimension)
    index.init_index(max_elements=len(world.vectors), M=16, ef_construction=200)
    index.add_items(world.vectors, numpy.arange(1, len(world.vectors) + 1))
    build_s = time.perf_counter() - begun
    for effort in (64, 512):
        index.set_ef(effort)
        name = f"{version('hnswlib')}, HNSW, effort {effort}"
        world.vector_search(name, build_s, lambda question: index.knn_query(question, world.nearest)[0][0])


@measured("faiss")
def faiss(world):
    import faiss

    begun = time.perf_counter()
    index = faiss.IndexFlatIP(world.dimension)
    index.add(world.vectors)
    build_s = time.perf_counter() - begun
    search = lambda question: index.search(question.reshape(1, -1), world.nearest)[1][0] + 1
    world.vector_search(f"{version('faiss-cpu')}, flat", build_s, search)
    begun = time.perf_counter()
    index = faiss.IndexHNSWFlat(world.dimension, 16, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 200
    index.add(world.vectors)
    build_s = time.perf_counter() - begun
    for effort in (64, 512):
        index.hnsw.efSearch = effort
        world.vector_search(f"{version('faiss-cpu')}, HNSW, effort {effort}", build_s, search)


@measured("sqlite_vec")
def sqlite_vec(world):
    # Not every Python's own SQLite can load extensions.
    try:
        import pysqlite3 as sqlite3
    except ImportError:
        import sqlite3
    import sqlite_vec

    database = sqlite3.connect(os.path.join(world.room("sqlite-vec"), "vectors.db"))
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    begun = time.perf_counter()
    database.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(embedding float[{world.dimension}])")
    rows = ((number, vector.tobytes()) for number, vector in enumerate(world.vectors, 1))
    database.executemany("INSERT INTO vectors (rowid, embedding) VALUES (?, ?)", rows)
    database.commit()
    build_s = time.perf_counter() - begun
    query = "SELECT rowid FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance"
    search = lambda question: [row[0] for row in database.execute(query, (question.tobytes(), world.nearest))]
    world.vector_search(f"{version('sqlite-vec')}", build_s, search)


@measured("lancedb")
def lancedb(world):
    import lancedb
    import pyarrow

    begun = time.perf_counter()
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(world.vectors.reshape(-1)), world.dimension)
    ids = pyarrow.array(range(1, len(world.vectors) + 1))
    table = lancedb.connect(world.room("lancedb")).create_table("vectors", pyarrow.table({"id": ids, "vector": vectors}))
    build_s = time.perf_counter() - begun
    find = lambda question: table.search(question).distance_type("dot").limit(world.nearest).to_arrow()["id"].to_pylist()
    world.vector_search(f"{version('lancedb')}, flat", build_s, find)


@measured("tantivy")
def words_and_vectors(world):
    import tantivy

    begun = time.perf_counter()
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", stored=True)
    builder.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=world.room("tantivy"))
    writer = index.writer(heap_size=160_000_000, num_threads=1)
    for number, piece in enumerate(world.pieces, 1):
        writer.add_document(tantivy.Document(id=number, text=piece))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    build_s = time.perf_counter() - begun
    searcher = index.searcher()
    asked = [" ".join(re.findall(r"\w+", question)) for question in world.asked]

    def words(number):
        found = searcher.search(index.parse_query(asked[number], ["text"]), 200)
        return [(searcher.doc(address)["id"][0], score) for score, address in found.hits]

    world.text_search(f"{version('tantivy')} from Python", build_s, words)
    try:
        from usearch.index import Index
    except ImportError:
        return
    import numpy

    begun = time.perf_counter()
    vectors = Index(ndim=world.dimension, metric="ip", dtype="f16")
    vectors.add(numpy.arange(1, len(world.vectors) + 1), world.vectors)
    build_s += time.perf_counter() - begun

    def both(number):
        scores = {}
        found = words(number)
        most = max((score for _, score in found), default=1)
        for one, score in found:
            scores[one] = score / most
        near = vectors.search(world.questions[number % len(world.questions)], 200)
        for one, distance in zip(near.keys, near.distances):
            scores[int(one)] = scores.get(int(one), 0) + 0.4 * (1 - float(distance))
        return sorted(scores, key=scores.get, reverse=True)[: world.nearest]

    world.text_search("tantivy and usearch from Python, added", build_s, both, kind="both")


def main():
    try:
        world = World(sys.argv[1])
    except ImportError as error:
        return tell(name="vector databases", absent=f"numpy is not installed ({error})")
    for package, measure in MEASURED:
        try:
            importlib.import_module(package)
        except Exception as error:
            tell(name=package, absent=f"it could not be loaded: {error}")
            continue
        try:
            measure(world)
        except Exception as error:
            tell(name=package, absent=f"it failed: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
