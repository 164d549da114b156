"""An evaluation that takes seconds: few tiny clips, few epochs."""

TINY = [
    "clip.size=32",
    "clip.frames=8",
    "recognizer.fit={epochs: 2, rounds: 1}",
    "attack.fit={epochs: 2, rounds: 1}",
    "attack.finetune={epochs: 1, rounds: 1}",
    "attackers=[attribute/frame/scratch, attribute/frame/raw, frame/frame/scratch]",
]
DATA = "stage:train=20,val=20,test=20"
