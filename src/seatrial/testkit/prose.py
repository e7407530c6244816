"""Varied text of any length that never repeats a sentence: what a good model's long answer looks like to a detector."""

# ruff: noqa: SIM905 - lists of words read better as text
from __future__ import annotations

import random
from collections.abc import Iterator

_SUBJECTS = (
    "the harbour master|an old ferry|the night crew|her logbook|a grey heron|the pilot boat|his cousin|the tide table"
    "|a retired welder|the northern pier|our neighbour|the weather station|a young carpenter|the lighthouse|the bakery"
    "|a school class|the salvage team|that narrow bridge|the fish market|a visiting engineer|the second engine"
    "|their compass|a patient clerk|the radio operator|the spring flood|a rusty crane|the surveyor|the island council"
    "|a cargo of oranges|the customs office|my grandmother|the drawbridge|a flock of terns|the ice breaker|the diver"
    "|an unknown sailor|the chandler's shop|a borrowed map|the repair yard|the mayor's speech"
).split("|")
_VERBS = (
    "measured|forgot|repaired|described|borrowed|surprised|followed|painted|counted|delayed|welcomed|sketched|crossed"
    "|explained|outlived|questioned|avoided|replaced|carried|studied|recorded|admired|missed|improved|discovered"
    "|guarded|warned|photographed|ignored|inspected|towed|remembered|sheltered|doubted|praised|weighed|renamed"
    "|blocked|signalled|rebuilt"
).split("|")
_OBJECTS = (
    "the eastern channel|a broken mast|three crates of lemons|the winter schedule|an empty warehouse|the copper bell"
    "|a letter from Vaasa|the deepest berth|two leaking barrels|the wooden staircase|a map of the shoals|the old crane"
    "|every passing yacht|the smell of tar|a box of brass screws|the morning fog|an unpaid invoice|the stone breakwater"
    "|a sleeping dog|the customs seal|a coil of rope|the chapel's roof|four nervous tourists|the fuel gauge"
    "|a promise made in May|the flooded cellar|an argument about wages|the longest queue|a kettle of soup"
    "|the missing anchor|the chart room|a bundle of newspapers|the harvest festival|a frozen padlock|the outer buoy"
    "|a strange cargo|the new ticket office|the empty quay|a jar of honey|the first snow"
).split("|")
_CIRCUMSTANCES = (
    "before sunrise|without a word|in spite of the rain|with unusual care|during the strike|for the third time"
    "|near the railway|after a long silence|on a borrowed bicycle|under a pale moon|against all advice|at half price"
    "|between two storms|while the band played|because nobody else would|in the middle of August|by candle light"
    "|from a safe distance|until the lamp failed|with one hand|beyond the last houses|over breakfast|to general relief"
    "|in less than an hour|despite the fine|along the southern wall|behind closed shutters|as the ferry left"
    "|through thick smoke|with borrowed tools"
).split("|")
_ADJECTIVES = (
    "quiet|careful|late|curious|honest|sudden|modest|stubborn|cheerful|practical|remarkable|cold|generous|simple"
    "|unexpected|useful|slow|bright|difficult|ordinary|gentle|noisy|precise|tired|famous"
).split("|")
_LINKS = (
    "so|although|while|and later|because|even though|until|but in the end|and on the same day|which is why"
).split("|")


def sentences(seed: int | str) -> Iterator[str]:
    """Yield sentences without end, none of them twice; the same seed gives the same ones."""
    random_ = random.Random(seed)  # noqa: S311 - variety, not secrecy
    told: set[str] = set()
    while True:
        sentence = _sentence(random_)
        if sentence not in told:
            told.add(sentence)
            yield sentence


def prose(words: int, seed: int | str = 0) -> str:
    """Write about `words` words in paragraphs of three to seven sentences."""
    random_ = random.Random(f"paragraphs {seed}")  # noqa: S311 - variety, not secrecy
    paragraphs: list[list[str]] = [[]]
    room, written = random_.randint(3, 7), 0
    for sentence in sentences(seed):
        if written >= words:
            break
        if len(paragraphs[-1]) == room:
            paragraphs.append([])
            room = random_.randint(3, 7)
        paragraphs[-1].append(sentence)
        written += len(sentence.split())
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)


def _sentence(random_: random.Random) -> str:
    pick = random_.choice
    clause = f"{pick(_SUBJECTS)} {pick(_VERBS)} {pick(_OBJECTS)}"
    shape = random_.randrange(6)
    if shape == 0:
        text = f"{clause} {pick(_CIRCUMSTANCES)}"
    elif shape == 1:
        text = f"{pick(_CIRCUMSTANCES)}, {clause}"
    elif shape == 2:
        text = f"{clause}, {pick(_LINKS)} {pick(_SUBJECTS)} {pick(_VERBS)} {pick(_OBJECTS)}"
    elif shape == 3:
        text = f"it was a {pick(_ADJECTIVES)} year when {clause}, and {random_.randint(12, 980)} people remember it"
    elif shape == 4:
        text = f"some call it {pick(_ADJECTIVES)}, others {pick(_ADJECTIVES)}, that {clause} {pick(_CIRCUMSTANCES)}"
    else:
        text = f"in {random_.randint(1820, 1999)} {clause} {pick(_CIRCUMSTANCES)}"
    return text[0].upper() + text[1:] + "."
