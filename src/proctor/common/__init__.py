"""General code that does not depend on evaluation: text that is safe to print, secrets, atomic writes, threads, limits.

Every other package may import it; it imports the standard library only. `registry` is where plug-ins are found by name.
"""
