#!/usr/bin/env python3
"""Checks the sample corpus: numbers, cross-references, counts and the evaluation set."""
import collections, glob, json, os, re, sys
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(os.path.dirname(here), "corpus")
bad, paras, words, files = [], {}, {}, {}
def load(folder, pat):
    for f in sorted(glob.glob(f"{root}/{folder}/*.md")):
        cur, last = None, 0
        for line in open(f):
            m = re.match(pat + r" (.*)", line.rstrip("\n"))
            if m:
                cur = m[1]
                if cur in paras: bad.append(f"twice: {cur}")
                paras[cur] = m[2]; words[cur] = len(m[2].split())
                part, n = cur.lstrip("G").split(".")
                if int(n) != last + 1: bad.append(f"gap before {cur}")
                last = int(n)
                if int(part) != int(os.path.basename(f)[:2]): bad.append(f"wrong file: {cur}")
                files.setdefault(f"{folder}/{os.path.basename(f)}", []).append(cur)
                if len(re.findall(r"[.?!](?= [A-Z]|$)", m[2])) > (4 if folder == "standard" else 6): bad.append(f"long: {cur}")
            elif line.startswith("#"): cur = None
            elif cur: paras[cur] += "\n" + line.rstrip("\n")
            elif line.strip(): bad.append(f"stray line in {f}: {line[:40]}")
load("standard", r"(\d+\.\d+)"); load("guide", r"(G\d+\.\d+)")
refs = collections.defaultdict(list)
for p, t in paras.items():
    for m in re.finditer(r"(?<![\d.,])(\d+\.\d+)(?!\d)(?!,\d)(?! euros)", t):
        refs[p].append(m[1])
        if m[1] not in paras: bad.append(f"{p} refers to missing {m[1]}")
        if m[1] == p: bad.append(f"{p} refers to itself")
std = [p for p in paras if p[0] != "G"]; gui = [p for p in paras if p[0] == "G"]
strict = sum(len(re.findall(r"(?:see|as required by|in accordance with HHS) \d+\.\d+(?: and \d+\.\d+)?", paras[p])) for p in std)
w = [words[p] for p in std]
print(f"standard: {len(files) - len(glob.glob(root + '/guide/*.md'))} parts, {len(std)} paragraphs, {sum(w)} words (mean {sum(w)/len(w):.0f}, min {min(w)}, max {max(w)}), "
      f"{sum(len(refs[p]) for p in std)} cross-references ({strict} in the three fixed forms), {sum('|---' in paras[p] for p in std)} tables")
print(f"guide: {len(glob.glob(root + '/guide/*.md'))} chapters, {len(gui)} paragraphs, {sum(len(refs[p]) for p in gui)} references to the Standard")
for f, ps in files.items():
    if f.startswith("standard") and not 15 <= len(ps) <= 25: bad.append(f"{f}: {len(ps)} paragraphs")
qs = [json.loads(l) for l in open(f"{here}/questions.jsonl")]
if len({q["id"] for q in qs}) != len(qs): bad.append("question ids")
cnt = collections.Counter((q["kind"], q["split"]) for q in qs)
print(f"questions: {len(qs)}", dict(sorted((f"{k}/{s}", n) for (k, s), n in cnt.items())))
print("single by wording:", dict(collections.Counter((q["note"], q["split"]) for q in qs if q["kind"] == "single")))
for q in qs:
    for p in q["paragraphs"]:
        if p not in paras: bad.append(f"{q['id']}: missing {p}")
    text = "\n".join(paras.get(p, "") for p in q["paragraphs"])
    for m in q["must_say"]:
        if m not in text: bad.append(f"{q['id']}: '{m}' not in {q['paragraphs']}")
    for p in q["paragraphs"]:
        if q["kind"] == "single" and any(m not in paras[p] for m in q["must_say"]): bad.append(f"{q['id']} {p}")
    n = len(q["paragraphs"])
    if not {"single": 1 <= n <= 2, "multi": 2 <= n <= 4, "unanswerable": n == 0, "contradiction": n >= 2}[q["kind"]]: bad.append(f"{q['id']}: {n} paragraphs")
    if q["kind"] == "multi" and len({p.split(".")[0] for p in q["paragraphs"]}) < 2: bad.append(f"{q['id']}: one part only")
for l in open(f"{here}/also.jsonl"):
    a = json.loads(l)
    for p in a["also"]:
        if p not in paras: bad.append(f"also {a['id']}: {p}")
if "--refs" in sys.argv:
    for p in paras:
        for r in refs[p]:
            i = paras[p].find(r); s = paras[p][max(0, i - 110): i + 6].replace("\n", " ")
            print(f"{p} -> {r} | {s} || {paras.get(r, '?')[:110]}".replace("\n", " "))
print("problems:", bad or "none"); sys.exit(bool(bad))
