"""Robot files that are broken or mean harm: mutations of the shipped ones, and of random ones.

Everything draws from a ``random.Random``: the harness makes one from a seed for each file, hypothesis hands in its own.
"""

import json
import re
from functools import cache
from pathlib import Path

import yaml
from fuzzing.fragments import COLLECTIONS, EXPRESSIONS, EXTREMES, NUMBERS, SNIPPETS, WORDS
from fuzzing.grammar import Entries, Grammar, known_keys
from hypothesis import strategies as st

from kronbot.description import shipped_robots

TABLE = b"t,x\n0,0\n1,1\n2,0.5\n3,2\n4,0\n"
URDF = b"""<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.1 0 0" rpy="0 0.5 0"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="slide"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="q1" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1" rpy="0 0 1.57"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1" friction="0"/></joint>
  <joint name="q2" type="prismatic"><parent link="upper"/><child link="slide"/><axis xyz="1 2 3"/></joint>
  <joint name="q3" type="continuous"><parent link="slide"/><child link="tool"/><mimic joint="q1"/></joint>
</robot>
"""


@cache
def shipped_texts():
    """The shipped robot files as bytes, by name, and one with the keys that none of them has."""
    paths = {**shipped_robots(), "yielding": Path(__file__).with_name("yielding.yaml")}
    return {name: path.read_bytes() for name, path in paths.items()}


def from_yaml(node):
    """The tree of a composed YAML document."""
    if isinstance(node, yaml.MappingNode):
        return Entries([from_yaml(key), from_yaml(value)] for key, value in node.value)
    if isinstance(node, yaml.SequenceNode):
        return [from_yaml(item) for item in node.value]
    return json.dumps(node.value) if node.style else node.value


@cache
def shipped_trees():
    """The shipped robots as trees, not to be changed."""
    return [from_yaml(yaml.compose(text.decode())) for text in shipped_texts().values()]


def shipped_tree(random):
    """One of the shipped robots, to be changed."""
    return copied(random.choice(shipped_trees()))


def flow(tree):
    """A tree in brackets and braces."""
    if isinstance(tree, Entries):
        return "{" + ", ".join(f"{flow(key)}: {flow(value)}" for key, value in tree) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(flow, tree)) + "]"
    return tree


def block(tree, levels, margin=""):
    """A tree in indented lines for some levels, then in brackets and braces."""
    if not levels or isinstance(tree, str) or not tree:
        return flow(tree)
    inner = margin + "  "
    heads = [(f"{flow(key)}:", value) for key, value in tree] if isinstance(tree, Entries) else [("-", v) for v in tree]
    lines = []
    for head, value in heads:
        deep = levels > 1 and isinstance(value, list) and value
        lines.append(f"{margin}{head}" + (f"\n{block(value, levels - 1, inner)}" if deep else f" {flow(value)}"))
    return "\n".join(lines)


def hostile(random):
    """Something to stand where a value or a key should, as written or in quotes."""
    text = random.choice(random.choice((NUMBERS, EXPRESSIONS, WORDS, COLLECTIONS)))
    return json.dumps(text, ensure_ascii=random.random() < 0.1) if random.random() < 0.3 else text


def holders(tree):
    """Every collection in a tree that is not empty, the root first."""
    found = [tree] if isinstance(tree, list) and tree else []
    for item in tree if isinstance(tree, list) else ():
        found += holders(item[1] if isinstance(tree, Entries) else item)
    return found


def copied(tree):
    """A deep copy."""
    if isinstance(tree, Entries):
        return Entries([copied(key), copied(value)] for key, value in tree)
    return [copied(item) for item in tree] if isinstance(tree, list) else tree


def mutated(random, tree):
    """Change a tree at one place, and return it."""
    found = holders(tree)
    if not found:
        return hostile(random)
    holder = random.choice(found)
    place = random.randrange(len(holder))
    mapping = isinstance(holder, Entries)
    slot, at = (holder[place], 1) if mapping else (holder, place)
    match random.randrange(12):
        case 0:
            del holder[place]
        case 1:
            holder.insert(random.randrange(len(holder) + 1), copied(holder[place]))
        case 2 if mapping:
            holder[place][0] = random.choice((hostile, lambda r: r.choice(known_keys()), misspelt))(random)
        case 3:
            other = random.choice(holders(random.choice(shipped_trees())))
            slot[at] = copied(random.choice(other)[1] if isinstance(other, Entries) else random.choice(other))
        case 4:
            inner = random.choice(found)
            slot[at] = copied(random.choice(inner)[1] if isinstance(inner, Entries) else random.choice(inner))
        case 5:
            slot[at] = random.choice(([slot[at]], Entries([["a", slot[at]]]), [], Entries(), "", "0", "x"))
        case 6:
            holder[:] = [copied(entry) for entry in holder for _ in range(random.choice((2, 3, 20)))][:400]
        case 7:
            for _ in range(random.randrange(9)):
                change_scalar(random, tree, EXTREMES)
        case 8:
            holder.append([random.choice(known_keys()), hostile(random)] if mapping else hostile(random))
        case 9:
            random.shuffle(holder)
        case _:
            change_scalar(random, tree)
    return tree


