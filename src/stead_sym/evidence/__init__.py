"""Evidence for verdicts: trees of runs, built from the results of an engine and replayed without it.

`tree` is the data structure. `build` constructs it with an engine, and `replay` checks it by the concrete
semantics alone. `moves` counts the alternatives at each step. `data` writes evidence as JSON; `reading` reads
it back, with the `recorded` agents. `outline` numbers the runs for a reader.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
