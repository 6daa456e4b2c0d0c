"""Why a sentence holds, or fails: trees of runs, built from what an engine knows and replayed without it.

`tree` is the data, `build` reads it off an engine, `replay` checks it by the concrete semantics alone,
`moves` says who could have done otherwise at a step, `data` is the JSON of all of it, which
`reading` reads back with the `recorded` agents, `outline` numbers the runs for a reader.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