def change_scalar(random, tree, values=()):
    """Put one of the values, or a hostile or odd one, in the place of one scalar."""
    places = [(holder, i) for holder in holders(tree) for i in range(len(holder))]
    slots = [(holder[i], 1) if isinstance(holder, Entries) else (holder, i) for holder, i in places]
    scalars = [(slot, at) for slot, at in slots if isinstance(slot[at], str)]
    if scalars:
        slot, at = random.choice(scalars)
        odd = random.choice(("-", "0*", "1e9*", "1e-9*", "2+")) + slot[at]
        slot[at] = random.choice(values or (hostile(random), hostile(random), odd, random.choice(EXTREMES)))


def misspelt(random):
    """A key of the format with a letter too many, too few, or from another alphabet."""
    key = random.choice(known_keys())
    place = random.randrange(len(key))
    return key[:place] + random.choice(("", "x", key[place].upper(), "\u0430", "\u200b", " ")) + key[place + 1 :]


def spliced(random, text):
    """Change lines of a text: leave out, repeat, exchange, indent, take from another robot."""
    lines = text.splitlines(keepends=True) or [b""]
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            del lines[at : at + random.choice((1, 1, 2, 5))]
        case 1:
            lines[at:at] = lines[at : at + random.choice((1, 3, 9))] * random.choice((1, 2, 30))
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = random.choice((b" ", b"  ", b"\t", b"- ")) + lines[at]
        case 4:
            lines[at] = lines[at].lstrip()
        case _:
            donor = random.choice(list(shipped_texts().values())).splitlines(keepends=True)
            start = random.randrange(len(donor))
            lines[at : at + random.choice((0, 1, 3))] = donor[start : start + random.choice((1, 3, 10))]
    return b"".join(lines)


def damaged(random, text):
    """Change bytes of a text: flip a bit, insert, cut out, cut off, repeat."""
    at = random.randrange(len(text) + 1)
    end = at + random.choice((1, 1, 2, 8, 100))
    match random.randrange(6):
        case 0 if at < len(text):
            return text[:at] + bytes([text[at] ^ 1 << random.randrange(8)]) + text[at + 1 :]
        case 1:
            return text[:at] + random.choice(SNIPPETS) + text[at:]
        case 2:
            return text[:at] + text[end:]
        case 3:
            return text[:at]
        case 4:
            return text[:end] + text[at:end] * random.choice((1, 2, 50)) + text[end:]
        case _:
            return text[:at] + bytes(random.randrange(256) for _ in range(random.choice((1, 4)))) + text[at + 1 :]


def robot_file(random):
    """The content of a robot file, most likely broken."""
    kind = random.random()
    if kind < 0.2:
        text = random.choice(list(shipped_texts().values()))
    else:
        tree = Grammar(random).robot() if kind < 0.5 else shipped_tree(random)
        for _ in range(random.choice((0, 1, 1, 2, 4)) if kind < 0.5 else random.choice((1, 1, 1, 2, 4))):
            tree = mutated(random, tree)
        text = block(tree, random.choice((0, 1, 3, 3, 5))).encode("utf-8", "surrogatepass") + b"\n"
    for change, share in ((spliced, 0.2), (damaged, 0.15)):
        if kind < 0.2 and random.random() < 0.6 or random.random() < share:
            text = change(random, text)
    return text


def odd_robot_file(random):
    """The content of a file that most likely describes a robot, with a few numbers that none would have."""
    tree = Grammar(random).robot() if random.random() < 0.5 else shipped_tree(random)
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        change_scalar(random, tree, EXTREMES)
    return block(tree, 3).encode() + b"\n"


def urdf_file(random):
    """The content of a URDF file, most likely broken."""
    text = URDF
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        values = list(re.finditer(rb'"[^"]*"', text))
        if values:
            place = random.choice(values)
            other = random.choice((hostile(random).encode("utf-8", "surrogatepass"), random.choice(values)[0][1:-1]))
            text = text[: place.start() + 1] + other + text[place.end() - 1 :]
    for change, share in ((spliced, 0.5), (damaged, 0.3)):
        if random.random() < share:
            text = change(random, text)
    return text


def table(random):
    """The content of a table, sometimes broken."""
    return damaged(random, TABLE) if random.random() < 0.2 else TABLE


def robot_files():
    """As ``robot_file``, drawn by hypothesis."""
    return st.randoms(use_true_random=False).map(robot_file)


@st.composite
def files_with_any_text(draw):
    """A robot file that is right but for one scalar or key, which holds any text in quotes."""
    random = draw(st.randoms(use_true_random=False))
    tree = shipped_tree(random)
    holder = random.choice(holders(tree))
    slot, at = (random.choice(holder), random.randrange(2)) if isinstance(holder, Entries) else (holder, 0)
    slot[at] = json.dumps(draw(st.text(max_size=40)), ensure_ascii=draw(st.booleans()))
    return block(tree, 3).encode("utf-8", "surrogatepass")
